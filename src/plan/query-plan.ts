import type { FedwayError, Statement } from "../errors/fedway-error.ts";
import type { AnswerKind } from "../results/model.ts";
import type { ClauseText } from "../sparql/query.ts";
import type { Exclusions, FactsKnown, SourceSelection, ValueKind } from "./source-selection.ts";

/** An endpoint as a plan names it. `id` is absent for a target outside the catalogue (`FEDWAY_EGRESS=public`). */
export interface PlannedEndpoint {
  readonly id?: string | undefined;
  readonly url: string;
  readonly method?: "post-form" | "post-direct" | "get" | undefined;
  /** How it must be asked, as far as that is known: tried first. */
  readonly learned?:
    | {
        readonly method?: PlannedEndpoint["method"];
        readonly accept?: Readonly<Partial<Record<AnswerKind, string | undefined>>> | undefined;
      }
    | undefined;
  /** Rows after which its answers are known to be cut, be it without a sign. */
  readonly rowCap?: number | undefined;
  /** Rows of an answer that is known to have come whole. */
  readonly wholeRows?: number | undefined;
  /** Media types in which it is known to answer rightly. */
  readonly formats?: readonly string[] | undefined;
  /** Largest URL that it is known to read, in bytes. */
  readonly maxUrlBytes?: number | undefined;
  /** Its answers are never kept for other queries. */
  readonly neverKept?: true | undefined;
  /** An endpoint with the same data, which is asked when it fails or lacks rows. */
  readonly mirror?: Omit<PlannedEndpoint, "mirror"> | undefined;
  /** Most join keys that it is known to take in one request. */
  readonly maxValuesRows?: number | undefined;
  /** How it holds a string with and without its datatype: as one term (RDF 1.1), or apart as two. */
  readonly strings?: "one" | "apart" | undefined;
  /** It is a federation: its clauses are evaluated in Fedway over these members. */
  readonly over?: MergedMembers | undefined;
  /** How its data is reached when it does not speak SPARQL: triples are matched there and the query is evaluated here. */
  readonly interface?: "tpf" | "file" | undefined;
  /** How join keys are written into queries for it: "filter" when it does not know VALUES. */
  readonly keys?: "filter" | undefined;
  /** How it is asked which terms are in its data: "join" when it does not know EXISTS. */
  readonly existence?: "join" | undefined;
  /** Where solutions are counted: "here" when it is known to count wrongly, or not in a subquery. */
  readonly counting?: "here" | undefined;
  /** Where OPTIONAL is evaluated: "here" when it is known to get it wrong. */
  readonly optionals?: "here" | undefined;
}

/** A note for the reader about changes to the query; stable code, one sentence. */
export interface PlanNote {
  readonly code:
    | "PATTERN_SENT_ON"
    | "SERVICE_NORMALISED"
    | "DATASET_IGNORED"
    | "WRAPPERS_MERGED"
    | "SERVICE_LIFTED"
    | "PATTERN_WRAPPED"
    | "GRAPH_EMPTY"
    | "GRAPHS_NOT_ASKED"
    | "RAW_QUERY"
    | "SPARQL_1_2"
    | "EVALUATED_HERE"
    | "CONSTRUCT_DOUBTFUL"
    | "PATTERN_DOUBTFUL"
    | "QUERY_DOUBTFUL"
    | "ENDPOINT_DOWN"
    | "TERM_UNKNOWN"
    | "FEDERATION_UNUSED"
    | "CATALOG_ASKED"
    | "MEMBERS_LEFT_OUT"
    | "PART_ASKED"
    | "MEMBERS_UNKNOWN"
    | "FACTS_OLD"
    | "MEMBERS_CHANGED"
    | "CLAUSES_LEFT_OUT"
    | "CLAUSES_COLOCATED"
    | "KEYS_ADAPTED"
    | "KEYS_SET_ASIDE"
    | "PORTABLE_BLANK_NODES"
    | "PREFIXES_FILLED_IN"
    | "SILENCED"
    | "MIRROR_ANSWERED";
  readonly message: string;
  /** The query to send instead. */
  readonly query?: string | undefined;
  /** Claims of the message about data. */
  readonly statements?: readonly Statement[] | undefined;
}

/** A note whose text is made when it is first read: the head of an answer has its code alone. */
export function lateNote(code: PlanNote["code"], textOf: () => string): PlanNote {
  let make: (() => string) | undefined = textOf;
  let text = "";
  return {
    code,
    get message() {
      text = make?.() ?? text;
      make = undefined;
      return text;
    },
  };
}

/** Columns that a SELECT must be answered with, those of `SELECT *` in the order of appearance; and what may be there too. */
interface PlannedColumns {
  readonly asked: readonly string[];
  readonly allowed?: readonly string[] | undefined;
}

/** The whole query goes to one endpoint. */
export interface DirectPlan {
  readonly kind: "direct";
  readonly answer: AnswerKind;
  readonly endpoint: PlannedEndpoint;
  /** The text that is sent. */
  readonly query: string;
  /** Absent where they are not known. */
  readonly columns?: PlannedColumns | undefined;
  /** The outermost LIMIT of a SELECT: its answer has no more rows. */
  readonly limit?: number | undefined;
  /** A query that counts triples which the answer to a CONSTRUCT has (`tripleCountQuery`). */
  readonly tripleCount?: string | undefined;
  /** A failure before the first row is answered with one empty solution (SERVICE SILENT), a later one ends the rows. */
  readonly silent: SilentFallback | undefined;
  readonly defaultGraphs: readonly string[];
  readonly namedGraphs: readonly string[];
  /** Where the endpoint answers in part, the answer can have rows that are not in the true one. */
  readonly nonMonotone?: true | undefined;
  /** Absent: nothing was left out by facts. */
  readonly exclusions?: Exclusions | undefined;
  /** Where one member alone answers for a federation: of how many members facts are known. */
  readonly facts?: FactsKnown | undefined;
  readonly notes: readonly PlanNote[];
}

/** Fallback for a failed SILENT endpoint: `query` evaluated in Fedway, with the SERVICE replaced by the empty group. */
export interface SilentFallback {
  /** The user's query with every SERVICE body replaced by `{}`; evaluated over the empty dataset. */
  readonly query: string;
}

/** One endpoint that a federated plan reads from. */
export interface FederationMember {
  readonly endpoint: PlannedEndpoint;
  /** Number of SERVICE clauses that name it; 0 for one that only patterns outside of them are asked at. */
  readonly clauses: number;
  /** Every use of it is in a SILENT clause. */
  readonly silent: boolean;
}

/**
 * Where the patterns outside of every SERVICE find their data: the RDF merge (RDF 1.1 Semantics, section 4.1) of the
 * members' default graphs, and of their named graphs of one name. Each pattern is asked at every member that `selection` does not leave out.
 */
export interface MergedMembers {
  /** Catalogue id of the federation; absent when a single endpoint that does not speak SPARQL is queried. */
  readonly federation?: string;
  readonly members: readonly PlannedEndpoint[];
  /** A member without facts is asked only for what its description names. */
  readonly onlyNamed?: true | undefined;
  /** Absent: nothing is known, so every pattern is asked at every member. */
  readonly selection?: SourceSelection | undefined;
  /** Missing matches of a pattern can add rows to the answer that are not in the true one. */
  readonly nonMonotone?: true | undefined;
}

/** The query is evaluated here and its SERVICE clauses at their endpoints. No member at all: over the empty dataset. */
export interface FederatedPlan {
  readonly kind: "federated";
  readonly answer: AnswerKind;
  /** SPARQL 1.1 text in which every remaining SERVICE names a member by its absolute IRI. */
  readonly query: string;
  /** Absent where they are not known. */
  readonly columns?: PlannedColumns | undefined;
  /** `query` with a placeholder for the body of each SERVICE clause: `SERVICE <urn:fedway:clause:N> { ... ?its, ?variables }`. */
  readonly skeleton: string;
  /** The clauses of the skeleton, in order of N. */
  readonly clauses: readonly FederatedClause[];
  /** The data of patterns outside of every SERVICE; absent: they have none. */
  readonly over?: MergedMembers | undefined;
  /** Every endpoint that takes part, those of `over` included. */
  readonly members: readonly FederationMember[];
  /** Absent: nothing was left out by facts. */
  readonly exclusions?: Exclusions | undefined;
  readonly notes: readonly PlanNote[];
}

/** The query is legal SPARQL but is not executed; the reason is data. */
interface RejectedPlan {
  readonly kind: "rejected";
  readonly reason: FedwayError;
}

/** Plan of a query; a printable, comparable value. */
export type QueryPlan = DirectPlan | FederatedPlan | RejectedPlan;

/** Catalogue ids of the endpoints that a plan uses; it has each of them once. */
export function usedIds(plan: QueryPlan): readonly string[] {
  if (plan.kind === "rejected") return [];
  const endpoints: readonly PlannedEndpoint[] =
    plan.kind === "direct" ? [plan.endpoint] : plan.members.map(({ endpoint }) => endpoint);
  return endpoints.flatMap(({ id }) => id ?? []);
}

/** Of how many members of the federation that a plan is for facts are known; undefined where sources were not chosen by them. */
export function factsKnown(plan: QueryPlan): FactsKnown | undefined {
  if (plan.kind === "rejected") return undefined;
  return plan.kind === "direct" ? plan.facts : plan.over?.selection?.facts;
}

/** A variable that a clause can bind. */
export interface ClauseVariable extends Omit<ClauseText["variables"][number], "kind"> {
  /** Kind that all of its values have, where known. */
  readonly kind?: ValueKind | undefined;
  /** About how many different values it has, where something is known. */
  readonly values?: number | undefined;
}

/** One SERVICE clause of a federated plan, taken out of the query. */
export interface FederatedClause extends Omit<ClauseText, "variables"> {
  readonly endpoint: PlannedEndpoint;
  /**
   * Variable whose values name the endpoints (`SERVICE ?g`), bound by what the clause is joined with; the URL of `endpoint` is
   * then `?` and its name. The pattern may mention it or not.
   */
  readonly targetVariable?: string | undefined;
  readonly variables: readonly ClauseVariable[];
  /** Variables whose values the EXISTS around the clause substitutes: keys for them go where `substitution` says. */
  readonly substituted?: readonly string[];
  /** Each solution is wanted once. */
  readonly distinct?: true | undefined;
  /** Any solutions of this number are enough. */
  readonly limit?: number | undefined;
  /** Its endpoint is known to lack a construct that it uses: it is evaluated in Fedway over the endpoint's triples. */
  readonly evaluatedHere?: true;
  /** Solutions that are expected of it, where something is known. */
  readonly estimate?: number | undefined;
}
