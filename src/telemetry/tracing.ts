/** Values of span attributes: closed sets, numbers and catalogue ids; never query texts, URLs or anything a client sent. */
export type AttributeValue = string | number | boolean;

/** How a span is started. */
export interface SpanOptions {
  /** `server`: a request that came in; `client`: one that went out. Default: work inside. */
  readonly kind?: "server" | "client";
  /** `context` of the span that this one belongs to. */
  readonly parent?: SpanContext;
  /** The `traceparent` header that came in (W3C Trace Context); one that is not exactly right is ignored. */
  readonly traceparent?: string | undefined;
  readonly attributes?: Readonly<Record<string, AttributeValue>>;
}

/** Names a span, to start others under it. Opaque, so that it can be carried by rooms that know nothing of tracing. */
export type SpanContext = unknown;

/** A piece of work that is under way. Nothing throws. */
export interface Span {
  readonly context: SpanContext;
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  setAttribute(name: string, value: AttributeValue): void;
  /** Ends it; `error`, a code of a closed set, says that the work failed. Only the first end counts. */
  end(error?: string): void;
}

/**
 * Makes spans. There is no tracer that does nothing: where no traces are wanted there is no tracer, and `tracer?.startSpan`
 * then evaluates nothing at all. Not in the port: sending the trace on to endpoints: they are third parties and get nothing.
 */
export interface Tracer {
  startSpan(name: string, options?: SpanOptions): Span;
}

/** A tracer that sends its spans somewhere. */
export interface Tracing extends Tracer {
  /** Sends the remaining spans, for a limited time. */
  close(): Promise<void>;
}

/** A request that leaves the service; `outbound`'s `RequestStart` fits. */
interface StartedRequest {
  readonly endpoint: string;
  readonly attempt: number;
  readonly trace: SpanContext;
}

/** How it ended; `outbound`'s `RequestEnd` fits. */
interface EndedRequest {
  readonly outcome: string;
  readonly status: number | undefined;
  readonly wireBytes: number;
}

/** Outcomes that are no failure of the endpoint. */
const harmless: ReadonlySet<string> = new Set(["ok", "partial", "cancelled", "http-3xx"]);

/** An observer of `outbound` that makes one span of every request to an endpoint. */
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

/** A tool's call; `agent`'s `ObservedCall` fits. */
interface StartedToolCall {
  /** Name of a tool that exists. */
  readonly tool: string;
  /** The model's or its client's name of this call; cut to 64 characters. */
  readonly callId?: string | undefined;
  readonly trace?: SpanContext;
}

/**
 * One span of every tool call, in OpenTelemetry's conventions for generative AI: `execute_tool {name}`. Arguments and answers
 * are no part of it.
 */
export function createToolSpans(tracer: Tracer) {
  return ({ tool, callId, trace }: StartedToolCall) => {
    const span = tracer.startSpan(`execute_tool ${tool}`, {
      parent: trace,
      attributes: {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": tool,
        "gen_ai.tool.type": "function",
        ...(callId !== undefined && { "gen_ai.tool.call.id": callId.slice(0, 64) }),
      },
    });
    return {
      context: span.context,
      end(code?: string): void {
        if (code !== undefined) span.setAttribute("error.type", code);
        span.end(code);
      },
    };
  };
}
