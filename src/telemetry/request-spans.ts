import type { SpanContext, Tracer } from "./tracing.ts";

/** A request that leaves the service; the transport's `RequestStart` fits. */
interface StartedRequest {
  readonly endpoint: string;
  readonly attempt: number;
  readonly trace: SpanContext;
}

/** How it ended; the transport's `RequestEnd` fits. */
interface EndedRequest {
  readonly outcome: string;
  readonly status: number | undefined;
  readonly wireBytes: number;
}

/** Outcomes that are no failure of the endpoint. */
const harmless: ReadonlySet<string> = new Set(["ok", "partial", "cancelled", "asked-again", "http-3xx"]);

/** An observer of the transport that makes one span of every request to an endpoint. */
export function createRequestSpans(tracer: Tracer): (request: StartedRequest) => (end: EndedRequest) => void {
  return ({ endpoint, attempt, trace }) => {
    const span = tracer.startSpan("upstream request", {
      kind: "client",
      parent: trace,
      attributes: { "fedway.endpoint": endpoint, "fedway.attempt": attempt },
    });
    return ({ outcome, status, wireBytes }) => {
      span.setAttribute("fedway.outcome", outcome);
      if (status !== undefined) span.setAttribute("http.response.status_code", status);
      span.setAttribute("http.response.body.size", wireBytes);
      span.end(harmless.has(outcome) ? undefined : outcome);
    };
  };
}
