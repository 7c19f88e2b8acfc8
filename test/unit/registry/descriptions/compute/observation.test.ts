import type * as RDF from "@rdfjs/types";
import { DataFactory } from "rdf-data-factory";
import { describe, expect, it } from "vitest";
import { factKinds } from "../../../../../src/registry/descriptions/compute/fact-kinds.ts";
import { isWritable, namespaceOf } from "../../../../../src/registry/descriptions/values.ts";
import { countOf, readObservation } from "../../../../../src/registry/descriptions/compute/observation.ts";

type AnswerContext = Parameters<typeof readObservation>[1];

const factory = new DataFactory();
const context: AnswerContext = {
  kind: factKinds.classProperties,
  record: 7,
  sound: true,
  cut: false,
  counted: true,
};

function read(rows: readonly Record<string, RDF.Term>[], options: Partial<AnswerContext> = {}) {
  const base = { variables: [], quads: [], httpStatus: 200, mediaType: "", bytes: 1, durationMs: 1, requests: 1 };
  return readObservation(
    { ...base, rows: rows.map((row) => new Map(Object.entries(row))) },
    { ...context, ...options },
  );
}

const iri = (name: string) => factory.namedNode(`http://x.example/${name}`);
const number = (value: string) => factory.literal(value);
const good = { c: iri("C"), p: iri("p"), n: number("5"), ds: number("3"), do: number("5") };

describe("readObservation", () => {
  it("groups by key and detail", () => {
    const { groups, whole, rows } = read([good, { ...good, p: iri("q") }]);
    expect({ whole, rows, keys: [...groups.keys()] }).toEqual({ whole: true, rows: 2, keys: ["http://x.example/C"] });
    expect([...(groups.get("http://x.example/C")?.values() ?? [])]).toEqual([
      { detail: ["http://x.example/p"], n: 5, ds: 3, do: 5 },
      { detail: ["http://x.example/q"], n: 5, ds: 3, do: 5 },
    ]);
  });

  it.each<[string, Record<string, RDF.Term>]>([
    ["a blank class", { ...good, c: factory.blankNode() }],
    ["a class that is no IRI reference", { ...good, c: factory.namedNode("http://x.example/ }") }],
    ["a blank node in disguise", { ...good, c: factory.namedNode("nodeID://b1") }],
    ["no class", { p: good.p, n: good.n }],
  ])("skips %s", (_name, row) => {
    expect(read([row])).toMatchObject({ skipped: 1, groups: new Map() });
  });

  it.each<[string, Record<string, RDF.Term>]>([
    ["a negative count", { ...good, n: number("-1") }],
    ["a count of zero", { ...good, n: number("0") }],
    ["a count that is no number", { ...good, n: number("many") }],
    ["more subjects than solutions", { ...good, ds: number("6") }],
    ["a property that is no IRI reference", { ...good, p: factory.namedNode("http://x.example/<p>") }],
    ["a count that is an IRI", { ...good, n: iri("5") }],
  ])("tells of %s", (_name, row) => {
    const { flawed, groups } = read([row]);
    expect([[...flawed], groups.size]).toEqual([["http://x.example/C"], 0]);
  });

  it("tells of a group that comes twice", () => {
    expect([...read([good, good]).flawed]).toEqual(["http://x.example/C"]);
  });

  it("reads the row of an aggregate over nothing as nothing", () => {
    const zero = { n: number("0"), ds: number("0"), do: number("0") };
    expect(read([zero], { only: "http://x.example/C" })).toMatchObject({ skipped: 0, groups: new Map() });
  });

  it.each([
    [{ sound: false }, false],
    [{ cut: true }, false],
    [{}, true],
  ])("with %j is whole: %s", (options, whole) => expect(read([good], options).whole).toBe(whole));
});

describe("countOf", () => {
  it.each<[string, number | undefined]>([
    ["0", 0],
    ["12", 12],
    ["+12", 12],
    ["12.0", 12],
    ["12.5", undefined],
    ["-1", undefined],
    ["1e9", undefined],
    ["", undefined],
    ["9999999999999999999", undefined],
    ["NaN", undefined],
  ])("of %j is %s", (text, expected) => expect(countOf(factory.literal(text))).toBe(expected));
});

describe("IRIs", () => {
  it.each([
    ["http://x.example/a", true],
    ["urn:uuid:1", true],
    ["http://x.example/ü?q=1#f", true],
    ["", false],
    ["a/b", false],
    ["http://x.example/a b", false],
    ["http://x.example/\u00a0", false],
    ["http://x.example/a\nb", false],
    ["http://x.example/{a}", false],
    ["http://x.example/a>", false],
    ["http://x.example/\\u0041", false],
    ["nodeID://b1", false],
    ["_:b1", false],
  ])("%j may be written: %s", (text, expected) => expect(isWritable(text)).toBe(expected));

  it.each<[string, string | undefined]>([
    ["http://x.example/a/b", "http://x.example/a/"],
    ["http://x.example/a#b", "http://x.example/a#"],
    ["http://x.example", undefined],
    ["urn:a:b", undefined],
  ])("the namespace of %s is %s", (text, expected) => expect(namespaceOf(text)).toBe(expected));
});
