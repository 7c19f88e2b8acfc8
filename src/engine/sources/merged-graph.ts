import type * as RDF from "@rdfjs/types";
import type { PlannedEndpoint, MergedMembers } from "../../plan/query-plan.ts";
import type { Bindings } from "../../results/model.ts";
import { termToText } from "../../results/terms.ts";
import type { KeyBlock, BlockSizes } from "../clause-query.ts";
import { type HeldBytes, keyBytes } from "../held-bytes.ts";
import { interleave } from "../interleave.ts";
import { type TriplePattern, variablesOf } from "./triple-pattern.ts";
import type { MatchEstimate, OpenPatternSource } from "./pattern-source.ts";
import type { ClauseExecutor } from "../clause-executor.ts";
import type { ExecutionBounds } from "../federation-engine.ts";
import { sourceReport } from "../executor.ts";
import { createMatchedMember } from "./matched-member.ts";
import { createSparqlMember } from "./sparql-member.ts";

/** The RDF merge of the members' default graphs (RDF 1.1 Semantics, section 4.1) within one execution. */
export interface MergedGraph {
  /**
   * The set of solutions of a pattern, compatible with one of the keys when given: a triple that several members have
   * counts once. Keys bind some of the pattern's variables, blank nodes to labels of this execution.
   */
  solutions(pattern: TriplePattern, keys?: KeyBlock): AsyncIterable<Bindings>;
  /** Those of the nodes that are subject or object of a triple, each once. */
  nodes(among: readonly RDF.Term[]): AsyncIterable<RDF.Term>;
  /** How many triples match; undefined when one member cannot tell. */
  estimate(pattern: TriplePattern): Promise<number | undefined>;
}

// All members of usual federations are asked at once; of larger ones as many.
const MEMBERS_AT_ONCE = 24;

/** What members are merged with. */
interface MergeOptions {
  /** Tells of a member that has failed and is not asked again. */
  readonly isOut: (endpoint: PlannedEndpoint) => boolean;
  /** Of the evaluation. */
  readonly held: HeldBytes;
}

/** Merges members. */
function createMergedGraph(members: readonly Member[], { isOut, held }: MergeOptions): MergedGraph {
  async function* asked<T>(ask: (member: Member) => AsyncIterable<T>): AsyncIterable<AsyncIterable<T>> {
    for (const member of members) if (!isOut(member.endpoint)) yield ask(member);
  }

  async function* solutions(pattern: TriplePattern, keys?: KeyBlock): AsyncIterable<Bindings> {
    const names = variablesOf(pattern);
    const seen = new Set<string>();
    const holding = held.open();
    const all = interleave(
      asked((member) => member.solutions(pattern, keys)),
      MEMBERS_AT_ONCE,
    );
    try {
      for await (const row of all) {
        const key = names.map((name) => termText(row.get(name))).join(" ");
        if (seen.has(key)) continue;
        holding.add(keyBytes(key));
        seen.add(key);
        yield row;
      }
    } finally {
      holding.release();
    }
  }

  async function* nodes(among: readonly RDF.Term[]): AsyncIterable<RDF.Term> {
    const seen = new Set<string>();
    const all = interleave(
      asked((member) => member.nodes(among)),
      MEMBERS_AT_ONCE,
    );
    for await (const node of all) {
      const key = termToText(node);
      if (!seen.has(key)) yield node;
      seen.add(key);
    }
  }

  return {
    solutions,
    nodes,
    async estimate(pattern) {
      const estimates = await Promise.all(members.map((member) => member.estimate(pattern)));
      const known = estimates.flatMap((estimate) => estimate?.triples ?? []);
      return known.length < members.length ? undefined : known.reduce((sum, triples) => sum + triples, 0);
    },
  };
}

const termText = (term: RDF.Term | undefined): string => (term ? termToText(term) : "");

/**
 * One member of a merged graph within one execution. A blank node of a member has one label wherever it is met in the
 * execution, and no label of another member.
 */
export interface Member {
  readonly endpoint: PlannedEndpoint;
  /** Solutions of a pattern that are compatible with one of the keys; the same solution may come more than once. */
  solutions(pattern: TriplePattern, keys: KeyBlock | undefined): AsyncIterable<Bindings>;
  /** Those of the nodes that are subject or object of a triple. */
  nodes(among: readonly RDF.Term[]): AsyncIterable<RDF.Term>;
  /** Undefined when it cannot be told without asking for the solutions. */
  estimate(pattern: TriplePattern): Promise<MatchEstimate | undefined>;
}

/** What the whole query asks of its patterns. */
export interface QueryNeeds {
  /**
   * Variables that are compared, joined or told apart: their blank nodes need one label in all answers. Those of the others
   * may have a new label in each answer.
   */
  readonly identified: (variable: string) => boolean;
  /** Every pattern that the execution may ask for, keys aside. */
  readonly patterns: readonly TriplePattern[];
}

/** What the members of one execution are opened with. */
interface OpenGraphOptions {
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
