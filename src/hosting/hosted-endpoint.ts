import type { AnswerKind } from "../results/model.ts";

/** A query for a hosted endpoint. */
export interface HostedQuery {
  readonly query: string;
  readonly kind: AnswerKind;
  /** Accept header. */
  readonly accept: string;
  readonly defaultGraphs?: readonly string[];
  readonly namedGraphs?: readonly string[];
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** A whole answer, serialised in the worker. */
export interface HostedAnswer {
  readonly mediaType: string;
  readonly body: Buffer;
}

/** An Oxigraph store in a worker thread. A query never blocks the event loop; one that exceeds its time ends the worker, which reloads. */
export interface HostedEndpoint {
  readonly id: string;
  readonly triples: number;
  /** @throws FedwayError `QUERY_SYNTAX`, `ENDPOINT_TIMEOUT`, `ENDPOINT_FAILED`, `ANSWER_TOO_LARGE`, `CANCELLED`, `UPDATE_REFUSED` */
  query(request: HostedQuery): Promise<HostedAnswer>;
  close(): Promise<void>;
}
