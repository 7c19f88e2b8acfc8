import { describe, expect, it } from "vitest";
import type { ErrorCode } from "../../../src/errors/codes.ts";
import { toNetworkError, blamesMethod, type Refusal, refusalError } from "../../../src/outbound/refusals.ts";

const refusal = (status: number, text = "", headers: Refusal["headers"] = {}): Refusal => ({ status, text, headers });

describe("a refusal's code", () => {
  const cases: readonly (readonly [number, string, Refusal["headers"], ErrorCode])[] = [
    [400, "syntax", {}, "ENDPOINT_REJECTED_QUERY"],
    [401, "", {}, "ENDPOINT_REFUSED"],
    [402, "", {}, "ENDPOINT_REFUSED"],
    [403, "", {}, "ENDPOINT_REFUSED"],
    [404, "", {}, "ENDPOINT_REFUSED"],
    [408, "", {}, "ENDPOINT_TIMEOUT"],
    [410, "", {}, "ENDPOINT_REFUSED"],
    [429, "", {}, "ENDPOINT_RATE_LIMITED"],
    [429, '{"exception":"Timeout in Sort"}', {}, "ENDPOINT_TIMEOUT"],
    [429, '{"exception":"deadline exceeded"}', {}, "ENDPOINT_TIMEOUT"],
    [429, '{"exception":"memory limit"}', {}, "ENDPOINT_RATE_LIMITED"],
    [429, '{"exception":"timeout"}', { "retry-after": "1" }, "ENDPOINT_RATE_LIMITED"],
    [429, "timeout", {}, "ENDPOINT_RATE_LIMITED"],
    [500, "", {}, "ENDPOINT_FAILED"],
    [500, "Virtuoso S1T00 Error SR171", {}, "ENDPOINT_TIMEOUT"],
    [500, "", { "x-sql-state": "S1T00" }, "ENDPOINT_TIMEOUT"],
    [502, "", {}, "ENDPOINT_FAILED"],
    [503, "", {}, "ENDPOINT_FAILED"],
    [503, "Query timed out\n", {}, "ENDPOINT_TIMEOUT"],
    [503, "Query timed out\n", { "retry-after": "1" }, "ENDPOINT_FAILED"],
    [503, "upstream connect error: connection timeout", {}, "ENDPOINT_FAILED"],
    [504, "", {}, "ENDPOINT_TIMEOUT"],
    [599, "", {}, "ENDPOINT_FAILED"],
    [300, "", {}, "ENDPOINT_REDIRECT"],
    [304, "", {}, "ENDPOINT_REDIRECT"],
    [200, "", { "content-type": "text/html" }, "ENDPOINT_NOT_SPARQL"],
    [204, "", {}, "ENDPOINT_NOT_SPARQL"],
  ];
  it.each(cases)("%i %j %j is %s", (...[status, text, headers, code]) => {
    const error = refusalError(refusal(status, text, headers), "bindings");
    expect(error.code).toBe(code);
    expect(error.details.upstreamStatus).toBe(status);
    expect(error.details.next).toMatch(/^[A-Z].*\.$/);
    expect(error.details.fault).toBeDefined();
  });
});

describe("whether the request method is at fault", () => {
  it.each([
    [405, "", {}, true],
    [405, "", { "retry-after": "5" }, false],
    [415, "", {}, true],
    [501, "", {}, true],
    [400, "Parse error: expected a query", {}, false],
    [400, "Missing required query parameter", {}, true],
    [400, "no query parameter", {}, true],
    [403, "HTTP POST is not allowed here", {}, true],
    [403, "Forbidden", {}, false],
    [404, "Method POST not supported", {}, true],
    [404, "Not Found", {}, false],
    [500, "method not supported", {}, false],
  ] as const)("%i %j %j: %s", (...[status, text, headers, expected]) => {
    expect(blamesMethod(refusal(status, text, headers))).toBe(expected);
  });
});

const withCode = (code: string): Error => Object.assign(new Error("x 10.0.0.1"), { code });

describe("network errors", () => {
  const cases: readonly (readonly [string, "head" | "body", ErrorCode, string])[] = [
    ["ECONNREFUSED", "head", "ENDPOINT_UNREACHABLE", "connect"],
    ["EHOSTUNREACH", "head", "ENDPOINT_UNREACHABLE", "connect"],
    ["UND_ERR_CONNECT_TIMEOUT", "head", "ENDPOINT_UNREACHABLE", "connect"],
    ["ENOTFOUND", "head", "ENDPOINT_UNREACHABLE", "dns"],
    ["EAI_AGAIN", "head", "ENDPOINT_UNREACHABLE", "dns"],
    ["CERT_HAS_EXPIRED", "head", "ENDPOINT_UNREACHABLE", "tls"],
    ["DEPTH_ZERO_SELF_SIGNED_CERT", "head", "ENDPOINT_UNREACHABLE", "tls"],
    ["ERR_TLS_CERT_ALTNAME_INVALID", "head", "ENDPOINT_UNREACHABLE", "tls"],
    ["ERR_SSL_WRONG_VERSION_NUMBER", "head", "ENDPOINT_UNREACHABLE", "tls"],
    ["ECONNRESET", "head", "ENDPOINT_UNREACHABLE", "reset"],
    ["UND_ERR_SOCKET", "head", "ENDPOINT_UNREACHABLE", "reset"],
    ["ECONNRESET", "body", "ENDPOINT_BROKE_OFF", "reset"],
    ["UND_ERR_RES_CONTENT_LENGTH_MISMATCH", "body", "ENDPOINT_BROKE_OFF", "reset"],
    ["UND_ERR_HEADERS_TIMEOUT", "head", "ENDPOINT_TIMEOUT", "timeout"],
    ["UND_ERR_BODY_TIMEOUT", "body", "ENDPOINT_TIMEOUT", "timeout"],
    ["UND_ERR_HEADERS_OVERFLOW", "head", "ENDPOINT_MALFORMED", "malformed"],
    ["something else", "body", "ENDPOINT_BROKE_OFF", "reset"],
  ];
  it.each(cases)("%s in the %s is %s, %s", (...[code, phase, expected, fault]) => {
    const error = toNetworkError(withCode(code), phase);
    expect(error).toMatchObject({ code: expected, details: { fault } });
    expect(error.message).not.toContain("10.0.0.1");
  });
  it("looks into the attempts at several addresses", () => {
    const error = toNetworkError(new AggregateError([withCode("CERT_HAS_EXPIRED")]), "head");
    expect(error.details.fault).toBe("tls");
  });
});
