import { parseQuery } from "../sparql/parse-query.ts";
import { constructsOf, type QueryConstruct } from "../sparql/used-constructs.ts";
import { evaluatedOver } from "./merged-plan.ts";
import type { KnownEndpoint, PlanContext } from "./plan-request.ts";
import type { DirectPlan, FederatedPlan, PlannedEndpoint, PlanNote, QueryPlan } from "./query-plan.ts";

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
 * A plan that asks each endpoint only for what it is known to do. A query that one endpoint refuses or answers wrongly
 * for one of its constructs is evaluated here over that endpoint's triples; not when the endpoint cuts answers without a
 * word, because what is computed from them would look whole. Where that is not possible it is sent all
 * the same, and the plan says so.
 */
export function withinCapabilities(plan: QueryPlan, context: PlanContext): QueryPlan {
  if (context.capabilities === undefined || plan.kind === "rejected") return plan;
  if (plan.kind === "federated") return equipped(plan, context);
  const endpoint = equippedEndpoint(plan.endpoint, context);
  const use = isRaw(plan) ? undefined : useBeyond(plan, context);
  if (use === undefined) return { ...plan, endpoint };
  const { missing, portable, silentRowCap } = use;
  const constructs = missing.map((name) => shown[name]).join(", ");
  const name = endpoint.id ?? endpoint.url;
  if (silentRowCap !== undefined || !portable || !isWholeRequest(plan)) {
    const message = `${name} is known to refuse or get wrong: ${constructs}. The query cannot be evaluated here instead.`;
    return withNote({ ...plan, endpoint }, { code: "CONSTRUCT_DOUBTFUL", message });
  }
  const message = `${name} refuses or gets wrong: ${constructs}. The query was evaluated here over its triples.`;
  return evaluatedOver(withNote({ ...plan, endpoint }, { code: "EVALUATED_HERE", message }));
}

const withNote = (plan: DirectPlan, note: PlanNote): DirectPlan => ({ ...plan, notes: [...plan.notes, note] });

const isRaw = ({ notes }: DirectPlan): boolean => notes.some(({ code }) => code === "RAW_QUERY");

/** A query with its own dataset needs the endpoint's graphs; a failure that SILENT covers is that of one request. */
const isWholeRequest = ({ silent, defaultGraphs, namedGraphs }: DirectPlan): boolean =>
  silent === undefined && defaultGraphs.length + namedGraphs.length === 0;

interface UseBeyond {
  readonly missing: readonly QueryConstruct[];
  readonly portable: boolean;
  readonly silentRowCap: number | undefined;
}

/** What the query uses and the endpoint lacks; undefined when that is nothing. */
function useBeyond({ endpoint, query }: DirectPlan, { capabilities }: PlanContext): UseBeyond | undefined {
  const view = endpoint.id === undefined ? undefined : capabilities?.view(endpoint.id);
  if (view === undefined || view.lacks.size === 0) return undefined;
  const { constructs, portable } = constructsOf(parseQuery(query));
  const missing = [...constructs].filter((name) => view.lacks.has(name));
  return missing.length === 0 ? undefined : { missing, portable, silentRowCap: view.silentRowCap };
}

function equipped(plan: FederatedPlan, context: PlanContext): FederatedPlan {
  const { clauses, members, over } = plan;
  return {
    ...plan,
    clauses: clauses.map((clause) => withEndpoint(clause, context)),
    members: members.map((member) => withEndpoint(member, context)),
    ...(over && { over: { ...over, members: over.members.map((member) => equippedEndpoint(member, context)) } }),
  };
}

const withEndpoint = <Part extends { readonly endpoint: PlannedEndpoint }>(part: Part, context: PlanContext): Part => ({
  ...part,
  endpoint: equippedEndpoint(part.endpoint, context),
});

/** An endpoint with what is known of how it wants to be asked. */
function equippedEndpoint(endpoint: PlannedEndpoint, { capabilities }: PlanContext): PlannedEndpoint {
  const view = endpoint.id === undefined ? undefined : capabilities?.view(endpoint.id);
  if (view === undefined) return endpoint;
  // The first method tried needs no telling, and is not held on to when it stops working.
  const method = endpoint.method ?? (view.method === "post-form" ? undefined : view.method);
  return {
    ...endpoint,
    ...(method !== undefined && { method }),
    ...limitsOf(view),
    ...(view.lacks.has("values") && { inlineData: "bind" as const }),
  };
}

type Limits = Pick<PlannedEndpoint, "rowCap" | "formats" | "maxUrlBytes" | "maxValuesRows">;

function limitsOf({ silentRowCap, formats = [], maxUrlBytes, maxValuesRows }: KnownEndpoint): Limits {
  return {
    ...(silentRowCap !== undefined && { rowCap: silentRowCap }),
    ...(formats.length > 0 && { formats }),
    ...(maxUrlBytes !== undefined && { maxUrlBytes }),
    ...(maxValuesRows !== undefined && { maxValuesRows }),
  };
}
