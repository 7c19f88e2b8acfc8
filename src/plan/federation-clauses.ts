import { type MadePlan, mergedPlan } from "./build-plan.ts";
import { clauseText } from "./capability-split.ts";
import type { KnownSources, SelectOptions } from "./plan-request.ts";
import type { FederatedClause, FederatedPlan, FederationMember, PlanNote } from "./query-plan.ts";
import { allExclusions, type Exclusions } from "./source-selection.ts";

/** How the sources of a clause are selected; without `sources` each pattern is asked at all members. */
interface ClauseSelection {
  readonly sources?: KnownSources | undefined;
  readonly how: SelectOptions;
}

/**
 * The plan with the sources of its clauses for federations: each is a query of its own over the members that may have matches, or, where
 * that is one which the whole clause may be sent to, a clause for it. The members take part in the plan, the federation itself does not.
 */
export function withClauseMembers(made: MadePlan, selection: ClauseSelection): MadePlan {
  const { plan } = made;
  if (plan.kind === "direct" || !plan.clauses.some(({ endpoint }) => endpoint.over)) return made;
  const selected = plan.clauses.map((clause) => selectedClause(clause, selection));
  const clauses = selected.map(({ clause }) => clause);
  return {
    ...made,
    plan: {
      ...plan,
      clauses,
      members: membersOf(plan, clauses),
      exclusions: allExclusions([plan.exclusions, ...selected.map(({ exclusions }) => exclusions)]),
      notes: [...plan.notes, ...selected.flatMap(({ notes = [] }) => notes)],
    },
  };
}

interface SelectedClause {
  readonly clause: FederatedClause;
  readonly exclusions?: Exclusions | undefined;
  readonly notes?: readonly PlanNote[];
}

/** A clause with the sources of its patterns; that of a single endpoint comes back as it is. */
export function selectedClause(clause: FederatedClause, { sources, how }: ClauseSelection): SelectedClause {
  const { endpoint } = clause;
  if (endpoint.over === undefined) return { clause };
  const evaluated = { ...clause, evaluatedHere: true } as const;
  const query = { answer: "bindings", query: clauseText(clause), notes: [] } as const;
  const selected = sources?.select(mergedPlan(query, endpoint.over), how);
  if (selected === undefined) return { clause: evaluated };
  const { exclusions, notes } = selected;
  if (selected.kind === "federated" && selected.clauses.length === 0) {
    return { clause: { ...evaluated, endpoint: { ...endpoint, over: selected.over } }, exclusions, notes };
  }
  // Sent whole, or looked into as a clause.
  const only = selected.kind === "direct" ? selected.endpoint : selected.clauses[0]?.endpoint;
  return { clause: { ...clause, endpoint: only ?? endpoint }, exclusions, notes };
}

/** Every endpoint that takes part: those that other clauses and patterns have, and the members of federations. */
function membersOf({ members }: FederatedPlan, clauses: readonly FederatedClause[]): readonly FederationMember[] {
  const all = new Map(members.filter(({ endpoint }) => !endpoint.over).map((member) => [member.endpoint.url, member]));
  for (const { endpoint, silent } of clauses) {
    for (const each of endpoint.over?.members ?? (all.has(endpoint.url) ? [] : [endpoint])) {
      const { clauses: count = 0, silent: isSilent = true } = all.get(each.url) ?? {};
      all.set(each.url, { endpoint: each, clauses: count + 1, silent: isSilent && silent });
    }
  }
  return [...all.values()];
}
