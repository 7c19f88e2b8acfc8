import type { Readable } from "node:stream";
import type { ResultFormat } from "../results/formats.ts";
import type { QueryResult } from "../results/model.ts";
import type { ExecutionBounds } from "./federation-engine.ts";

/** What the client accepts. */
export interface AcceptedAnswer {
  readonly format: ResultFormat;
  /** The client's Accept-Encoding; absent: no coding. */
  readonly acceptEncoding?: string | undefined;
}

/** The bytes of an answer in the accepted format. */
export interface AnswerBytes {
  readonly contentEncoding: string;
  /** A verified buffer or `GatheredBody`, or a stream that is destroyed with a `FedwayError` when the answer breaks off. */
  readonly body: Buffer | Readable;
  /** Rows or triples of a whole body, where the format tells. */
  readonly rows?: number | undefined;
  /** Settles at the answer's end with its rows, where the format tells; absent when the body is whole. */
  readonly end?: Promise<number | undefined>;
}

/** Executes plans of one kind. */
export interface Executor<P> {
  /** @throws FedwayError for what fails before the first byte */
  fetch(plan: P, accepted: AcceptedAnswer, bounds: ExecutionBounds): Promise<AnswerBytes>;
  /** The parsed answer. @throws FedwayError as above; the result's stream fails later ones */
  evaluate(plan: P, bounds: ExecutionBounds): Promise<QueryResult>;
}
