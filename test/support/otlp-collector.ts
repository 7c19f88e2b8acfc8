import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { listening } from "./listening.ts";

/** A span as a collector received it. */
export interface CollectedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for a root. */
  readonly parentSpanId: string;
  /** 1 internal, 2 server, 3 client. */
  readonly kind: number;
  /** Nanoseconds since the epoch, as digits. */
  readonly started: string;
  /** Message of an error status. */
  readonly error: string | undefined;
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
}

interface OtlpValue {
  readonly stringValue?: string;
  readonly intValue?: number | string;
  readonly doubleValue?: number;
  readonly boolValue?: boolean;
}

interface OtlpAttribute {
  readonly key: string;
  readonly value: OtlpValue;
}

interface OtlpSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly attributes: readonly OtlpAttribute[];
  readonly status: { readonly code?: number; readonly message?: string };
}

interface OtlpPost {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly OtlpAttribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[];
  }[];
}

function plain(attributes: readonly OtlpAttribute[]): CollectedSpan["attributes"] {
  const valueOf = ({ stringValue, intValue, doubleValue, boolValue }: OtlpValue): string | number | boolean =>
    stringValue ?? (intValue === undefined ? undefined : Number(intValue)) ?? doubleValue ?? boolValue ?? "";
  return Object.fromEntries(attributes.map(({ key, value }) => [key, valueOf(value)]));
}

const collected = ({ parentSpanId = "", status, attributes, startTimeUnixNano, ...span }: OtlpSpan): CollectedSpan => ({
  name: span.name,
  traceId: span.traceId,
  spanId: span.spanId,
  parentSpanId,
  kind: span.kind,
  started: startTimeUnixNano,
  error: status.code === 2 ? (status.message ?? "") : undefined,
  attributes: plain(attributes),
});

/** Answers one post; told to `answer` when the collector is to misbehave. */
export type CollectorAnswer = (request: IncomingMessage, response: ServerResponse) => void;

export type OtlpCollector = Awaited<ReturnType<typeof startOtlpCollector>>;

/** An OTLP/HTTP collector on a free port of 127.0.0.1 that answers every post with success, or as told. */
export async function startOtlpCollector(answer?: CollectorAnswer) {
  const spans: CollectedSpan[] = [];
  const posts: { path: string; resource: CollectedSpan["attributes"] }[] = [];
  let received = "";
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await text(request);
    received += JSON.stringify(request.headers) + body;
    for (const { resource, scopeSpans } of (JSON.parse(body) as OtlpPost).resourceSpans) {
      posts.push({ path: request.url ?? "", resource: plain(resource.attributes) });
      for (const scope of scopeSpans) spans.push(...scope.spans.map(collected));
    }
    response.writeHead(200, { "content-type": "application/json" }).end("{}");
  };
  const server = createServer((request, response) => {
    response.on("error", () => {});
    if (answer) {
      request.resume();
      answer(request, response);
      return;
    }
    take(request, response).catch(() => response.destroy());
  });
  const listener = await listening(server);
  return {
    url: listener.origin,
    /** In the order in which they started. */
    get spans(): readonly CollectedSpan[] {
      return spans.toSorted((a, b) => Number(BigInt(a.started) - BigInt(b.started)));
    },
    /** Paths and resource attributes of the posts. */
    posts,
    /** Everything that was received, as text. */
    get received(): string {
      return received;
    },
    close: listener.close,
  };
}
