import type { FederatedClause, FederatedPlan } from "../../plan/query-plan.ts";
import type { HolderQuestion } from "../../plan/source-selection.ts";
import type { EndpointQuery, EndpointTarget } from "../../outbound/sparql-request.ts";
import type { ResultFormat } from "../../results/formats.ts";
import type { PartialAnswers } from "../execution-bounds.ts";
import type { HeadLimits } from "../held-head.ts";
import type { SourceReport, StepReport } from "../reports.ts";

// What crosses between the service and an evaluator process. Their clocks are never compared: times are milliseconds that
// are left. A run is a number that the service gives.

/** Argument of an evaluator's script. */
export interface EvaluatorLimits extends HeadLimits {
  readonly maxSolutions: number;
  readonly maxHeldBytes: number;
}

/** A call of the service to an evaluator. A ping is answered as soon as it can take runs. */
export type EvaluatorCall = RunCall | { readonly method: "ping" };

/**
 * Evaluates a plan. The head, which is empty, comes with the first byte; the body is the answer in the format; the end is a
 * `RunEnd`.
 */
export interface RunCall {
  readonly method: "run";
  readonly run: number;
  readonly plan: FederatedPlan;
  readonly format: ResultFormat;
  readonly provenance: boolean;
  readonly partial: PartialAnswers;
  readonly timeoutMs: number;
}

/** The end of a run. */
export interface RunEnd {
  readonly rows: number | undefined;
}

/** A note of a run, also before its head and its end: what endpoints have contributed, and what each step took. */
export interface RunNote {
  readonly sources: readonly SourceReport[];
  readonly steps: readonly (readonly [name: string, step: StepReport])[];
}

/** A call of an evaluator to the service, for everything outside its process. */
export type ServiceCall = QueryCall | DocumentCall | HoldersCall | ClauseAtCall | FoundCall;

/** Asks an endpoint. The head is an `AnswerHead`, the body the decoded answer, the end an `AnswerEnd`. */
export interface QueryCall {
  readonly method: "query";
  readonly run: number;
  readonly query: EndpointQuery;
  readonly timeoutMs: number;
}

/** Fetches a document. The head is a `DocumentHead`, the body the decoded document. */
export interface DocumentCall {
  readonly method: "document";
  readonly run: number;
  readonly url: string;
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly namedGraphs?: boolean | undefined;
  /** Catalogue id of the endpoint. */
  readonly endpoint?: string | undefined;
}

/** Where a document came from, and its format. */
export interface DocumentHead {
  /** After redirects. */
  readonly url: string;
  readonly mediaType: string;
}

/** Asks which keys members may have solutions for. The head is a `HeldRows`, or undefined if unknown. */
interface HoldersCall {
  readonly method: "holders";
  readonly run: number;
  readonly question: HolderQuestion;
}

/** Asks for a clause at an endpoint that data name. The head is that clause, or undefined if data may not name endpoints. */
interface ClauseAtCall {
  readonly method: "clause-at";
  readonly clause: FederatedClause;
  readonly iri: string;
}

/** Reports that an endpoint was found to know VALUES, or not. */
interface FoundCall {
  readonly method: "found";
  readonly endpoint: EndpointTarget;
  readonly lacksValues: boolean;
}
