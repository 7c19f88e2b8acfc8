import type { FedwayError } from "../errors/fedway-error.ts";
import type { AnswerKind } from "../results/model.ts";
import type { FederatedClause } from "./federated-clause.ts";

/** An endpoint as a plan names it. `id` is absent for a target outside the catalogue (`FEDWAY_EGRESS=public`). */
export interface PlannedEndpoint {
  readonly id?: string;
  readonly url: string;
  readonly method?: "post-form" | "post-direct" | "get";
}

/** Something the reader should know about what was done to the query; stable code, one sentence. */
export interface PlanNote {
  readonly code:
    | "PATTERN_SENT_ON"
    | "DATASET_IGNORED"
    | "WRAPPERS_MERGED"
    | "SERVICE_LIFTED"
    | "PATTERN_WRAPPED"
    | "GRAPH_EMPTY"
    | "RAW_QUERY"
    | "EVALUATED_HERE";
  readonly message: string;
}

/** The whole query goes to one endpoint. */
export interface DirectPlan {
  readonly kind: "direct";
  readonly answer: AnswerKind;
  readonly endpoint: PlannedEndpoint;
  /** The text that is sent. */
  readonly query: string;
  /** The outermost LIMIT of a SELECT: its answer has no more rows. */
  readonly limit?: number;
  /** A failure before the first byte is answered with one empty solution (SERVICE SILENT). */
  readonly silent: SilentFallback | undefined;
  readonly defaultGraphs: readonly string[];
  readonly namedGraphs: readonly string[];
  readonly notes: readonly PlanNote[];
}

/** What a silenced endpoint failure is answered with: `query` evaluated here, with the SERVICE replaced by the empty group. */
export interface SilentFallback {
  /** The user's query with every SERVICE body replaced by `{}`; evaluated over the empty dataset. */
  readonly query: string;
}

/** One endpoint that a federated plan reads from. */
export interface FederationMember {
  readonly endpoint: PlannedEndpoint;
  /** Number of SERVICE clauses that name it. */
  readonly clauses: number;
  /** Every clause that names it is SILENT. */
  readonly silent: boolean;
}

/** The query is evaluated here and its SERVICE clauses at their endpoints. No member at all: over the empty dataset. */
export interface FederatedPlan {
  readonly kind: "federated";
  readonly answer: AnswerKind;
  /** SPARQL 1.1 text in which every remaining SERVICE names a member by its absolute IRI. */
  readonly query: string;
  /** `query` with a placeholder for the body of each SERVICE clause: `SERVICE <urn:fedway:clause:N> { ... ?its, ?variables }`. */
  readonly skeleton: string;
  /** The clauses of the skeleton, in order of N. */
  readonly clauses: readonly FederatedClause[];
  readonly members: readonly FederationMember[];
  readonly notes: readonly PlanNote[];
}

/** The query is legal SPARQL but is not executed; the reason is data. */
export interface RejectedPlan {
  readonly kind: "rejected";
  readonly reason: FedwayError;
}

/** What will be done with a query; a printable, comparable value. */
export type QueryPlan = DirectPlan | FederatedPlan | RejectedPlan;
