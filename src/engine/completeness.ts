import type { FederatedPlan, PlannedEndpoint, QueryPlan } from "../plan/query-plan.ts";
import type { Remark, Remarks } from "../results/remark.ts";
import type { SourceReport } from "./reports.ts";
import type { ExecutionBounds } from "./execution-bounds.ts";

/**
 * Relation of a partial answer to the true one: "subset", all its rows are in the true answer; "uncertain", some may not be,
 * as something is missing on the right of MINUS or OPTIONAL, in NOT EXISTS, under an aggregate or the like.
 */
export type PartialKind = "subset" | "uncertain";

/** Contributions of a run's endpoints. */
export type Contributions = Pick<ExecutionBounds, "sources" | "partial">;

/** Kind of a partial answer; undefined when no source lacks anything. */
export function partialKind(plan: QueryPlan, { sources, partial }: Contributions): PartialKind | undefined {
  let kind: PartialKind | undefined;
  for (const source of sources.values()) {
    if (!lacksRows(source)) continue;
    // Where only rows that are certain were asked for, the engine has given no others.
    if (partial !== "subset" && mayAddRows(plan, source)) return "uncertain";
    kind = "subset";
  }
  return kind;
}

/** Ways in which an answer that is known to the endpoint as a whole comes in part. */
const rowLimits: ReadonlySet<SourceReport["reason"]> = new Set([
  "virtuoso-maxrows",
  "row-cap",
  "row-cap-unknown",
  "next-page",
]);

const lacking: ReadonlySet<SourceReport["status"]> = new Set(["partial", "failed", "timeout", "skipped"]);

/** The endpoint's contribution is missing or incomplete; a silenced failure is what the query asked for. */
export function lacksRows({ status }: Pick<SourceReport, "status">): boolean {
  return lacking.has(status);
}

/** True if rows missing at a source can add rows to the answer of its plan. */
function mayAddRows(
  plan: QueryPlan,
  { endpoint, status, reason }: Pick<SourceReport, "endpoint" | "status" | "reason">,
): boolean {
  if (plan.kind === "rejected") return false;
  // What an endpoint cut at its row limit had been evaluated over all of its data.
  const isHalfSeen = status === "partial" && !rowLimits.has(reason);
  if (plan.kind === "direct") return isHalfSeen && plan.nonMonotone === true;
  const { over, clauses, members } = plan;
  const isSource = ({ id, url, over: merged }: PlannedEndpoint): boolean =>
    (id ?? url) === endpoint || merged?.members.some(isSource) === true;
  // An engine that evaluates the whole plan.
  const hasBoundTarget = clauses.some(({ targetVariable }) => targetVariable !== undefined);
  if (!hasBoundTarget && !members.some((member) => isSource(member.endpoint))) return isHalfSeen && !isMonotoneIn(plan);
  if (over?.nonMonotone && over.members.some(isSource)) return true;
  return clauses.some(
    ({ endpoint: asked, targetVariable, nonMonotone: how }) =>
      // Where data name the endpoints, it may be any.
      (targetVariable !== undefined || isSource(asked)) && (how === "place" || (how === "body" && isHalfSeen)),
  );
}

/** True if an endpoint without rows can add rows to the answer of a plan. */
export const canAddRows = (plan: QueryPlan, endpoint: string): boolean =>
  mayAddRows(plan, { endpoint, status: "failed" });

/** True if a missing part at any endpoint of a plan can only lose rows. */
const isMonotoneIn = ({ clauses, over }: Pick<FederatedPlan, "clauses" | "over">): boolean =>
  over?.nonMonotone === undefined && clauses.every(({ nonMonotone }) => nonMonotone === undefined);

/** The remark on an answer, by what is known now; undefined where nothing is missing. */
function remarkOf(plan: QueryPlan, bounds: Contributions): Remark | undefined {
  const partial = partialKind(plan, bounds);
  if (partial === undefined) return undefined;
  const sources = [...bounds.sources.values()].filter(lacksRows);
  return { partial, sources: sources.map(({ endpoint, status, reason }) => ({ endpoint, status, reason })) };
}

/** Remarks on documents of a plan's answer; by default the head leaves now, with the facts known now. */
export function remarksOn(plan: QueryPlan, bounds: Contributions, headHasLeft?: () => boolean): Remarks {
  const isTold = partialKind(plan, bounds) !== undefined;
  return { known: () => remarkOf(plan, bounds), isTold: () => (headHasLeft ? !headHasLeft() : isTold) };
}
