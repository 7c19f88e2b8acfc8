import type { Catalog, CatalogEntry, Federation } from "../registry/catalog.ts";
import type { Suggestion } from "../errors/fedway-error.ts";
import type { Query, QueryTree } from "../sparql/query.ts";
import type { AnswerKind } from "../results/model.ts";
import type { UsedTerm } from "../sparql/patterns.ts";
import type { DirectPlan, FederatedPlan, PlannedEndpoint, PlanNote } from "./query-plan.ts";
import type { Certificate, TermFacts, Unmatched, ValueKind } from "./source-selection.ts";

/** A query to be planned. */
export interface PlanRequest {
  readonly text: string;
  /** Catalogue id when the request names an endpoint (`/endpoints/{id}/sparql`). */
  readonly endpointId?: string | undefined;
  /** Catalogue id when the request names a federation (`/federations/{id}/sparql`); not together with `endpointId`. */
  readonly federationId?: string | undefined;
  /** Refuse patterns outside of every SERVICE instead of sending them on. */
  readonly strict: boolean;
  /** Protocol dataset (SPARQL 1.1 Protocol, section 2.1.4). */
  readonly defaultGraphs: readonly string[];
  readonly namedGraphs: readonly string[];
  /** Leave out endpoints by facts. Default true. */
  readonly prune?: Prune | undefined;
  /** Catalogue ids of endpoints that must be asked, regardless of facts. */
  readonly ask?: readonly string[] | undefined;
  /** Meanings found for texts of the same errand, which are added here; absent: they are looked up for each text. */
  readonly meanings?: PrefixMeanings | undefined;
}

/** `PREFIX` declarations by the prefixes, their names and the places for which they were found. */
export type PrefixMeanings = Map<string, PrefixMeaning>;

/** Meanings of the undeclared prefixes of a text. */
interface PrefixMeaning {
  /** Equally good choices of one meaning for each; one choice of none where none has a meaning. */
  readonly choices: readonly (readonly MeantNamespace[])[];
  /** Prefixes without a meaning. */
  readonly unknown: readonly string[];
}

/** Meaning of a prefix. */
export interface MeantNamespace {
  readonly prefix: string;
  readonly namespace: string;
  /** Source of this meaning. */
  readonly how: string;
}

/** False: every endpoint is asked for everything; "trust": facts are believed; true: facts are verified where they decide. */
type Prune = boolean | "trust";

/** Knowledge that planning uses beside the request. */
export interface PlanContext {
  readonly catalog: Catalog;
  readonly egress: "catalog" | "public";
  /** Own origin, without a trailing slash. */
  readonly publicUrl: string;
  /** Capabilities of the catalogue's endpoints; absent: all unknown, and everything is sent as it is. */
  readonly capabilities?: KnownCapabilities;
  /** Which endpoints are up; absent: nothing is known. It never keeps a plan from using an endpoint. */
  readonly availability?: KnownAvailability;
  /** Which classes and properties endpoints have; absent: nothing is known. */
  readonly terms?: KnownTerms;
  /** Remarks on a query whose answer is empty, from descriptions alone; absent: none. */
  readonly remarks?:
    | ((query: Query, plan: DirectPlan | FederatedPlan, place: Place) => readonly PlanNote[])
    | undefined;
  /** Where other parts of an endpoint's classes are; absent: nothing is known. */
  readonly parts?: ((id: string) => readonly KnownPart[]) | undefined;
  /** Which members have matches; absent: nothing is known, and everybody is asked. */
  readonly sources?: KnownSources | undefined;
}

/** A class whose instances lie at an endpoint and at others. */
export interface KnownPart {
  readonly class: string;
  /** Stated by the builder of the shards, or derived from the descriptions of a federation's members. */
  readonly source: "builder" | "derived";
  readonly siblings: readonly { readonly endpoint: string; readonly properties: readonly string[] }[];
}

/** Certain facts about the data of endpoints. */
export interface KnownSources {
  /** Grows with every change, and when facts become too old; no plan outlives the version that it was made with. */
  readonly version: number;
  /**
   * The plan over those members only that may have matches.
   * @param how the plan's query, and catalogue ids of members that are not left out
   */
  select(
    plan: FederatedPlan,
    how: { readonly query: QueryTree; readonly ask?: readonly string[] | undefined },
  ): FederatedPlan;
  /** Why each of these clauses has no solution; undefined where it may have some. */
  emptyClauses(clauses: readonly AskedClause[]): readonly (EmptyClause | undefined)[];
  /** Certain facts about the terms of an endpoint's triples; undefined: there are none. */
  facts(endpoint: PlannedEndpoint): TermFacts | undefined;
  /** Endpoints with the same one have no subject in common; undefined where that is not certain. */
  subjectPartition(endpoint: PlannedEndpoint): string | undefined;
  /** Estimates for each of these clauses; undefined where nothing is known. */
  clauseEstimates(clauses: readonly AskedClause[]): readonly (ClauseEstimate | undefined)[];
}

/** About how many solutions a clause has, and how many different values some of its variables. */
export interface ClauseEstimate {
  readonly solutions: number;
  readonly values: ReadonlyMap<string, number>;
  /** Of what kind all values of some of them are. */
  readonly kinds: ReadonlyMap<string, ValueKind>;
  /** Patterns without a match if the kinds are right. */
  readonly restsOn: Unmatched;
}

/** Why a clause has no solution: the endpoint has no match for these patterns. */
interface EmptyClause extends Unmatched {
  readonly certificate: Certificate;
}

/** A SERVICE clause as a query of its own: `SELECT * WHERE` its group. */
interface AskedClause {
  readonly body: QueryTree;
  readonly endpoint: PlannedEndpoint;
}

/** Classes and properties in descriptions. */
export interface KnownTerms {
  /** Grows with every change; no plan outlives the version that it was made with. */
  readonly version: number;
  /** "no" only where the description of the endpoint has all of them. */
  hasTerm(id: string, term: UsedTerm): "yes" | "no" | "unknown";
  endpointsWith(term: UsedTerm): Iterable<string>;
  /** Terms of these endpoints that are most like one, best first. */
  nearest(ids: readonly string[], term: UsedTerm): readonly Suggestion[];
  /** When the description of an endpoint was finished, ISO 8601; undefined when there is none. */
  descriptionVersion(id: string): string | undefined;
  /** Namespaces in which these endpoints have a class or property with this local name. */
  namespacesWith(local: string, ids: readonly string[]): Iterable<string>;
  /** The namespace that the schema view of an endpoint writes with this prefix (without colon). */
  namespaceAt(id: string, prefix: string): string | undefined;
}

/** Monitored availability, by catalogue id. */
interface KnownAvailability {
  /** Grows when an endpoint goes down or comes back; no plan outlives the version that it was made with. */
  readonly version: number;
  state(id: string): "up" | "degraded" | "flapping" | "down" | "unknown";
  /** When it came into this state, in milliseconds since the epoch. */
  sinceMs?(id: string): number | undefined;
}

/** Probed capabilities, by catalogue id. */
export interface KnownCapabilities {
  /** Grows with every change; no plan outlives the version that it was made with. */
  readonly version: number;
  view(id: string): KnownEndpoint | undefined;
}

/** Facts about an endpoint for planning. Absent means unknown, and forbids nothing. */
interface KnownEndpoint {
  /** The Accept header that works, by the kind of the answer, where a list of formats does not. */
  readonly accept?: Readonly<Partial<Record<AnswerKind, string | undefined>>> | undefined;
  /** The first request form that worked. */
  readonly method?: PlannedEndpoint["method"] | undefined;
  /** Media types that came right when asked for; empty when none was found. */
  readonly formats?: readonly string[];
  /** Largest URL in bytes that worked by GET. */
  readonly maxUrlBytes?: number | undefined;
  /** Largest number of join keys in one VALUES that worked. */
  readonly maxValuesRows?: number | undefined;
  /** Prefixes that it knows without a declaration, with their namespaces. */
  readonly predefinedPrefixes?: Readonly<Record<string, string>> | undefined;
  readonly strings?: PlannedEndpoint["strings"];
  /** Rows after which answers are cut without a word. */
  readonly silentRowCap?: number | undefined;
  /** Rows of an answer that came whole. */
  readonly wholeRows?: number | undefined;
  /** Constructs that the endpoint refuses or answers wrongly, by the names of `QueryConstruct`. */
  readonly lacks: ReadonlySet<string>;
}

/** A federation and the endpoints that belong to it now. */
export interface KnownFederation {
  readonly federation: Federation;
  /** Two at least: a federation of one is that one's endpoint. */
  readonly members: readonly CatalogEntry[];
}

/** Target of a request: an endpoint, or a federation as one graph. Neither: the query itself says where its data are. */
export interface Place {
  readonly entry: CatalogEntry | undefined;
  readonly over?: KnownFederation | undefined;
}

/** A request with its endpoint or federation looked up. */
export interface PlanTask extends Place {
  readonly context: PlanContext;
  readonly request: PlanRequest;
}
