import type { MergedMembers, PlannedEndpoint } from "../../plan/query-plan.ts";
import type { BlockSizes } from "../block-sizes.ts";
import type { ClauseExecutor } from "../clause-executor.ts";
import type { ExecutionBounds } from "../federation-engine.ts";
import type { HeldBytes } from "../held-bytes.ts";
import { sourceReport } from "../executor.ts";
import { createMatchedMember } from "./matched-member.ts";
import type { Member, QueryNeeds } from "./member.ts";
import { createMergedGraph, type MergedGraph } from "./merged-graph.ts";
import type { OpenPatternSource } from "./pattern-source.ts";
import { createSparqlMember } from "./sparql-member.ts";

/** What the members of one execution are opened with. */
export interface OpenGraphOptions {
  readonly executor: ClauseExecutor;
  readonly bounds: ExecutionBounds;
  readonly needs: QueryNeeds;
  readonly sizes: BlockSizes;
  readonly openSource: OpenPatternSource;
  /** Counts a triple taken in from a member that does not speak SPARQL; throws when there are too many. */
  readonly count: () => void;
  /** Of the evaluation. */
  readonly held: HeldBytes;
  /** Monotonic clock, milliseconds. */
  readonly now: () => number;
}

/** The merged graph of an execution's members. */
export function openGraph({ members }: MergedMembers, options: OpenGraphOptions): MergedGraph {
  const { bounds } = options;
  const opened = members.map((endpoint, index) => openMember(endpoint, { ...options, prefix: `m${index}_` }));
  // Only with `partial` does an execution outlive the failure of a member.
  const isOut = ({ id, url }: PlannedEndpoint): boolean => bounds.sources.get(id ?? url)?.status === "failed";
  return createMergedGraph(opened, { isOut, held: options.held });
}

interface MemberOptions extends OpenGraphOptions {
  readonly prefix: string;
}

function openMember(endpoint: PlannedEndpoint, options: MemberOptions): Member {
  if (endpoint.interface === undefined) return createSparqlMember({ endpoint, ...options });
  const { bounds, openSource } = options;
  const report = sourceReport(bounds.sources, endpoint.id ?? endpoint.url);
  const { signal, deadlineMs, trace } = bounds;
  const source = openSource(endpoint, { signal, deadlineMs, report, owner: { endpoint: endpoint.id, trace } });
  return createMatchedMember({ ...options, endpoint, source, report });
}
