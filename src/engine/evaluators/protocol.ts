import type { FederatedPlan } from "../../plan/query-plan.ts";
import type { ResultFormat } from "../../results/formats.ts";
import type { SparqlAnswer, SparqlRequest } from "../../outbound/sparql-client.ts";
import type { SourceReport } from "../federation-engine.ts";
import type { SourceDocument, SourceDocumentRequest } from "../sources/document-client.ts";

/** What an evaluator process is started with. */
export interface EvaluatorLimits {
  readonly maxSolutions: number;
  readonly maxHeldBytes: number;
}

/** `run`: evaluate a plan; the head comes with the first byte, the body is the answer in the format. */
export interface RunParams {
  readonly run: number;
  readonly plan: FederatedPlan;
  readonly format: ResultFormat;
  readonly partial: boolean;
  /** Milliseconds that are left. Clocks of two processes are never compared. */
  readonly timeoutMs: number;
}

/** A note of `run`, now and then and before its head and its end: what the endpoints have contributed. */
export type RunNote = readonly SourceReport[];

/** The end of `run`. */
export interface RunEnd {
  readonly rows: number | undefined;
}

/** `query`: asked by an evaluator for one of its runs; the body is the endpoint's answer, decoded. */
export interface QueryParams extends Omit<SparqlRequest, "signal" | "deadlineMs" | "trace"> {
  readonly run: number;
  readonly timeoutMs: number;
}

/** The head of an answer to `query`; its end is an `AnswerEnd`. */
export type QueryHead = Omit<SparqlAnswer, "body" | "end" | "whole">;

/** `document`: asked by an evaluator; the body is the document as it came, decoded. */
export interface DocumentParams extends Omit<SourceDocumentRequest, "signal" | "trace" | "maxQuads"> {
  readonly run: number;
}

/** The head of a document. */
export type DocumentHead = Pick<SourceDocument, "url" | "mediaType">;

/** The head of an answer to `ping`. */
export interface Pong {
  readonly residentBytes: number;
}
