import type { FedwayError } from "../errors/fedway-error.ts";
import { vettedUrl } from "./address-guard.ts";
import { CollectedBody } from "./collected-body.ts";
import { Exchange } from "./exchange.ts";
import { headerOf } from "./media-types.ts";
import { type Network, networkClosed, type NetworkOptions, openNetwork } from "./network.ts";
import { parseRetryAfter } from "./refusals.ts";
import { Task } from "./task.ts";
import { hostTurn } from "./waiting.ts";

/** One message for one receiver. */
export interface WebhookRequest {
  /** Absolute http(s) URL without userinfo; never in a message of an error. */
  readonly url: string;
  /** Beside those of the client. */
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text. */
  readonly body: string;
  readonly signal: AbortSignal;
  /** Milliseconds from now. */
  readonly timeoutMs: number;
}

/** How a receiver answered, whatever the status. */
export interface WebhookReply {
  readonly status: number;
  /** `Retry-After`, at most 15 minutes. */
  readonly retryAfterMs?: number | undefined;
}

/** Sends messages to receivers: with the address guard, without redirects, and without reading what they answer. */
export interface WebhookClient {
  /**
   * Once; nothing is sent again.
   * @throws FedwayError `ADDRESS_REFUSED`, `ENDPOINT_UNREACHABLE`, `ENDPOINT_TIMEOUT`, `ENDPOINT_MALFORMED`,
   *   `ENDPOINT_BUSY`, `DEADLINE_EXCEEDED`, `CANCELLED`
   */
  post(request: WebhookRequest): Promise<WebhookReply>;
  /** Closes its network. */
  close(): Promise<void>;
}

/** Bytes of an answer that are read and dropped, so that its connection can be used again. */
const maxAnswerBytes = 65_536;

/**
 * A client for webhooks.
 * @throws FedwayError `CONFIG_INVALID` when an address exception is not a CIDR range
 */
export function createWebhookClient(options: NetworkOptions, network: Network = openNetwork(options)): WebhookClient {
  return {
    async post(request) {
      if (network.closed) throw networkClosed();
      const { signal, timeoutMs } = request;
      const task = new Task({ signal, deadlineMs: network.clock.now() + timeoutMs }, network);
      try {
        const url = vettedUrl(request.url, network.guard);
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
  request: WebhookRequest,
  { task, network }: { readonly task: Task; readonly network: Network },
): Promise<WebhookReply> {
  const headers = Object.entries({
    accept: "*/*",
    "accept-encoding": "identity",
    "content-type": "application/json",
    "user-agent": network.userAgent,
    ...request.headers,
  }).flat();
  return task.wait((resolve, reject) => {
    // Once the status has come the message was taken or not, however the body goes on.
    let reply: WebhookReply | undefined;
    const settle = (error: FedwayError | undefined): void => {
      if (reply !== undefined) resolve(reply);
      else if (error !== undefined) reject(error);
    };
    const exchange = new Exchange(task, {
      fault: settle,
      head(status, responseHeaders) {
        const retryAfterMs = parseRetryAfter(headerOf(responseHeaders, "retry-after"), network.clock.now());
        reply = { status, retryAfterMs };
        const limit = { bytes: maxAnswerBytes, exchange };
        return new CollectedBody({ limit, done: (_pieces, error) => settle(error) });
      },
    });
    exchange.send({ method: "POST", origin, path: pathname + search, body: Buffer.from(request.body), headers });
    return (error) => {
      settle(error);
      exchange.abort(error);
    };
  });
}
