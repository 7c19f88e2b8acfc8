import { FedwayError } from "../errors/fedway-error.ts";
import { type AddressGuard, addressRefused, createAddressGuard } from "./address-guard.ts";
import { type Clock, systemClock } from "../clock.ts";
import { CollectedBody } from "./collected-body.ts";
import { Exchange } from "./exchange.ts";
import { headerOf, type ResponseHeaders } from "./headers.ts";
import { defaultTimeouts, type SparqlClientOptions, userAgent } from "./options.ts";
import { parseRetryAfter } from "./retry.ts";
import { createStopwatch, type Stopwatch } from "./stopwatch.ts";
import { createUpstream, type Upstream } from "./upstream.ts";

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
  readonly retryAfterMs?: number;
}

/** Sends messages to receivers: with the address guard, without redirects, and without reading what they answer. */
export interface WebhookClient {
  /**
   * Once; nothing is sent again.
   * @throws FedwayError `ADDRESS_REFUSED`, `ENDPOINT_UNREACHABLE`, `ENDPOINT_TIMEOUT`, `ENDPOINT_MALFORMED`,
   *   `DEADLINE_EXCEEDED`, `CANCELLED`
   */
  post(request: WebhookRequest): Promise<WebhookReply>;
  /** Ends everything under way and all connections. */
  close(): Promise<void>;
}

/** What a webhook client is built from; the values the SPARQL client gets. */
export type WebhookClientOptions = Pick<
  SparqlClientOptions,
  "version" | "contact" | "allowAddresses" | "timeouts" | "resolveHost" | "ca" | "clock"
>;

interface Context {
  readonly guard: AddressGuard;
  readonly upstream: Upstream;
  readonly clock: Clock;
  readonly userAgent: string;
}

const connections = 2;
/** Bytes of an answer that are put up with, so that its connection can be used again. */
const maxAnswerBytes = 65_536;

/**
 * A client for webhooks.
 * @throws FedwayError `CONFIG_INVALID` when an address exception is not a CIDR range
 */
export function createWebhookClient(options: WebhookClientOptions): WebhookClient {
  const { clock = systemClock, resolveHost, ca } = options;
  const guard = createAddressGuard(options.allowAddresses);
  const upstream = createUpstream({ guard, connections, ...defaultTimeouts, ...options.timeouts, resolveHost, ca });
  const context: Context = { guard, upstream, clock, userAgent: userAgent(options.version, options.contact) };
  const running = new Set<Stopwatch>();
  let closed = false;
  return {
    async post(request) {
      if (closed) throw shuttingDown();
      const watch = createStopwatch(request, clock);
      running.add(watch);
      try {
        return await send(request, watch, context);
      } finally {
        watch.end();
        running.delete(watch);
      }
    },
    async close() {
      closed = true;
      for (const watch of running) watch.stop(shuttingDown());
      await upstream.close();
    },
  };
}

const shuttingDown = (): FedwayError => new FedwayError("CANCELLED", "The service is shutting down.");

function vetted(text: string, guard: AddressGuard): URL {
  const url = URL.parse(text);
  if (url === null) throw addressRefused("not an absolute URL");
  const refused = guard.refuseUrl(url);
  if (refused !== undefined) throw refused;
  return url;
}

function send(request: WebhookRequest, watch: Stopwatch, context: Context): Promise<WebhookReply> {
  const { origin, pathname, search } = vetted(request.url, context.guard);
  const headers = Object.entries({
    accept: "*/*",
    "accept-encoding": "identity",
    "content-type": "application/json",
    "user-agent": context.userAgent,
    ...request.headers,
  }).flat();
  return watch.wait((resolve, reject) => {
    // Once the status has come the message was taken or not, however the body goes on.
    let reply: WebhookReply | undefined;
    const settle = (error: FedwayError | undefined): void => {
      if (reply !== undefined) resolve(reply);
      else if (error !== undefined) reject(error);
    };
    const exchange = new Exchange(context.upstream, {
      fault: settle,
      head(status, responseHeaders, self) {
        reply = replyOf(status, responseHeaders, context.clock);
        return new CollectedBody({ exchange: self, maxBytes: maxAnswerBytes, done: (_body, error) => settle(error) });
      },
    });
    const path = pathname + search;
    exchange.send({ method: "POST", origin, path, body: Buffer.from(request.body), contentType: undefined }, headers);
    return (error) => {
      settle(error);
      exchange.abort(error);
    };
  });
}

function replyOf(status: number, headers: ResponseHeaders, clock: Clock): WebhookReply {
  const retryAfterMs = parseRetryAfter(headerOf(headers, "retry-after"), clock.now());
  return { status, ...(retryAfterMs !== undefined && { retryAfterMs }) };
}
