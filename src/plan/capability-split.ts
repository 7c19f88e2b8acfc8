import { parseQuery, type QueryTree } from "../sparql/query.ts";
import { type QueryConstruct } from "../sparql/patterns.ts";
import type { FederatedClause, DirectPlan, FederatedPlan, PlannedEndpoint, PlanNote } from "./query-plan.ts";
import { evaluatedOver, type MadePlan } from "./build-plan.ts";
import { refuseWrongCalls } from "./unknown-functions.ts";
import { mirrorsIn, plannedEndpoint } from "./service-targets.ts";
import type { PlanContext } from "./plan-request.ts";

/** A construct in the reader's words. */
const shown: Readonly<Record<QueryConstruct, string>> = {
  values: "VALUES",
  aggregates: "aggregates",
  aggregateTruth: "aggregates over many solutions",
  groupHaving: "GROUP BY with HAVING",
  minus: "MINUS",
  subquery: "subqueries",
  optional: "OPTIONAL",
  valuesUndef: "VALUES with UNDEF",
  notExists: "EXISTS",
  zeroLengthPath: "paths of length zero",
  blankNodes: "BNODE",
  construct: "CONSTRUCT",
};

/**
 * A plan that asks each endpoint only for constructs that it supports. A query, or a clause of a federated one, that its
 * endpoint refuses or answers wrongly for one of its constructs is evaluated here over that endpoint's triples; not when
 * the endpoint cuts answers without a word, because what is computed from them would look whole. Where that is not
 * possible it is sent all the same, and the plan says so.
 */
export function withinCapabilities(made: MadePlan, context: PlanContext): DirectPlan | FederatedPlan {
  const { plan } = made;
  if (context.capabilities === undefined) return plan;
  const { exclusions } = plan;
  const able = plan.kind === "direct" ? abledDirect(plan, made.tree, context) : equipped(plan, made.bodies, context);
  if (exclusions === undefined) return able;
  return { ...able, exclusions: { ...exclusions, list: exclusions.list.map((one) => withEndpoint(one, context)) } };
}

function abledDirect(plan: DirectPlan, tree: MadePlan["tree"], context: PlanContext): DirectPlan | FederatedPlan {
  const endpoint = equippedEndpoint(plan.endpoint, context);
  const use = tree && useBeyond(plan.endpoint, tree, context);
  if (use === undefined) return { ...plan, endpoint };
  const isHere = use.isEvaluable && isWholeRequest(plan);
  const note = isHere ? evaluatedNote(endpoint, use.missing, "query") : doubtfulNote(endpoint, use.missing, "query");
  const noted = { ...plan, endpoint, notes: [...plan.notes, note] };
  return isHere ? evaluatedOver(noted) : noted;
}

type Constructs = readonly QueryConstruct[];
type Subject = "query" | "SERVICE clause";

const namesOf = (constructs: Constructs): string => [...new Set(constructs.map((name) => shown[name]))].join(", ");

const evaluatedNote = ({ id, url }: PlannedEndpoint, missing: Constructs, subject: Subject): PlanNote => ({
  code: "EVALUATED_HERE",
  message: `${id ?? url} refuses or gets wrong: ${namesOf(missing)}. The ${subject} was evaluated here over its triples.`,
});

const doubtfulNote = ({ id, url }: PlannedEndpoint, missing: Constructs, subject: Subject): PlanNote => ({
  code: "CONSTRUCT_DOUBTFUL",
  message: `${id ?? url} is known to refuse or get wrong: ${namesOf(missing)}. The ${subject} cannot be evaluated here instead.`,
});

/** A query with its own dataset needs the endpoint's graphs; a failure that SILENT covers is that of one request. */
const isWholeRequest = ({ silent, defaultGraphs, namedGraphs }: DirectPlan): boolean =>
  silent === undefined && defaultGraphs.length + namedGraphs.length === 0;

interface UseBeyond {
  readonly missing: readonly QueryConstruct[];
  /** True if the query can be evaluated over the endpoint's triples, and all of those are available. */
  readonly isEvaluable: boolean;
}

/** Constructs that the query uses and the endpoint lacks; undefined when there are none. */
function useBeyond(
  endpoint: PlannedEndpoint,
  query: () => QueryTree,
  { capabilities }: PlanContext,
): UseBeyond | undefined {
  const view = endpoint.id === undefined ? undefined : capabilities?.view(endpoint.id);
  if (view === undefined || view.lacks.size === 0) return undefined;
  const { constructs, portable } = query().constructs;
  const missing = [...constructs].filter((name) => view.lacks.has(name));
  return missing.length === 0 ? undefined : { missing, isEvaluable: portable && view.silentRowCap === undefined };
}

function equipped(plan: FederatedPlan, bodies: readonly QueryTree[], context: PlanContext): FederatedPlan {
  const { clauses, members, over, notes } = plan;
  const uses = bodies.map((body, index) => clauseUse(clauses[index], body, context));
  return {
    ...plan,
    notes: [...notes, ...clauseNotes(plan, uses)],
    clauses: clauses.map((clause, index) => {
      const asked = withEndpoint(clause, context);
      return uses[index]?.isEvaluable === true ? evaluatedClause(asked) : asked;
    }),
    members: members.map((member) => withEndpoint(member, context)),
    over: over && { ...over, members: over.members.map((member) => equippedEndpoint(member, context)) },
  };
}

/**
 * Constructs that a clause uses and its endpoint lacks; clauses of endpoints that do not speak SPARQL are evaluated in Fedway anyway.
 */
const clauseUse = (
  clause: FederatedClause | undefined,
  body: QueryTree,
  context: PlanContext,
): UseBeyond | undefined =>
  clause && clause.endpoint.interface === undefined ? useBeyond(clause.endpoint, () => body, context) : undefined;

const evaluatedClause = (clause: FederatedClause): FederatedClause => ({ ...clause, evaluatedHere: true });

/** A clause as a query of its own. */
export const clauseText = ({ prologue, pattern }: FederatedClause): string => `${prologue}SELECT * WHERE ${pattern}`;

export const bodyOf = (clause: FederatedClause): QueryTree => parseQuery(clauseText(clause));

/** A clause whose target is a variable, as it is asked at one of the endpoints. */
export function clauseAt(clause: FederatedClause, body: QueryTree, context: PlanContext): FederatedClause {
  const asked = withEndpoint({ ...clause, targetVariable: undefined }, context);
  const found = clauseUse(asked, body, context)?.isEvaluable === true ? evaluatedClause(asked) : asked;
  refuseWrongCalls([found], [body]);
  return found;
}

/** One note an endpoint for its clauses that are evaluated here, and one for those that cannot be. */
function clauseNotes({ clauses, members }: FederatedPlan, uses: readonly (UseBeyond | undefined)[]): PlanNote[] {
  return members.flatMap(({ endpoint }) => {
    const own = uses.flatMap((use, index) => (use && clauses[index]?.endpoint.url === endpoint.url ? [use] : []));
    const here = own.filter((use) => use.isEvaluable).flatMap((use) => use.missing);
    const doubtful = own.filter((use) => !use.isEvaluable).flatMap((use) => use.missing);
    return [
      ...(here.length > 0 ? [evaluatedNote(endpoint, here, "SERVICE clause")] : []),
      ...(doubtful.length > 0 ? [doubtfulNote(endpoint, doubtful, "SERVICE clause")] : []),
    ];
  });
}

const withEndpoint = <Part extends { readonly endpoint: PlannedEndpoint }>(part: Part, context: PlanContext): Part => ({
  ...part,
  endpoint: equippedEndpoint(part.endpoint, context),
});

/** An endpoint with the known manner of asking it, and its mirror. */
function equippedEndpoint(endpoint: PlannedEndpoint, context: PlanContext): PlannedEndpoint {
  const { over } = endpoint;
  if (over) {
    return { ...endpoint, over: { ...over, members: over.members.map((one) => equippedEndpoint(one, context)) } };
  }
  const mirror = endpoint.id === undefined ? undefined : mirrorsIn(context.catalog.entries).get(endpoint.id);
  const asked = withCapabilities(endpoint, context);
  if (mirror === undefined || endpoint.interface !== undefined) return asked;
  return { ...asked, mirror: withCapabilities(plannedEndpoint(mirror), context) };
}

const countingNeeds: Constructs = ["aggregates", "aggregateTruth", "groupHaving", "subquery"];

const lackingOf = (lacks: ReadonlySet<string>): Partial<PlannedEndpoint> => ({
  keys: lacks.has("values") ? "filter" : undefined,
  existence: lacks.has("notExists") ? "join" : undefined,
  optionals: lacks.has("optional") ? "here" : undefined,
  counting: countingNeeds.some((name) => lacks.has(name)) ? "here" : undefined,
});

function withCapabilities(endpoint: PlannedEndpoint, { capabilities }: PlanContext): PlannedEndpoint {
  const view = endpoint.id === undefined ? undefined : capabilities?.view(endpoint.id);
  if (view === undefined) return endpoint;
  const { silentRowCap = endpoint.rowCap, wholeRows, formats = [], maxUrlBytes, maxValuesRows, lacks } = view;
  const { method, accept, strings } = view;
  return {
    ...endpoint,
    learned: method === undefined && accept === undefined ? undefined : { method, accept },
    rowCap: silentRowCap,
    wholeRows,
    formats: formats.length > 0 ? formats : undefined,
    maxUrlBytes,
    maxValuesRows,
    strings,
    ...lackingOf(lacks),
  };
}

/** True if an endpoint's row cap is known; endpoints hosted by this service have none. */
export function knowsCuts(
  { id = "", url, rowCap }: PlannedEndpoint,
  { capabilities, publicUrl }: PlanContext,
): boolean {
  if (capabilities === undefined || rowCap !== undefined || url.startsWith(`${publicUrl}/`)) return true;
  const view = capabilities.view(id);
  return view?.wholeRows !== undefined || view?.silentRowCap !== undefined;
}
