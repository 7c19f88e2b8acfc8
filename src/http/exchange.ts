import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { clientOf } from "../clients/client-name.ts";
import { FedwayError } from "../errors/fedway-error.ts";
import type { Span, Tracer } from "../telemetry/tracing.ts";
import type { HttpDeps } from "./http-deps.ts";

type ObservedRequest = Parameters<HttpDeps["metrics"]["observeRequest"]>[0];

/** State of one request until its response is over. */
interface Exchange {
  readonly startedMs: number;
  /** Bytes the connection had carried before this response. */
  readonly bytesBefore: number;
  /** Pattern of the route; filled in by routes on the hot path, looked up otherwise. */
  route: string | undefined;
  run: string | undefined;
  /** Set by routes that start work upstream. */
  aborter: AbortController | undefined;
  /** Code of the error that was answered, or that cut the answer off. */
  code: string | undefined;
  /** The response was ended before it was complete, and visibly so. */
  cutOff: boolean;
  /** Query text, kept only when the log is to show it. */
  query: string | undefined;
  /** Absent when nothing is traced. */
  readonly span: Span | undefined;
}

declare module "fastify" {
  interface FastifyRequest {
    exchange: Exchange;
  }
}

/** A signal that aborts when the client closes the connection before the response is complete. */
export function clientSignal(exchange: Exchange): AbortSignal {
  exchange.aborter ??= new AbortController();
  return exchange.aborter.signal;
}

/** Status for logs and metrics: 499 when the client left, 502 when the answer was cut off after a good status line. */
function finalStatus(exchange: Exchange, reply: FastifyReply): number {
  if (exchange.cutOff) return 502;
  return reply.raw.writableFinished ? reply.raw.statusCode : 499;
}

function openExchange(request: FastifyRequest, tracer: Tracer | undefined): Exchange {
  return {
    startedMs: performance.now(),
    bytesBefore: request.raw.socket.bytesWritten,
    route: undefined,
    run: undefined,
    aborter: undefined,
    code: undefined,
    cutOff: false,
    query: undefined,
    span: tracer?.startSpan("request", { kind: "server", traceparent: traceparentOf(request) }),
  };
}

const traceparentOf = ({ headers }: FastifyRequest): string | undefined =>
  typeof headers["traceparent"] === "string" ? headers["traceparent"] : undefined;

function endSpan(span: Span, observed: ObservedRequest, { run, code, cutOff }: Exchange): void {
  span.setAttribute("http.request.method", observed.method);
  span.setAttribute("http.route", observed.route);
  span.setAttribute("http.response.status_code", observed.status);
  if (run !== undefined) span.setAttribute("fedway.run", run);
  if (code !== undefined) span.setAttribute("fedway.code", code);
  span.end(cutOff || observed.status >= 500 ? (code ?? String(observed.status)) : undefined);
}

/** Opens an exchange for every request; one `close` listener serves cancellation, metrics, trace and the log line. */
export function observeExchanges(app: FastifyInstance, { metrics, logger: log, tracer }: HttpDeps): void {
  const finish = (request: FastifyRequest, reply: FastifyReply): void => {
    const { exchange, raw } = request;
    if (!reply.raw.writableFinished) {
      // Also for work that is yet to start.
      exchange.aborter ??= new AbortController();
      exchange.aborter.abort(new FedwayError("CANCELLED", "The client closed the connection."));
    }
    const ms = performance.now() - exchange.startedMs;
    const route = exchange.route ?? request.routeOptions.url ?? "unmatched";
    const status = finalStatus(exchange, reply);
    const method = raw.method ?? "";
    // Absent for requests that were refused before.
    const owner = (request.caller as FastifyRequest["caller"] | undefined)?.owner;
    const observed = { route, method, status, seconds: ms / 1000, owner };
    metrics.observeRequest(observed);
    if (exchange.span) endSpan(exchange.span, observed, exchange);
    log?.request?.({
      id: request.id,
      method,
      route,
      status,
      // To a tenth.
      ms: Math.round(ms * 10) / 10,
      bytes: raw.socket.bytesWritten - exchange.bytesBefore,
      client: clientOf(owner),
      run: exchange.run,
      code: exchange.code,
      cutOff: exchange.cutOff || undefined,
      query: exchange.query,
      trace: exchange.span?.traceId,
    });
  };
  app.decorateRequest("exchange");
  app.addHook("onRequest", (request, reply, done) => {
    request.exchange = openExchange(request, tracer);
    reply.raw.once("close", () => finish(request, reply));
    done();
  });
}
