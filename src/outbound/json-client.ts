import type { FedwayError } from "../errors/fedway-error.ts";
import { vettedUrl } from "./address-guard.ts";
import { answerTooLarge } from "./answer.ts";
import { CollectedBody, Exchange } from "./exchange.ts";
import { headerOf } from "./media-types.ts";
import { type Network, networkClosed, type NetworkOptions, openNetwork } from "./network.ts";
import { parseRetryAfter } from "./refusals.ts";
import { hostTurn, Task } from "./task.ts";

/** One JSON document for one receiver: a webhook's message, or a request to the API of a language model. */
export interface JsonRequest {
  /** Absolute http(s) URL without userinfo; never in a message of an error. */
  readonly url: string;
  /** Author of the URL. "operator": he alone can have written it, in a setting or a file of his own; it may be private. */
  readonly urlBy?: "operator" | undefined;
  /** Beside those of the client; they may hold a key, and redirects, which would carry it elsewhere, are not followed. */
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text. */
  readonly body: string;
  readonly signal: AbortSignal;
  /** Milliseconds from now. */
  readonly timeoutMs: number;
  /** Most bytes of an answer that is read; absent: the status is all that is asked for. */
  readonly maxAnswerBytes?: number | undefined;
}

/** How a receiver answered, whatever the status. */
export interface JsonReply {
  readonly status: number;
  /** `Retry-After`, at most 15 minutes. */
  readonly retryAfterMs?: number | undefined;
  /** The whole body, where it is read. */
  readonly text?: string;
}

/** Posts JSON: with the address guard and without redirects. */
export interface JsonClient {
  /**
   * Once; nothing is sent again.
   * @throws FedwayError `ADDRESS_REFUSED`, `ENDPOINT_UNREACHABLE`, `ENDPOINT_TIMEOUT`, `ENDPOINT_MALFORMED`,
   *   `ENDPOINT_BUSY`, `DEADLINE_EXCEEDED`, `CANCELLED`; where the answer is read also `ENDPOINT_BROKE_OFF` and `ANSWER_TOO_LARGE`
   */
  post(request: JsonRequest): Promise<JsonReply>;
  /** Closes its network. */
  close(): Promise<void>;
}

/** Bytes of an answer that are read and dropped, so that its connection can be used again. */
const droppedBytes = 65_536;

/**
 * A client that posts JSON.
 * @throws FedwayError `CONFIG_INVALID` when an address exception is not a CIDR range
 */
export function createJsonClient(options: NetworkOptions, network: Network = openNetwork(options)): JsonClient {
  return {
    async post(request) {
      if (network.closed) throw networkClosed();
      const { signal, timeoutMs } = request;
      const task = new Task({ signal, deadlineMs: network.clock.now() + timeoutMs }, network);
      try {
        if (request.urlBy === "operator") task.route = network.operators;
        const url = vettedUrl(request.url, task.route.guard);
        task.host = network.rateHost(url);
        await hostTurn(task);
        return await send(url, request, { task, network });
      } finally {
        task.end();
      }
    },
    close: () => network.close(),
  };
}

function send(
  { origin, pathname, search }: URL,
  request: JsonRequest,
  { task, network }: { readonly task: Task; readonly network: Network },
): Promise<JsonReply> {
  const headers = Object.entries({
    accept: "*/*",
    "accept-encoding": "identity",
    "content-type": "application/json",
    "user-agent": network.userAgent,
    ...request.headers,
  }).flat();
  const { maxAnswerBytes } = request;
  return task.wait((resolve, reject) => {
    let reply: JsonReply | undefined;
    const settle = (error: FedwayError | undefined, text?: string): void => {
      if (error === undefined && reply !== undefined) resolve(text === undefined ? reply : { ...reply, text });
      // Once the status has come the message was taken or not, however the body goes on.
      else if (reply !== undefined && maxAnswerBytes === undefined) resolve(reply);
      else if (error !== undefined) reject(error);
    };
    const finish = (pieces: readonly Buffer[], error: FedwayError | undefined): void => {
      if (error !== undefined || maxAnswerBytes === undefined) return settle(error);
      const body = Buffer.concat(pieces);
      return body.length > maxAnswerBytes ? settle(answerTooLarge(maxAnswerBytes)) : settle(undefined, body.toString());
    };
    const exchange = new Exchange(task, {
      fault: settle,
      head(status, responseHeaders) {
        const retryAfterMs = parseRetryAfter(headerOf(responseHeaders, "retry-after"), network.clock.now());
        reply = { status, retryAfterMs };
        return new CollectedBody({ limit: { bytes: maxAnswerBytes ?? droppedBytes, exchange }, done: finish });
      },
    });
    exchange.send({ method: "POST", origin, path: pathname + search, body: Buffer.from(request.body), headers });
    return (error) => {
      settle(error);
      exchange.abort(error);
    };
  });
}
