import { describe, expect, it } from "vitest";
import { type ErrorCode, errorCatalog } from "../../../src/errors/codes.ts";
import { type ErrorDetails, FedwayError, type FaultKind } from "../../../src/errors/fedway-error.ts";
import { faultOf } from "../../../src/monitor/probe-endpoint.ts";

const shouldBe = (code: ErrorCode, expected: FaultKind | undefined, details: ErrorDetails = {}): void =>
  it(`${code} ${JSON.stringify(details)} is ${expected ?? "nothing"}`, () => {
    expect(faultOf(new FedwayError(code, "why", details))?.fault).toBe(expected);
  });

describe("what speaks of the endpoint", () => {
  shouldBe("ADDRESS_REFUSED", "address");
  shouldBe("ENDPOINT_UNREACHABLE", "connect");
  shouldBe("ENDPOINT_UNREACHABLE", "dns", { fault: "dns" });
  shouldBe("ENDPOINT_UNREACHABLE", "tls", { fault: "tls" });
  shouldBe("ENDPOINT_UNREACHABLE", "reset", { fault: "reset" });
  shouldBe("ENDPOINT_TIMEOUT", "timeout");
  shouldBe("DEADLINE_EXCEEDED", "timeout");
  shouldBe("ENDPOINT_BROKE_OFF", "reset");
  shouldBe("ENDPOINT_BROKE_OFF", "malformed", { fault: "malformed" });
  shouldBe("ENDPOINT_REJECTED_QUERY", "http-4xx");
  shouldBe("ENDPOINT_REFUSED", "http-4xx");
  shouldBe("ENDPOINT_REFUSED", "http-5xx", { fault: "http-5xx", upstreamStatus: 500 });
  shouldBe("ENDPOINT_RATE_LIMITED", "http-429", { upstreamStatus: 429 });
  shouldBe("ENDPOINT_FAILED", "http-5xx");
  shouldBe("ENDPOINT_NOT_SPARQL", "wrong-media-type");
  shouldBe("ENDPOINT_MALFORMED", "malformed");
  shouldBe("ENDPOINT_PARTIAL", "partial");
  shouldBe("ENDPOINT_REDIRECT", "http-3xx");
  shouldBe("ANSWER_TOO_LARGE", "too-large");
});

describe("what does not", () => {
  shouldBe("CANCELLED", undefined);
  shouldBe("CIRCUIT_OPEN", undefined, { fault: "circuit-open" });
  shouldBe("ENDPOINT_BUSY", undefined, { fault: "busy" });
  shouldBe("ENDPOINT_RATE_LIMITED", undefined, { fault: "http-429", retryAfterMs: 1000 });
  shouldBe("SERVICE_BUSY", undefined);
  shouldBe("STORE_FAILED", undefined);
  shouldBe("INTERNAL", undefined);

  it("any error that is not an endpoint's is silent", () => {
    const others = (Object.keys(errorCatalog) as ErrorCode[]).filter(
      (code) => !/^ENDPOINT_|^ADDRESS_REFUSED$|^ANSWER_TOO_LARGE$|^DEADLINE_EXCEEDED$/u.test(code),
    );
    expect(others.length).toBeGreaterThan(20);
    for (const code of others) expect([code, faultOf(new FedwayError(code, "why"))]).toEqual([code, undefined]);
    expect(faultOf(new TypeError("a mistake of ours"))).toBeUndefined();
    expect(faultOf(new FedwayError("ENDPOINT_UNKNOWN", "why"))).toBeUndefined();
  });
});

it("keeps the status and a bounded text", () => {
  const error = new FedwayError("ENDPOINT_FAILED", `${"x".repeat(299)}\u{1f600}`, { upstreamStatus: 503 });
  const fault = faultOf(error);
  expect(fault).toMatchObject({ fault: "http-5xx", status: 503 });
  expect(fault?.detail).toHaveLength(300);
  expect(fault?.detail.isWellFormed()).toBe(true);
});
