import { itemAt } from "../values.ts";
import { parseQuery, type Query, type QueryTree, splitClauses } from "../sparql/query.ts";
import { type MadePlan, mergedPlan } from "./build-plan.ts";
import { clauseText, knowsCuts } from "./capability-split.ts";
import { type Draft, madeIn } from "./decide-plan.ts";
import type { KnownSources } from "./plan-request.ts";
import type { FederatedClause, FederatedPlan, FederationMember, PlannedEndpoint, PlanNote } from "./query-plan.ts";
import { allExclusions, type Exclusions } from "./source-selection.ts";

/** How sources are selected; without `sources` each pattern is asked at all members. */
interface Selecting {
  readonly sources: KnownSources | undefined;
  /** Catalogue ids of members that are not left out. */
  readonly ask?: readonly string[] | undefined;
  /** True if the endpoint's row cap is known: a direct answer is not checked. */
  readonly cutsKnown: (endpoint: PlannedEndpoint) => boolean;
}

/** The plan over those members only that may have matches: of patterns outside of SERVICE, and of clauses for federations. */
export function withRelevantMembers(draft: Draft): Draft {
  const made = madeIn(draft);
  const { plan } = made;
  if (plan.kind !== "federated") return draft;
  const { context, request } = draft.task;
  const selecting: Selecting = {
    sources: request.prune === false ? undefined : context.sources,
    ask: request.ask,
    cutsKnown: (endpoint) => knowsCuts(endpoint, context),
  };
  const selected = withPatternMembers({ ...made, plan }, draft.query, selecting);
  return { ...draft, made: withClauseMembers(selected, selecting) };
}

/** @param read the query, if the plan has the text that it was parsed from */
function withPatternMembers(
  made: MadePlan<FederatedPlan>,
  read: Query,
  { sources, ask, cutsKnown }: Selecting,
): MadePlan {
  const { over, query: text } = made.plan;
  if (sources === undefined || over === undefined || over.members.length < 2) return made;
  const query = read.text === text ? read : parseQuery(text);
  const plan = sources.select(made.plan, { query, ask });
  const endpoint = soleMember(plan, query);
  if (endpoint === undefined) return { ...made, plan };
  if (!hasFewRows(query) && !cutsKnown(endpoint)) return asClause({ ...made, plan }, query, endpoint);
  const { answer, notes, exclusions } = plan;
  const { columns, limit } = query;
  const none = { silent: undefined, defaultGraphs: [], namedGraphs: [] };
  const facts = plan.over?.selection?.facts;
  return {
    ...made,
    plan: { kind: "direct", answer, endpoint, query: text, columns, limit, ...none, notes, exclusions, facts },
  };
}

/** The member that alone has data for a query; undefined where a federation and an endpoint could differ. */
function soleMember({ over, clauses }: FederatedPlan, query: QueryTree): PlannedEndpoint | undefined {
  const [endpoint, ...others] = over?.members ?? [];
  const isPortable = clauses.length === 0 && query.constructs.portable;
  return others.length > 0 || endpoint?.interface !== undefined || !isPortable ? undefined : endpoint;
}

/** Answers with fewer rows are not cut without a sign. */
const fewRows = 1_000;

const hasFewRows = ({ ast, limit = fewRows, isAggregateOfAll }: QueryTree): boolean =>
  ast.queryType === "ASK" || limit < fewRows || isAggregateOfAll;

/**
 * The query as a SERVICE clause of a federated plan, whose answer is looked into: the endpoint could cut a large one unnoticed. The
 * plan as it is where the query's form or order would be lost.
 */
function asClause(made: MadePlan<FederatedPlan>, query: Query, endpoint: PlannedEndpoint): MadePlan {
  const { text, tokens, ast } = query;
  const columns = query.columns?.asked.map((name) => `?${name}`) ?? [];
  if (columns.length === 0 || ("order" in ast && ast.order !== undefined)) return made;
  const at = itemAt(tokens, query.prologue.length).start;
  const select = `SELECT ${columns.join(" ")} WHERE { SERVICE <${endpoint.url}> { ${text.slice(at)}\n} }`;
  const asked = text.slice(0, at) + select;
  const { skeleton, clauses, bodies } = splitClauses(parseQuery(asked));
  const plan = {
    ...made.plan,
    query: asked,
    skeleton,
    clauses: clauses.map((clause) => Object.assign(clause, { endpoint })),
  };
  return { ...made, plan, bodies };
}

/**
 * The plan with the sources of its clauses for federations: each is a query of its own over the members that may have matches, or, where
 * that is one which the whole clause may be sent to, a clause for it. The members take part in the plan, the federation itself does not.
 */
function withClauseMembers(made: MadePlan, selecting: Selecting): MadePlan {
  const { plan, bodies } = made;
  if (plan.kind === "direct" || !plan.clauses.some(({ endpoint }) => endpoint.over)) return made;
  const selected = plan.clauses.map((clause, index) => selectedClause(clause, itemAt(bodies, index), selecting));
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
export function selectedClause(
  clause: FederatedClause,
  body: QueryTree,
  { sources, ask, cutsKnown }: Selecting,
): SelectedClause {
  const { endpoint } = clause;
  const { over } = endpoint;
  if (over === undefined) return { clause };
  const evaluated = { ...clause, evaluatedHere: true } as const;
  const query = { answer: "bindings", query: clauseText(clause), notes: [] } as const;
  const selected = sources?.select(mergedPlan(query, over), { query: body, ask });
  if (selected === undefined) return { clause: evaluated };
  const { exclusions, notes } = selected;
  const only = over.members.length < 2 ? undefined : soleMember(selected, body);
  // Sent whole, or looked into as a clause.
  const isAsked = only && (hasFewRows(body) || cutsKnown(only) || clause.variables.length > 0);
  return {
    clause: isAsked ? { ...clause, endpoint: only } : { ...evaluated, endpoint: { ...endpoint, over: selected.over } },
    exclusions,
    notes,
  };
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
