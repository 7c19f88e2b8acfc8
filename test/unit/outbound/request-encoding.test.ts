import { describe, expect, it } from "vitest";
import { userAgent } from "../../../src/outbound/network.ts";
import { encodeRequest, maxUrlBytes } from "../../../src/outbound/sparql-request.ts";

const query = "SELECT * { ?s ?p 'ü & = + %' }";
const dataset = { defaultGraphs: ["http://g/a?b=c&d"], namedGraphs: ["http://n/1"] };
const url = new URL("https://a.example/sparql?apikey=x#frag");

const parametersOf = (text: string | undefined): [string, string][] => [...new URLSearchParams(text)];
const expected = [
  ["query", query],
  ["default-graph-uri", "http://g/a?b=c&d"],
  ["named-graph-uri", "http://n/1"],
];

describe("a query as an HTTP request", () => {
  it("post-form", () => {
    const request = encodeRequest("post-form", url, { query, ...dataset });
    expect(request).toMatchObject({ method: "POST", origin: "https://a.example", path: "/sparql?apikey=x" });
    expect(parametersOf(request?.body?.toString())).toEqual(expected);
  });
  it("post-direct", () => {
    const request = encodeRequest("post-direct", url, { query, ...dataset });
    expect(request).toMatchObject({ method: "POST", contentType: "application/sparql-query" });
    expect(request?.body?.toString()).toBe(query);
    expect(parametersOf(request?.path.split("?")[1])).toEqual([["apikey", "x"], ...expected.slice(1)]);
    expect(encodeRequest("post-direct", url, { query })?.path).toBe("/sparql?apikey=x");
  });
  it("get", () => {
    const request = encodeRequest("get", url, { query, ...dataset });
    expect(request).toMatchObject({ method: "GET", body: undefined, contentType: undefined });
    expect(parametersOf(request?.path.split("?")[1])).toEqual([["apikey", "x"], ...expected]);
  });
  it.each([
    ["nothing of its own", { query: "SELECT * { ?from ?p 'FROM' } # FROM" }, true],
    ["FROM", { query: "SELECT * From <urn:h> { ?s ?p ?o }" }, false],
    ["FROM NAMED", { query: "SELECT * FROM NAMED <urn:h> { ?s ?p ?o }" }, false],
    ["a default graph", { query, defaultGraphs: ["urn:h"] }, false],
    ["a named graph", { query, namedGraphs: ["urn:h"] }, false],
  ])("has the default graphs of its URL where it brings %s: %s", (_, asked, isKept) => {
    const given = new URL("https://a.example/sparql?a=b&default-graph-uri=urn%3Ag");
    for (const method of ["post-form", "post-direct", "get"] as const) {
      const path = encodeRequest(method, given, asked)?.path ?? "";
      expect(path.startsWith("/sparql?a=b")).toBe(true);
      expect(path.includes("default-graph-uri=urn%3Ag")).toBe(isKept);
    }
  });
  it("get does not repeat a query that the URL carries already", () => {
    const redirected = new URL("https://a.example/sparql?query=ASK%7B%7D");
    expect(encodeRequest("get", redirected, { query })?.path).toBe("/sparql?query=ASK%7B%7D");
  });
  it("get is refused beyond the longest URL", () => {
    const plain = new URL("http://a.example/s");
    const room = maxUrlBytes - "http://a.example/s?query=".length;
    expect(encodeRequest("get", plain, { query: "x".repeat(room) })).toBeDefined();
    expect(encodeRequest("get", plain, { query: "x".repeat(room + 1) })).toBeUndefined();
  });
  it("lone surrogates do not throw", () => {
    for (const method of ["post-form", "post-direct", "get"] as const) {
      expect(encodeRequest(method, url, { query: "\uD800" })).toBeDefined();
    }
  });
});

describe("User-Agent", () => {
  it.each([
    ["1.0", "mailto:a@b.example", "Fedway/1.0 (mailto:a@b.example)"],
    ["1.0", undefined, "Fedway/1.0"],
    ["1.0", "  ", "Fedway/1.0"],
    ["1.0", "evil\r\nx-header: 1 (ü)", "Fedway/1.0 (evilx-header: 1 )"],
  ])("%s, %j", (version, contact, text) => {
    expect(userAgent(version, contact)).toBe(text.replace(" )", ")"));
  });
});
