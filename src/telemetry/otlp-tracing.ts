import {
  type Context,
  ROOT_CONTEXT,
  type Span as OtelSpan,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
} from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { resourceFromAttributes } from "@opentelemetry/resources";
import {
  AlwaysOnSampler,
  BasicTracerProvider,
  BatchSpanProcessor,
  ParentBasedSampler,
} from "@opentelemetry/sdk-trace-base";
import type { AttributeValue, Span, SpanContext, SpanOptions, Tracing } from "./tracing.ts";
import { Agent as HttpAgent, type ClientRequestArgs } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";

/** Where traces go. Times in milliseconds. */
export interface OtlpTracingOptions {
  /** Base URL of a collector; spans are posted to its `/v1/traces` (OTLP/HTTP, JSON). */
  readonly endpoint: string;
  readonly version: string;
  /** Spans that wait; more are dropped. Default 4,096. */
  readonly maxQueue?: number;
  /** Time between two posts when there is little to post; default 2,000. */
  readonly everyMs?: number;
  /** Time of one post, its retries and its answer included; default 5,000. */
  readonly exportMs?: number;
  /** Time that closing may take; default 2,000. */
  readonly closeMs?: number;
}

const batchSize = 512;
const kinds = { server: SpanKind.SERVER, client: SpanKind.CLIENT } as const;
const longestValue = 256;

/**
 * A tracer over OpenTelemetry. Spans wait in a bounded queue and are posted in batches, two posts at a time; what a
 * collector that is down, slow or hostile does not take is dropped without delaying anything. A trace that comes in with
 * `traceparent` is recorded when its sender records it, all others are. `OTEL_EXPORTER_OTLP_HEADERS` and the other
 * variables of the exporter hold for what nothing is said about here, as everywhere with OpenTelemetry.
 */
export function createOtlpTracing(options: OtlpTracingOptions): Tracing {
  const { endpoint, version } = options;
  const { maxQueue = 4096, everyMs = 2000, exportMs = 5000, closeMs = 2000 } = options;
  const agents = createExportAgents(exportMs);
  const exporter = new OTLPTraceExporter({
    url: `${endpoint.replace(/(?<!\/)\/+$/, "")}/v1/traces`,
    timeoutMillis: exportMs,
    concurrencyLimit: 2,
    userAgent: `fedway/${version}`,
    httpAgentOptions: agents.of,
  });
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({ "service.name": "fedway", "service.version": version }),
    sampler: new ParentBasedSampler({ root: new AlwaysOnSampler() }),
    spanLimits: { attributeValueLengthLimit: longestValue, attributeCountLimit: 32 },
    spanProcessors: [
      new BatchSpanProcessor(exporter, {
        maxQueueSize: maxQueue,
        maxExportBatchSize: Math.min(batchSize, maxQueue),
        scheduledDelayMillis: everyMs,
        exportTimeoutMillis: exportMs + 1000,
      }),
    ],
  });
  const tracer = provider.getTracer("fedway", version);
  return {
    startSpan(name, { kind, parent, traceparent, attributes = {} }: SpanOptions = {}) {
      const under = parent === undefined ? remote(traceparent) : asContext(parent);
      const span = tracer.startSpan(
        name,
        { kind: kind === undefined ? SpanKind.INTERNAL : kinds[kind], attributes },
        under,
      );
      return new OpenSpan(span);
    },
    async close() {
      await within(closeMs, provider.shutdown());
      agents.close();
    },
  };
}

/** A span of OpenTelemetry behind the port. */
class OpenSpan implements Span {
  readonly #span: OtelSpan;
  readonly context: SpanContext;

  constructor(span: OtelSpan) {
    this.#span = span;
    this.context = span;
  }

  get traceId(): string {
    return this.#span.spanContext().traceId;
  }

  setAttribute(name: string, value: AttributeValue): void {
    this.#span.setAttribute(name, value);
  }

  end(error?: string): void {
    if (!this.#span.isRecording()) return;
    if (error !== undefined) this.#span.setStatus({ code: SpanStatusCode.ERROR, message: error });
    this.#span.end();
  }
}

const isSpan = (value: unknown): value is OtelSpan =>
  typeof value === "object" && value !== null && "spanContext" in value;

const asContext = (parent: SpanContext): Context =>
  isSpan(parent) ? trace.setSpan(ROOT_CONTEXT, parent) : ROOT_CONTEXT;

function remote(traceparent: string | undefined): Context {
  const parent = traceparent === undefined ? undefined : parseTraceparent(traceparent);
  if (parent === undefined) return ROOT_CONTEXT;
  const { traceId, spanId, sampled } = parent;
  const traceFlags = sampled ? TraceFlags.SAMPLED : TraceFlags.NONE;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true });
}

/** Waits for the work, but not for longer, and not for its success. */
async function within(ms: number, work: Promise<unknown>): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  await Promise.race([work.catch(() => {}), late]);
  clearTimeout(timer);
}

/**
 * Agents whose connections serve one request each and end after `lifeMs`, however slowly an answer drips: the exporter's own
 * time limit is that of silence.
 */
function createExportAgents(lifeMs: number) {
  const sockets = new Set<Socket | Duplex>();
  const agents: HttpAgent[] = [];
  let closed = false;

  const limit = (socket: Socket | Duplex): void => {
    const timer = setTimeout(() => socket.destroy(new Error("the collector took too long")), lifeMs);
    timer.unref();
    sockets.add(socket);
    socket.once("close", () => {
      clearTimeout(timer);
      sockets.delete(socket);
    });
  };
  const limited = <Agent extends HttpAgent>(agent: Agent): Agent => {
    const connect = agent.createConnection.bind(agent);
    agent.createConnection = (options: ClientRequestArgs, callback) => {
      if (closed) throw new Error("closed");
      const socket = connect(options, callback);
      if (socket) limit(socket);
      return socket;
    };
    agents.push(agent);
    return agent;
  };
  return {
    /** The agent of a protocol, `http:` or `https:`. */
    of: (protocol: string): HttpAgent =>
      limited(protocol === "https:" ? new HttpsAgent({ keepAlive: false }) : new HttpAgent({ keepAlive: false })),
    /** Ends every connection and lets no other begin. */
    close(): void {
      closed = true;
      for (const socket of sockets) socket.destroy();
      for (const agent of agents) agent.destroy();
    },
  };
}

const shape = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.{0,200})?$/;
const zeros = /^0+$/;

/**
 * The span of another process in a `traceparent` header (W3C Trace Context, section 3.2): ids in hexadecimal, not all 0, and
 * whether that process records it. Undefined when it is not exactly right; versions to come may add fields at the end.
 */
export function parseTraceparent(
  text: string,
): { readonly traceId: string; readonly spanId: string; readonly sampled: boolean } | undefined {
  const [, version, traceId = "0", spanId = "0", flags = "0", more] = shape.exec(text) ?? [];
  if (version === undefined || version === "ff" || (version === "00" && more !== undefined)) return undefined;
  if (zeros.test(traceId) || zeros.test(spanId)) return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}
