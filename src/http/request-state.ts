import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { clientOf } from "../clients/client-name.ts";
import { FedwayError } from "../errors/fedway-error.ts";
import type { Span, Tracer } from "../telemetry/tracing.ts";
import type { HttpDeps } from "./http-deps.ts";

type ObservedRequest = Parameters<HttpDeps["metrics"]["observeRequest"]>[0];

/** State of one request until its response is over. */
interface RequestState {
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
    state: RequestState;
  }
}

/** A signal that aborts when the client closes the connection before the response is complete. */
export function clientSignal(state: RequestState): AbortSignal {
  state.aborter ??= new AbortController();
  return state.aborter.signal;
}

/** Status for logs and metrics: 499 when the client left, 502 when the answer was cut off after a good status line. */
function finalStatus(state: RequestState, reply: FastifyReply): number {
  if (state.cutOff) return 502;
  return reply.raw.writableFinished ? reply.raw.statusCode : 499;
}

function openState(request: FastifyRequest, tracer: Tracer | undefined): RequestState {
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

function endSpan(span: Span, observed: ObservedRequest, { run, code, cutOff }: RequestState): void {
  span.setAttribute("http.request.method", observed.method);
  span.setAttribute("http.route", observed.route);
  span.setAttribute("http.response.status_code", observed.status);
  if (run !== undefined) span.setAttribute("fedway.run", run);
  if (code !== undefined) span.setAttribute("fedway.code", code);
  span.end(cutOff || observed.status >= 500 ? (code ?? String(observed.status)) : undefined);
}

/** Opens the state of every request; one `close` listener serves cancellation, metrics, trace and the log line. */
export function observeRequests(app: FastifyInstance, { metrics, logger: log, tracer }: HttpDeps): void {
  const finish = (request: FastifyRequest, reply: FastifyReply): void => {
    const { state, raw } = request;
    if (!reply.raw.writableFinished) {
      // Also for work that is yet to start.
      state.aborter ??= new AbortController();
      state.aborter.abort(new FedwayError("CANCELLED", "The client closed the connection."));
    }
    const ms = performance.now() - state.startedMs;
    const route = state.route ?? request.routeOptions.url ?? "unmatched";
    const status = finalStatus(state, reply);
    const method = raw.method ?? "";
    // Absent for requests that were refused before.
    const owner = (request.caller as FastifyRequest["caller"] | undefined)?.owner;
    const observed = { route, method, status, seconds: ms / 1000, owner };
    metrics.observeRequest(observed);
    if (state.span) endSpan(state.span, observed, state);
    log?.request?.({
      id: request.id,
      method,
      route,
      status,
      // To a tenth.
      ms: Math.round(ms * 10) / 10,
      bytes: raw.socket.bytesWritten - state.bytesBefore,
      client: clientOf(owner),
      run: state.run,
      code: state.code,
      cutOff: state.cutOff || undefined,
      query: state.query,
      trace: state.span?.traceId,
    });
  };
  app.decorateRequest("state");
  app.addHook("onRequest", (request, reply, done) => {
    request.state = openState(request, tracer);
    reply.raw.once("close", () => finish(request, reply));
    done();
  });
}
