import { describe, expect, it } from "vitest";
import { parseTraceparent } from "../../../src/telemetry/otlp-tracing.ts";
import { createRequestSpans } from "../../../src/telemetry/tracing.ts";

it.each([
  ["ok", undefined],
  ["partial", undefined],
  ["cancelled", undefined],
  ["http-3xx", undefined],
  ["http-4xx", "http-4xx"],
  ["timeout", "timeout"],
  ["malformed", "malformed"],
])("the span of an upstream request that ended with %s has the error %s", (outcome, error) => {
  const ended: (string | undefined)[] = [];
  const span = { context: undefined, traceId: "", setAttribute: () => {}, end: (said?: string) => ended.push(said) };
  const onRequest = createRequestSpans({ startSpan: () => span });
  onRequest({ endpoint: "a", attempt: 1, trace: undefined })({ outcome, status: 200, wireBytes: 7 });
  expect(ended).toEqual([error]);
});

const trace = "4bf92f3577b34da6a3ce929d0e0e4736";
const span = "00f067aa0ba902b7";

describe("a right traceparent", () => {
  it.each([
    [`00-${trace}-${span}-01`, true],
    [`00-${trace}-${span}-00`, false],
    [`00-${trace}-${span}-03`, true],
    [`00-${trace}-${span}-02`, false],
    [`cc-${trace}-${span}-01`, true],
    [`cc-${trace}-${span}-01-what-the-future-brings`, true],
  ])("%s", (text, sampled) => {
    expect(parseTraceparent(text)).toEqual({ traceId: trace, spanId: span, sampled });
  });
});

describe("a wrong traceparent", () => {
  it.each([
    ["empty", ""],
    ["all-zero trace", `00-${"0".repeat(32)}-${span}-01`],
    ["all-zero span", `00-${trace}-${"0".repeat(16)}-01`],
    ["version ff", `ff-${trace}-${span}-01`],
    ["more fields in version 00", `00-${trace}-${span}-01-x`],
    ["a dash at the end", `00-${trace}-${span}-01-`],
    ["upper case", `00-${trace.toUpperCase()}-${span}-01`],
    ["short trace", `00-${trace.slice(1)}-${span}-01`],
    ["long span", `00-${trace}-${span}0-01`],
    ["no hexadecimal", `00-${trace.replace("4", "g")}-${span}-01`],
    ["space before", ` 00-${trace}-${span}-01`],
    ["line break after", `00-${trace}-${span}-01\n`],
    ["two headers", `00-${trace}-${span}-01, 00-${trace}-${span}-01`],
    ["future fields without a dash", `cc-${trace}-${span}-01x`],
    ["far too long", `cc-${trace}-${span}-01-${"x".repeat(10_000)}`],
  ])("%s", (_, text) => {
    expect(parseTraceparent(text)).toBeUndefined();
  });
});
