import type { Readable } from "node:stream";
import type { AnswerKind } from "../results/model.ts";

/** A query for a hosted endpoint. */
export interface HostedQuery {
  readonly query: string;
  readonly kind: AnswerKind;
  /** Accept header. */
  readonly accept: string;
  readonly defaultGraphs?: readonly string[];
  readonly namedGraphs?: readonly string[];
  /** Whose query it is; clients take turns. Absent: the service's own. */
  readonly client?: string | undefined;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** A whole answer, serialised in the worker. */
export interface HostedAnswer {
  readonly mediaType: string;
  readonly body: Buffer;
  /**
   * The same bytes for who sends them on, absent when they are few: whoever has the answer reads or destroys it. It fails
   * when too much waits to be read.
   */
  readonly stream?: Readable;
}

/** An Oxigraph store in a worker thread. A query never blocks the event loop; one that exceeds its time ends the worker. */
export interface HostedEndpoint {
  readonly id: string;
  /** @throws FedwayError `QUERY_SYNTAX`, `ENDPOINT_TIMEOUT`, `ENDPOINT_FAILED`, `ENDPOINT_BUSY`, `ANSWER_TOO_LARGE`, `CANCELLED`, `UPDATE_REFUSED` */
  query(request: HostedQuery): Promise<HostedAnswer>;
  close(): Promise<void>;
}
