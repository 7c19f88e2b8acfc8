import { DataFactory } from "n3";
import { describe, expect, it } from "vitest";
import { isSound, keepsTerms, soundAccept, usualAccepts } from "../../../src/outbound/sound-formats.ts";
import type { WholeAnswer } from "../../../src/outbound/whole-answer.ts";
import { acceptFor, formatNamed } from "../../../src/results/negotiation.ts";
import type { AnswerKind } from "../../../src/results/model.ts";
import { requestTo } from "../../support/hostile-client.ts";

const json = "application/sparql-results+json";
const xml = "application/sparql-results+xml";
const tsv = "text/tab-separated-values";
const url = "http://e/sparql";
const acceptOf = (kind: AnswerKind, format: string, formats?: readonly string[], columns?: readonly string[]) =>
  soundAccept(
    acceptFor(kind, formatNamed(format, kind)),
    requestTo(url, { kind, endpoint: { url, formats }, columns: columns && { asked: columns } }),
  );

describe("an endpoint that was not probed", () => {
  it.each([
    ["bindings", "json", `${json}, ${xml};q=0.8, ${tsv};q=0.1, text/csv;q=0.1`],
    ["bindings", "xml", `${xml}, ${json};q=0.9, ${tsv};q=0.1, text/csv;q=0.1`],
    ["bindings", "csv", `${json};q=0.9, ${xml};q=0.8, text/csv;q=0.1, ${tsv};q=0.1`],
    ["boolean", "json", `${json}, ${xml};q=0.8`],
    [
      "quads",
      "turtle",
      "application/n-triples;q=0.9, application/rdf+xml;q=0.8, text/turtle;q=0.1, application/ld+json;q=0.1",
    ],
    [
      "quads",
      "rdfxml",
      "application/rdf+xml, application/n-triples;q=0.9, text/turtle;q=0.1, application/ld+json;q=0.1",
    ],
  ] as const)("is asked, for %s as %s, with Accept: %s", (kind, format, expected) => {
    expect(acceptOf(kind, format)).toBe(expected);
  });
  it.each([
    ["grosse", `${json}, ${xml};q=0.8, ${tsv};q=0.1, text/csv;q=0.1`],
    ["größe", `${xml};q=0.8, ${json};q=0.1, ${tsv};q=0.1, text/csv;q=0.1`],
  ])("is asked for the column %s with Accept: %s", (name, expected) => {
    expect(acceptOf("bindings", "json", undefined, ["s", name])).toBe(expected);
  });
  it.each([
    ["bindings", json, true],
    ["bindings", xml, true],
    ["bindings", tsv, false],
    ["bindings", "text/csv", false],
    ["boolean", "text/boolean", true],
    ["quads", "application/n-triples", true],
    ["quads", "application/rdf+xml", true],
    ["quads", "text/turtle", false],
    ["quads", "application/ld+json", false],
  ] as const)("is trusted with %s as %s: %s", (kind, mediaType, expected) => {
    expect(isSound(requestTo(url, { kind }), mediaType)).toBe(expected);
  });
  it.each(["bindings", "boolean", "quads"] as const)("is usually asked for %s as for any format", (kind) => {
    expect(usualAccepts[kind]).toBe(soundAccept(acceptFor(kind), requestTo(url, { kind })));
  });
  it("is asked for one type alone where the caller names one", () => {
    expect(soundAccept(tsv, requestTo(url))).toBe(tsv);
  });
});

describe("an endpoint that was probed", () => {
  const formats = [json, "text/csv", "text/turtle"];
  it.each([
    ["bindings", "csv", `text/csv, ${json};q=0.9`],
    ["bindings", "tsv", `${json};q=0.9, text/csv;q=0.2`],
    ["quads", "ntriples", "text/turtle;q=0.4"],
  ] as const)("is asked, for %s as %s, with Accept: %s", (kind, format, expected) => {
    expect(acceptOf(kind, format, formats)).toBe(expected);
  });
  it("is asked as others are for a kind of answer without a probed format", () => {
    expect(acceptOf("quads", "ntriples", [json])).toBe(acceptOf("quads", "ntriples"));
  });
  it.each([
    ["bindings", "text/csv", true],
    ["bindings", xml, false],
    ["quads", "text/turtle", true],
    ["quads", "application/n-triples", false],
  ] as const)("is trusted with %s as %s: %s", (kind, mediaType, expected) => {
    expect(isSound(requestTo(url, { kind, endpoint: { url, formats } }), mediaType)).toBe(expected);
  });
});

describe("known terms", () => {
  const xsd = "http://www.w3.org/2001/XMLSchema#";
  const typed = (value: string, type: string) => DataFactory.literal(value, DataFactory.namedNode(xsd + type));
  const right = [
    DataFactory.namedNode("urn:x:i"),
    DataFactory.literal("l", "en"),
    typed("5", "integer"),
    typed("1.5E3", "double"),
    DataFactory.literal('a\tb\nc\\d"e'),
  ];
  const none = { rows: [], quads: [], variables: [], httpStatus: 200, bytes: 0, durationMs: 0, requests: 1 };
  const graphOf = (terms: readonly ReturnType<typeof DataFactory.literal>[] | typeof right): WholeAnswer => ({
    ...none,
    mediaType: "text/turtle",
    quads: terms.map((term) =>
      DataFactory.quad(DataFactory.namedNode("urn:x:s"), DataFactory.namedNode("urn:x:p"), term),
    ),
  });
  it.each([
    ["as they are", right, true],
    ["in another order and spelling", [...right.slice(0, 3), typed("1500.0", "double"), right[4]].toReversed(), true],
    ["with a decimal for the double", [...right.slice(0, 3), typed("1500.0", "decimal"), right[4]], false],
    ["without a language", [right[0], DataFactory.literal("l"), ...right.slice(2)], false],
    ["with an IRI as a string", [DataFactory.literal("urn:x:i"), ...right.slice(1)], false],
    ["with a space for a tab", [...right.slice(0, 4), DataFactory.literal('a b\nc\\d"e')], false],
    ["in part", right.slice(1), undefined],
  ] as const)("that come back %s are kept: %s", (_, terms, expected) => {
    expect(keepsTerms(graphOf(terms as typeof right))).toBe(expected);
  });
  it.each([
    ["blank nodes", DataFactory.blankNode("b"), true],
    ["blank nodes that are strings", DataFactory.literal("b0"), false],
  ])("in CSV are values, beside %s", (_, b, expected) => {
    const rows = ["urn:x:i", "l", "5", "1.5E3", 'a\tb\nc\\d"e'].map(
      (x) => new Map([["x", DataFactory.literal(x)] as const, ["b", b] as const]),
    );
    expect(keepsTerms({ ...none, mediaType: "text/csv", rows })).toBe(expected);
  });
});
