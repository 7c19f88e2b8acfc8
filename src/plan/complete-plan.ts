import { nonMonotoneParts } from "../sparql/patterns.ts";
import type { MadePlan } from "./build-plan.ts";
import { withinCapabilities } from "./capability-split.ts";
import { type Draft, madeIn } from "./decide-plan.ts";
import { partNotes } from "./half-answers.ts";
import type { ClauseEstimate, PlanContext, PlanRequest } from "./plan-request.ts";
import { type FederatedClause, type FederatedPlan, type PlanNote, usedIds } from "./query-plan.ts";
import { allExclusions } from "./source-selection.ts";
import { doubtfulPatterns, refuseWrongCalls } from "./unknown-functions.ts";

// The passes behind the cut.

type Plan = MadePlan["plan"];

const withPlan = (draft: Draft, plan: Plan): Draft => ({ ...draft, made: { ...madeIn(draft), plan } });

function noted(draft: Draft, { before = [], after = [] }: Partial<Record<"before" | "after", readonly PlanNote[]>>) {
  const { plan } = madeIn(draft);
  const isSame = before.length + after.length === 0;
  return isSame ? draft : withPlan(draft, { ...plan, notes: [...before, ...plan.notes, ...after] });
}

/** A federated plan, completed. */
function federated(draft: Draft, complete: (plan: FederatedPlan, made: MadePlan) => Plan): Draft {
  const made = madeIn(draft);
  return made.plan.kind === "federated" ? withPlan(draft, complete(made.plan, made)) : draft;
}

/** Notes on members that are unknown or down, and on what another engine's answer would lack. */
export const withWholeNotes = (draft: Draft): Draft =>
  withPlan(draft, withPlanNotes(madeIn(draft).plan, draft.task.request, draft.task.context));

export const withPartNotes = (draft: Draft): Draft =>
  noted(draft, { after: partNotes(draft.asked.query, draft.asked.targets, draft.task) });

export const withAbilities = (draft: Draft): Draft =>
  withPlan(draft, withinCapabilities(madeIn(draft), draft.task.context));

/** Notes on the query as it was read and sent come first. */
export const withHeadNotes = (draft: Draft): Draft => noted(draft, { before: draft.headNotes ?? [] });

export const withDoubts = (draft: Draft): Draft => noted(draft, { before: doubtfulPatterns(madeIn(draft)) });

/** @throws FedwayError `EVALUATION_TOO_LARGE`, `FUNCTION_UNKNOWN`, `PATTERN_INVALID` */
export function refuseEvaluation(draft: Draft): Draft {
  const { plan, bodies, tree } = madeIn(draft);
  if (plan.kind !== "federated") return draft;
  draft.read.refuseLargeEvaluation();
  refuseWrongCalls(plan.clauses, bodies, tree?.());
  return draft;
}

/** How many solutions clauses have by the descriptions of their endpoints. */
export const withEstimates = (draft: Draft): Draft =>
  federated(draft, (plan, { bodies }) => {
    const { sources } = draft.task.context;
    if (sources === undefined) return plan;
    const asked = plan.clauses.flatMap(({ endpoint }, index) => {
      const body = bodies[index];
      return body ? [{ body, endpoint }] : [];
    });
    const estimates = sources.clauseEstimates(asked);
    const list = asked.flatMap(({ endpoint }, index) => {
      const { patterns, seenAt } = estimates[index]?.restsOn ?? { patterns: [], seenAt: 0 };
      // Others are not asked for summaries.
      const isAble = endpoint.interface === undefined && endpoint.counting === undefined;
      return isAble && patterns.length > 0 ? [{ endpoint, patterns, seenAt }] : [];
    });
    // A wrong number looks like any other, unlike a missing row: kinds are verified first.
    const kinds = list.length > 0 && draft.read.isSummary ? { list, decisive: true } : undefined;
    const isTrusted = draft.task.request.prune === "trust";
    return {
      ...plan,
      exclusions: isTrusted ? plan.exclusions : allExclusions([plan.exclusions, kinds]),
      clauses: plan.clauses.map((clause, index) => estimatedClause(clause, estimates[index])),
    };
  });

function estimatedClause(clause: FederatedClause, estimate: ClauseEstimate | undefined): FederatedClause {
  if (estimate === undefined) return clause;
  const { solutions, values, kinds } = estimate;
  const variables = clause.variables.map((variable) => ({
    ...variable,
    values: values.get(variable.name),
    kind: variable.kind ?? kinds.get(variable.name),
  }));
  return { ...clause, variables, estimate: solutions };
}

/** Where missing solutions can add rows to the answer. */
export function withNonMonotone(draft: Draft): Draft {
  const { plan, tree, bodies } = madeIn(draft);
  if (plan.kind === "direct") {
    return nonMonotoneParts(draft.read.ast, "into services").patterns
      ? withPlan(draft, { ...plan, nonMonotone: true })
      : draft;
  }
  if (tree === undefined) return draft;
  const { services, patterns } = nonMonotoneParts(tree().ast);
  const places = new Set(Array.from(services, (service) => service.patterns));
  return withPlan(draft, {
    ...plan,
    clauses: plan.clauses.map((clause, index) =>
      withNonMonotoneMembers(
        places.has(bodies[index]?.ast.where ?? []) ? { ...clause, nonMonotone: "place" as const } : clause,
      ),
    ),
    over: plan.over && patterns ? { ...plan.over, nonMonotone: true } : plan.over,
  });
}

/** In a clause for a federation, what a member lacks is lacking in the middle of the clause. */
function withNonMonotoneMembers(clause: FederatedClause): FederatedClause {
  const { endpoint, nonMonotone } = clause;
  if (endpoint.over === undefined || nonMonotone === undefined) return clause;
  return { ...clause, endpoint: { ...endpoint, over: { ...endpoint.over, nonMonotone: true } } };
}

export const withColumns = (draft: Draft): Draft =>
  federated(draft, (plan) => ({ ...plan, columns: draft.read.columns }));

/** The same plan with notes on the whole: unknown members, endpoints that are down. */
export function withPlanNotes(plan: Plan, request: PlanRequest, context: PlanContext): Plan {
  const more = [...unknownMembers(request, context), ...downNotes(plan, context)];
  return more.length === 0 ? plan : { ...plan, notes: [...plan.notes, ...more] };
}

/** Endpoints that are named one by one. */
const namedAtMost = 5;

/** An answer over the others must not look like one over all. */
function unknownMembers({ federationId = "" }: PlanRequest, { catalog }: PlanContext): readonly PlanNote[] {
  const unknown = (catalog.federation(federationId)?.members ?? []).filter((id) => catalog.byId(id) === undefined);
  if (unknown.length === 0) return [];
  const named = `${unknown.slice(0, namedAtMost).join(", ")}${unknown.length > namedAtMost ? ` and ${unknown.length - namedAtMost} more` : ""}`;
  const message = `The federation has members missing from the catalogue; they are skipped: ${named}.`;
  return [{ code: "MEMBERS_UNKNOWN", message }];
}

/** Endpoints known to be down. Unknown states are not mentioned. */
function downNotes(plan: Plan, { availability }: PlanContext): readonly PlanNote[] {
  if (availability === undefined) return [];
  const down = usedIds(plan).filter((id) => availability.state(id) === "down");
  const named = down.slice(0, namedAtMost).map((id) => {
    const sinceMs = availability.sinceMs?.(id);
    const is = sinceMs === undefined ? "is down" : `has been down since ${new Date(sinceMs).toISOString()}`;
    return downNote(`${id} ${is}; the plan uses it all the same.`);
  });
  const others = down.length - named.length;
  const rest = others === 0 ? [] : [downNote(`${others} more of the endpoints that the plan uses are down.`)];
  return [...named, ...rest];
}

const downNote = (message: string): PlanNote => ({ code: "ENDPOINT_DOWN", message });
