import { describe, expect, it } from "vitest";
import { createRequestSpans, type SpanOptions, type Tracer } from "../../../src/telemetry/tracing.ts";

function recording() {
  const seen: {
    name: string;
    options: SpanOptions;
    attributes: Record<string, unknown>;
    ended: (string | undefined)[];
  }[] = [];
  const tracer: Tracer = {
    startSpan(name, options = {}) {
      const record = { name, options, attributes: {} as Record<string, unknown>, ended: [] as (string | undefined)[] };
      seen.push(record);
      return {
        context: record,
        traceId: "0".repeat(32),
        setAttribute: (key, value) => {
          record.attributes[key] = value;
        },
        end: (error) => record.ended.push(error),
      };
    },
  };
  return { seen, tracer };
}

describe("spans of requests", () => {
  it("carry the parent, the endpoint and the attempt", () => {
    const { seen, tracer } = recording();
    createRequestSpans(tracer)({ endpoint: "alpha", attempt: 2, trace: "parent" });
    expect(seen).toEqual([
      {
        name: "upstream request",
        options: {
          kind: "client",
          parent: "parent",
          attributes: { "fedway.endpoint": "alpha", "fedway.attempt": 2 },
        },
        attributes: {},
        ended: [],
      },
    ]);
  });

  it.each([
    ["ok", undefined],
    ["partial", undefined],
    ["cancelled", undefined],
    ["asked-again", undefined],
    ["http-3xx", undefined],
    ["http-4xx", "http-4xx"],
    ["timeout", "timeout"],
    ["malformed", "malformed"],
  ])("that end with %s end with the error %s", (outcome, error) => {
    const { seen, tracer } = recording();
    createRequestSpans(tracer)({ endpoint: "a", attempt: 1, trace: undefined })({ outcome, status: 200, wireBytes: 7 });
    expect(seen[0]?.ended).toEqual([error]);
    expect(seen[0]?.attributes).toEqual({
      "fedway.outcome": outcome,
      "http.response.status_code": 200,
      "http.response.body.size": 7,
    });
  });

  it("have no status when none came", () => {
    const { seen, tracer } = recording();
    createRequestSpans(tracer)({ endpoint: "a", attempt: 1, trace: undefined })({
      outcome: "dns",
      status: undefined,
      wireBytes: 0,
    });
    expect(Object.keys(seen[0]?.attributes ?? {})).toEqual(["fedway.outcome", "http.response.body.size"]);
  });
});
