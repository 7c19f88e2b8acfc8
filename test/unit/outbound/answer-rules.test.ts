import { describe, expect, it } from "vitest";
import type { AnswerKind } from "../../../src/results/model.ts";
import { acceptsCoding, codingOf } from "../../../src/outbound/content-coding.ts";
import { contentLength, answerMediaType, isOtherKind } from "../../../src/outbound/media-types.ts";
import { lackOf, type PartialSigns, partialRefused, partialSigns } from "../../../src/outbound/partial-answers.ts";
import { backOffMs } from "../../../src/outbound/conversation.ts";
import { parseRetryAfter } from "../../../src/outbound/refusals.ts";
import { requestTo } from "../../support/hostile-client.ts";

describe("media types", () => {
  it.each([
    ["application/sparql-results+json", "bindings", "application/sparql-results+json"],
    ["Application/SPARQL-Results+JSON; charset=UTF-8", "bindings", "application/sparql-results+json"],
    ["application/json", "bindings", "application/sparql-results+json"],
    ["application/json", "boolean", "application/sparql-results+json"],
    ["application/json", "quads", "application/ld+json"],
    ["text/xml", "bindings", "application/sparql-results+xml"],
    ["application/xml;charset=utf-8", "quads", "application/rdf+xml"],
    ["text/plain", "quads", "application/n-triples"],
    ["text/plain", "bindings", undefined],
    ["text/n3", "quads", "text/turtle"],
    ["text/csv; header=present", "bindings", "text/csv"],
    ["text/csv", "boolean", undefined],
    ["text/turtle", "bindings", undefined],
    ["application/sparql-results+json", "quads", undefined],
    ["text/html", "bindings", undefined],
    ["constructor", "bindings", undefined],
    ["", "bindings", undefined],
    [undefined, "bindings", undefined],
  ] as const)("%s for %s is %s", (contentType, kind, expected) => {
    expect(answerMediaType(contentType, kind)).toBe(expected);
  });
  it.each([
    ["text/turtle", "bindings", true],
    ["application/sparql-results+json", "quads", true],
    ["text/html", "bindings", false],
    ["text/plain", "bindings", false],
  ] as const)("%s is of another kind than %s: %s", (contentType, kind, expected) => {
    expect(isOtherKind(contentType, kind)).toBe(expected);
  });
});

describe("content codings", () => {
  it.each([
    [undefined, "identity"],
    ["", "identity"],
    ["Identity", "identity"],
    ["GZIP", "gzip"],
    ["x-gzip", "gzip"],
    ["br", "br"],
    ["gzip, br", undefined],
    ["compress", undefined],
    ["toString", undefined],
  ])("%j is %s", (value, expected) => {
    expect(codingOf({ "content-encoding": value })).toBe(expected);
  });
  it.each([
    ["gzip, br", "br", true],
    ["gzip;q=0.5", "gzip", true],
    ["gzip;q=0", "gzip", false],
    ["gzip; q=0.000", "gzip", false],
    ["*", "zstd", true],
    ["identity", "gzip", false],
    ["", "gzip", false],
    ["", "identity", true],
  ] as const)("Accept-Encoding %j takes %s: %s", (accept, coding, expected) => {
    expect(acceptsCoding(accept, coding)).toBe(expected);
  });
  it("Content-Length is one plain number or unknown", () => {
    const values = ["12", "0", "-1", "1e3", " 5", "99999999999999999999", ["1", "2"], undefined];
    const read = values.map((value) => contentLength({ "content-length": value }));
    expect(read).toEqual([12, 0, undefined, undefined, undefined, undefined, undefined, undefined]);
  });
});

const lackWith = (signs: PartialSigns, rows: number | undefined, request: { kind: AnswerKind; limit?: number }) =>
  lackOf({
    signs: [signs],
    verdict: { complete: true, ...(rows !== undefined && { rows }) },
    request: requestTo("http://e/sparql", request),
  });

describe("signs of a partial answer", () => {
  it.each([
    [200, {}, undefined, undefined],
    [206, {}, "status-206", undefined],
    [200, { "x-sql-state": "S1TAT" }, "virtuoso-anytime", undefined],
    [206, { "x-sql-state": "s1tat " }, "virtuoso-anytime", undefined],
    [200, { "x-sql-state": "00000" }, undefined, undefined],
    [200, { "x-sparql-maxrows": "10000" }, undefined, 10_000],
    [200, { "x-sparql-maxrows": "many" }, undefined, undefined],
  ] as const)("%i %j", (...[status, headers, how, rowCap]) => {
    const signs = partialSigns(status, headers);
    expect(signs.partial?.how).toBe(how);
    expect(signs.rowCap).toBe(rowCap);
  });
  it.each([
    [undefined, 5, "bindings", false],
    [10, 9, "bindings", false],
    [10, 10, "bindings", true],
    [10, 11, "quads", true],
    [10, undefined, "bindings", true],
    [1, undefined, "boolean", false],
  ] as const)("cap %s, rows %s, %s: %s", (...[cap, rows, kind, expected]) => {
    const signs = cap === undefined ? {} : { rowCap: cap };
    expect(lackWith(signs, rows, { kind })?.how).toBe(expected ? "virtuoso-maxrows" : undefined);
  });
});

describe("a query's own LIMIT", () => {
  const isCapped = (rows: number | undefined, limit: number, kind: AnswerKind = "bindings"): boolean =>
    lackWith({ rowCap: 1000 }, rows, { kind, limit }) !== undefined;
  it.each([
    [1000, 1000, false],
    [1000, 1001, true],
    // As many rows as asked for are all of them, whatever the header says; more mean that LIMIT was ignored.
    [2000, 2000, false],
    [1000, 10, true],
    [undefined, 1000, false],
    [undefined, 1001, true],
  ] as const)("%s rows, cap 1000, LIMIT %i: capped %s", (rows, limit, expected) => {
    expect(isCapped(rows, limit)).toBe(expected);
  });
  it("counts solutions, so it says nothing of triples", () => {
    expect(isCapped(1000, 1000, "quads")).toBe(true);
  });
});

describe("a cap that an earlier answer named", () => {
  it.each([
    [999, false],
    [1000, true],
    [1001, true],
    [undefined, true],
  ] as const)("%s triples may lack some: %s", (rows, expected) => {
    const partial = lackWith({ silentCap: 1000 }, rows, { kind: "quads" });
    expect(partial?.how).toBe(expected ? "row-cap" : undefined);
    if (rows !== undefined && partial) expect(partial.detail).toMatch(/ 1000 rows .* may lack some\./u);
  });
});

describe("a partial answer that nobody accepts", () => {
  it("is an error that says how it is partial and what to do", () => {
    const { code, message, details } = partialRefused({ how: "row-cap", detail: "Rows are missing." }, 206);
    expect({ code, message }).toEqual({ code: "ENDPOINT_PARTIAL", message: "Rows are missing." });
    expect(details).toMatchObject({ fault: "partial", upstreamStatus: 206 });
    expect(details.next).toMatch(/partial=true.*narrow/);
  });
});

describe("Retry-After and back-off", () => {
  const now = Date.UTC(2025, 0, 1);
  it.each([
    ["0", 0],
    ["120", 120_000],
    [" 7 ", 7000],
    ["99999999", 900_000],
    ["Wed, 01 Jan 2025 00:00:30 GMT", 30_000],
    ["Wednesday, 01-Jan-25 00:00:30 GMT", 30_000],
    ["Tue, 31 Dec 2024 23:59:00 GMT", 0],
    ["Wed, 01 Jan 2035 00:00:00 GMT", 900_000],
    ["-5", undefined],
    ["1.5", undefined],
    ["soon", undefined],
    ["2025-01-01", undefined],
    ["", undefined],
    ["1".repeat(50), undefined],
    [undefined, undefined],
  ])("%j is %s ms", (value, expected) => {
    expect(parseRetryAfter(value, now)).toBe(expected);
  });
  it("back-off doubles and is jittered between half and whole", () => {
    expect([0, 1, 2].map((attempt) => backOffMs(100, attempt, () => 0))).toEqual([50, 100, 200]);
    expect([0, 1, 2].map((attempt) => backOffMs(100, attempt, () => 1))).toEqual([100, 200, 400]);
  });
});
