import {
  mergeClauses,
  splitClauses,
  tripleCountQuery,
  withAbsoluteIris,
  type Query,
  type ServiceElement,
  isWord,
  parseQuery,
  type QueryTree,
} from "../sparql/query.ts";
import { outermost, sameWithoutWrappers, withEmptySolutions, withoutDatasets, withoutWrappers } from "./wrappers.ts";
import { FedwayError } from "../errors/fedway-error.ts";
import type { CatalogEntry } from "../registry/catalog.ts";
import type { Draft } from "./decide-plan.ts";
import type { KnownFederation, PlanRequest, PlanTask } from "./plan-request.ts";
import type {
  DirectPlan,
  PlanNote,
  SilentFallback,
  FederatedPlan,
  FederationMember,
  PlannedEndpoint,
  MergedMembers,
} from "./query-plan.ts";
import { isOpenTarget, plannedEndpoint } from "./service-targets.ts";

/** A plan, and the trees of its query and of its clauses: no step behind it has to parse a text of the plan. */
export interface MadePlan<Plan = DirectPlan | FederatedPlan> {
  readonly plan: Plan;
  /** That of its query, which is parsed when this is called; undefined for a text that only its endpoint understands. */
  readonly tree: (() => QueryTree) | undefined;
  readonly bodies: readonly QueryTree[];
}

/** A plan without clauses. */
export const madeOf = <Plan>(plan: Plan, tree: MadePlan["tree"]): MadePlan<Plan> => ({ plan, tree, bodies: [] });

/** A query for one named endpoint, sent as it came, with its dataset. */
export function untouchedPlan(parsed: Query, entry: CatalogEntry, request: PlanRequest): DirectPlan {
  return {
    kind: "direct",
    answer: parsed.kind,
    endpoint: plannedEndpoint(entry),
    query: parsed.text,
    columns: parsed.columns,
    limit: parsed.limit,
    tripleCount: parsed.form === "CONSTRUCT" ? tripleCountQuery(parsed) : undefined,
    silent: undefined,
    defaultGraphs: request.defaultGraphs,
    namedGraphs: request.namedGraphs,
    notes: [],
  };
}

/** The whole query for the one endpoint that all its clauses name, without the wrappers. */
export function directPlan(draft: Draft): MadePlan<DirectPlan> {
  const { query, targets, task } = draft;
  const { size } = targets.members;
  const isMember = (service: ServiceElement): boolean => targets.members.has(service.from);
  const unwrapped = unwrappedQuery(draft, isMember);
  // On an endpoint's route without SERVICE for others the dataset was refused earlier, so none is left to keep.
  const text = query.datasets.length > 0 ? withoutDatasets(unwrapped.parsed()) : unwrapped.text;
  const [endpoint] = targets.members.values();
  if (!endpoint) throw new FedwayError("INTERNAL", "A direct plan without an endpoint.");
  const plan: DirectPlan = {
    kind: "direct",
    answer: query.kind,
    endpoint,
    query: text,
    columns: query.columns,
    limit: query.limit,
    tripleCount:
      query.form === "CONSTRUCT" && query.datasets.length === 0 ? tripleCountQuery(unwrapped.parsed()) : undefined,
    silent: query.vocabulary.has("SILENT") ? silentFallback(draft, isMember) : undefined,
    defaultGraphs: [],
    namedGraphs: [],
    notes: size > 1 && !task.entry ? [...draft.notes, mergedNote(size)] : draft.notes,
  };
  return madeOf(plan, unwrapped.tree);
}

/** The query without the wrappers of its clauses; it is parsed where its structure is needed. */
function unwrappedQuery(draft: Draft, isMember: (service: ServiceElement) => boolean) {
  const { query } = draft;
  const text = withoutWrappers(query, isMember);
  const parsed = lazily(() => parseQuery(text));
  const [clause, ...others] = query.services;
  if (clause?.fillsWhere && others.length === 0) {
    // A clause that fills the WHERE gives it its own group, and nothing else can have changed.
    return { text, parsed, tree: clause.place.length === 0 ? () => query.withWhere(clause.element.group) : parsed };
  }
  assertOnlyUnwrapped(draft, parsed());
  return { text, parsed, tree: parsed };
}

function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

const mergedNote = (count: number): PlanNote => ({
  code: "WRAPPERS_MERGED",
  message: `All ${count} SERVICE clauses name one endpoint; it was asked once.`,
});

function assertOnlyUnwrapped({ query, targets }: Draft, unwrapped: Query): void {
  const pseudo = new Set(
    query.services
      .filter((clause) => targets.pseudo.has(clause.element.from))
      .map(({ target }) => (target.kind === "iri" ? target.iri : "")),
  );
  if (sameWithoutWrappers(query, unwrapped, (iri) => !pseudo.has(iri))) return;
  throw new FedwayError("INTERNAL", "Removing the SERVICE wrapper would have changed the query.");
}

/** Only when every outermost clause is SILENT and nothing else was asked of the endpoint may its failure be silenced. */
function silentFallback(
  { query, sendsOutsidePatterns }: Draft,
  isMember: (service: ServiceElement) => boolean,
): SilentFallback | undefined {
  if (sendsOutsidePatterns || !outermost(query, isMember).every((clause) => clause.silent)) return undefined;
  return { query: withEmptySolutions(query, isMember) };
}

/**
 * A plan in which every SERVICE names a member by its absolute URL and neighbours for one endpoint are one clause.
 * @param keepsDataset FROM and FROM NAMED are those of the patterns outside
 */
export function federatedPlan(draft: Draft, keepsDataset = false): MadePlan<FederatedPlan> {
  const { query, targets } = draft;
  const { text, merged } = mergeClauses(query, {
    keepsDataset,
    isMember: (service: ServiceElement) => targets.members.has(service.from),
    targetOf: (service: ServiceElement) => writtenTarget(targets.members.get(service.from)?.url ?? ""),
  });
  const written = withAbsoluteIris(text);
  // Often it names its endpoints by their URLs already.
  const parsed = written === query.text ? query : parseQuery(written);
  const endpoints = new Map([...targets.members.values()].map((endpoint) => [endpoint.url, endpoint]));
  const members = countMembers(parsed, endpoints);
  const notes: PlanNote[] = [...draft.notes];
  if (merged > 0) {
    notes.push({
      code: "WRAPPERS_MERGED",
      message: "Neighbouring SERVICE clauses for one endpoint were merged into one.",
    });
  }
  const { skeleton, clauses, bodies } = splitClauses(parsed);
  const plan: FederatedPlan = {
    kind: "federated",
    answer: parsed.kind,
    query: parsed.text,
    skeleton,
    clauses: clauses.map(({ target, ...clause }) => {
      const endpoint = memberOf(endpoints, target);
      return Object.assign(clause, { endpoint, ...(isOpenTarget(endpoint) && { targetVariable: target.slice(1) }) });
    }),
    members,
    notes,
  };
  return { plan, tree: () => parsed, bodies };
}

const writtenTarget = (url: string): string => (isOpenTarget({ url }) ? url : `<${url}>`);

/** The member that a clause names by its absolute URL, `<...>` included, or by its variable. */
function memberOf(endpoints: ReadonlyMap<string, PlannedEndpoint>, target: string): PlannedEndpoint {
  const endpoint = endpoints.get(target.startsWith("<") ? target.slice(1, -1) : target);
  if (!endpoint) throw new FedwayError("INTERNAL", "The planned query names an endpoint that was not checked.");
  return endpoint;
}

/** Members in order of appearance; fails when the text names anything that was not planned. */
function countMembers(planned: Query, endpoints: ReadonlyMap<string, PlannedEndpoint>): readonly FederationMember[] {
  const members = new Map<string, FederationMember>();
  for (const { target, silent, parent } of planned.services) {
    // A SERVICE left inside another clause is an extension of that endpoint's engine.
    if (parent) continue;
    const endpoint = memberOf(endpoints, target.kind === "iri" ? `<${target.iri}>` : `?${target.name}`);
    const known = members.get(endpoint.url);
    members.set(endpoint.url, {
      endpoint,
      clauses: (known?.clauses ?? 0) + 1,
      silent: (known?.silent ?? true) && silent,
    });
  }
  return [...members.values()];
}

/** The members of a federation as those of one graph. */
export function mergedMembers({ federation, members }: KnownFederation): MergedMembers {
  const { id, builtIn: onlyNamed } = federation;
  return { federation: id, members: members.map((entry) => plannedEndpoint(entry)), onlyNamed };
}

/** Note on a federation that has no part in a query. */
export const federationUnused = ({ federation }: KnownFederation): PlanNote => ({
  code: "FEDERATION_UNUSED",
  message: `Every pattern stands in a SERVICE, so the federation ${federation.id} has no part in the query.`,
});

/**
 * True if an entry's data are triples to be matched, or those of a federation, so that its queries are evaluated in Fedway.
 */
export function isMatchedHere(entry: CatalogEntry | PlannedEndpoint): boolean {
  return entry.interface === "tpf" || entry.interface === "file" || ("over" in entry && entry.over !== undefined);
}

/** A query without SERVICE whose patterns are matched at these members and joined here. */
export function mergedPlan(
  { answer, query, notes }: Pick<FederatedPlan, "answer" | "query" | "notes">,
  over: MergedMembers,
): FederatedPlan {
  const skeleton = withAbsoluteIris(query);
  return { kind: "federated", answer, query, skeleton, clauses: [], over, members: memberList([], over), notes };
}

/** Federated plan that evaluates a direct plan's query in Fedway, over the triples of its endpoint or federation. */
export function evaluatedOver({ answer, query, notes, endpoint }: DirectPlan): FederatedPlan {
  return mergedPlan({ answer, query, notes }, endpoint.over ?? { members: [endpoint] });
}

/** A plan with SERVICE clauses whose other patterns are asked at these members. */
export function withMembers(plan: FederatedPlan, over: MergedMembers): FederatedPlan {
  return { ...plan, over, members: memberList(plan.members, over) };
}

/** Members that only answer patterns come first; one that a SERVICE names too is not silent for them. */
function memberList(named: readonly FederationMember[], { members }: MergedMembers): readonly FederationMember[] {
  const urls = new Set(members.map(({ url }) => url));
  const clausesAt = (url: string): number => named.find(({ endpoint }) => endpoint.url === url)?.clauses ?? 0;
  return [
    ...members.map((endpoint) => ({ endpoint, clauses: clausesAt(endpoint.url), silent: false })),
    ...named.filter(({ endpoint }) => !urls.has(endpoint.url)),
  ];
}

/**
 * Documents and fragments are one default graph, a part of which cannot be chosen.
 * @throws FedwayError `REQUEST_INVALID` for FROM, FROM NAMED and the protocol's dataset
 */
export function refuseDataset({ datasets }: Query, request: PlanRequest): void {
  if (datasets.length + request.defaultGraphs.length + request.namedGraphs.length === 0) return;
  throw new FedwayError("REQUEST_INVALID", "This endpoint has one default graph and no named graphs to choose from.", {
    next: "Leave out FROM, FROM NAMED and the dataset parameters.",
  });
}

/**
 * Judges whether the members of a federation have the graphs that a query chooses; notes on those that have none.
 * @throws FedwayError `REQUEST_INVALID` where no member has any, or an endpoint is named in the place of a graph
 */
export function judgeGraphs(
  { tokens, outside, datasets }: Query,
  { members }: MergedMembers,
  { catalog }: PlanTask["context"],
): readonly PlanNote[] {
  const isInGraph = outside.some(({ from }) => isWord(tokens[from], "GRAPH"));
  if (datasets.length === 0 && !isInGraph) return [];
  const place = datasets.find(({ iri }) => catalog.byId(iri) ?? catalog.byUrl(iri) ?? catalog.federation(iri));
  if (place) {
    throw new FedwayError("REQUEST_INVALID", `FROM names a graph, and ${place.iri} is in the catalogue, no graph.`, {
      next: `Leave out FROM, or write SERVICE <${place.iri}> { ... } around the patterns that it answers.`,
    });
  }
  const without = members.filter((member) => member.interface !== undefined).map(({ id, url }) => id ?? url);
  if (without.length === members.length) {
    throw new FedwayError("REQUEST_INVALID", "The members have one default graph each, and no named graphs.", {
      next: "Leave out GRAPH, FROM, FROM NAMED and the dataset parameters.",
    });
  }
  if (without.length === 0) return [];
  const message = `Not asked for named graphs, as they are files or fragments without any: ${without.join(", ")}.`;
  return [{ code: "GRAPHS_NOT_ASKED", message }];
}
