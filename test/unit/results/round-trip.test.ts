import type * as RDF from "@rdfjs/types";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ResultFormat } from "../../../src/results/formats.ts";
import type { AnswerKind, Bindings, QueryResult } from "../../../src/results/model.ts";
import { parseAnswer } from "../../../src/results/parse.ts";
import { createAnswerScanner } from "../../../src/results/parse.ts";
import { serializeResult, transcode } from "../../../src/results/serialize.ts";
import { literalFromParts } from "../../../src/results/terms.ts";
import {
  bindingsOf,
  blankNode,
  collect,
  each,
  formatNamed,
  literal,
  namedNode,
  nastyTerms,
  nastyTexts,
  plainQuads,
  plainRows,
  quad,
  readQuads,
  readRows,
} from "../../support/result-terms.ts";

const write = async (result: QueryResult, format: ResultFormat): Promise<Buffer> =>
  Buffer.concat(await collect<Buffer>(serializeResult(result, format)));

const read = (format: ResultFormat, kind: AnswerKind, ...chunks: readonly Uint8Array[]): Promise<QueryResult> =>
  parseAnswer(each(chunks), { mediaType: format.mediaType, kind });

const rowOf = (cells: Readonly<Record<string, RDF.Term | undefined>>): Bindings =>
  new Map(Object.entries(cells).flatMap(([name, term]) => (term === undefined ? [] : [[name, term] as const])));

const nastyRows = nastyTerms.map((term, index) => rowOf({ a: index % 3 === 0 ? undefined : term, b: term }));
const lossless = ["json", "xml", "tsv"] as const;
/** Rows that a format can hold: XML 1.0 has no control characters. */
const writableIn = (name: string, rows: readonly Bindings[]): readonly Bindings[] =>
  name === "xml" ? rows.filter((row) => !row.get("b")?.value.includes("\u0007")) : rows;

async function shouldRoundTrip(name: "json" | "xml" | "tsv", variables: readonly string[], rows: readonly Bindings[]) {
  const format = formatNamed(name);
  const bytes = await write(bindingsOf(variables, rows), format);
  const back = await readRows(await read(format, "bindings", bytes));
  expect(back.variables).toEqual(variables);
  expect(plainRows(variables, back.rows)).toEqual(plainRows(variables, rows));
  const scanner = createAnswerScanner(format.mediaType);
  scanner.push(bytes);
  expect(scanner.end()).toEqual({ complete: true, rows: rows.length });
  return bytes;
}

test("CSV of one column has no empty line, which readers skip", async () => {
  const rows = [new Map(), rowOf({ a: literal("") }), rowOf({ a: literal("x") }), new Map()];
  const text = (await write(bindingsOf(["a"], rows), formatNamed("csv"))).toString();
  expect(text).toBe('a\r\n""\r\n""\r\nx\r\n""\r\n');
});

describe.each(lossless)("rows in %s", (name) => {
  test("every nasty term", async () => {
    expect(nastyRows.length).toBeGreaterThan(60);
    await shouldRoundTrip(name, ["a", "b"], writableIn(name, nastyRows));
  });
  test("a base direction", async () => {
    const directed = literalFromParts("x", "ar--rtl");
    const bytes = await shouldRoundTrip(name, ["a"], [rowOf({ a: directed })]);
    const { rows } = await readRows(await read(formatNamed(name), "bindings", bytes));
    expect(rows[0]?.get("a")).toMatchObject({ language: "ar", direction: "rtl" });
  });
  test("no rows", () => shouldRoundTrip(name, ["a"], []));
  test("no variables", () => shouldRoundTrip(name, [], [new Map(), new Map()]));
  test("one column, unbound", () => shouldRoundTrip(name, ["a"], [new Map(), rowOf({ a: literal("x") }), new Map()]));

  test("split at every byte", async () => {
    const rows = [rowOf({ a: literal('ä"\n\\😀', "en"), b: blankNode("x") }), rowOf({ b: blankNode("x") })];
    const format = formatNamed(name);
    const bytes = await shouldRoundTrip(name, ["a", "b"], rows);
    for (let at = 0; at <= bytes.length; at += 1) {
      const back = await readRows(await read(format, "bindings", bytes.subarray(0, at), bytes.subarray(at)));
      expect(plainRows(["a", "b"], back.rows), `split at ${at}`).toEqual(plainRows(["a", "b"], rows));
    }
    const bytewise = await readRows(await read(format, "bindings", ...[...bytes].map((byte) => Uint8Array.of(byte))));
    expect(plainRows(["a", "b"], bytewise.rows)).toEqual(plainRows(["a", "b"], rows));
  });

  test("generated tables", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.record({ a: optionalTerm, b: optionalTerm }), { maxLength: 8 }), async (cells) => {
        await shouldRoundTrip(name, ["a", "b"], cells.map(rowOf));
      }),
      { numRuns: 50 },
    );
  });
});

const text = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 12 }),
  fc.constantFrom(...nastyTexts.filter((nasty) => !nasty.includes("\u0007"))),
);
const iri = fc.webUrl({ withQueryParameters: true, withFragments: true }).map((url) => namedNode(url));
const language = fc.constantFrom("en", "de-at", "zh-hant-tw");
const term: fc.Arbitrary<RDF.NamedNode | RDF.Literal | RDF.BlankNode> = fc.oneof(
  text.map((value) => literal(value)),
  fc.tuple(text, language).map(([value, tag]) => literal(value, tag)),
  fc.tuple(text, iri).map(([value, datatype]) => literal(value, datatype)),
  iri,
  fc.constantFrom("b0", "b1", "b2").map((label) => blankNode(label)),
);
const optionalTerm = fc.option(term, { nil: undefined });

describe("rows in csv", () => {
  test("values survive, types do not", async () => {
    const format = formatNamed("csv");
    const bytes = await write(bindingsOf(["a", "b"], nastyRows), format);
    const back = await readRows(await read(format, "bindings", bytes));
    expect(back.variables).toEqual(["a", "b"]);
    expect(back.rows).toHaveLength(nastyRows.length);
    for (const [index, row] of back.rows.entries()) {
      const original = nastyRows[index]!;
      for (const name of ["a", "b"]) {
        const was = original.get(name);
        const expected = was?.value === "_:notablank" ? "notablank" : was?.value;
        expect(row.get(name)?.value, `row ${index}`).toBe(expected);
        if (was?.termType === "NamedNode" || was?.termType === "BlankNode") {
          expect(row.get(name)?.termType).toBe(was.termType);
        }
      }
    }
  });

  test("split at every byte", async () => {
    const format = formatNamed("csv");
    const bytes = Buffer.from('a,b\r\n"x ""y"",\r\nä😀",5" disk\r\n,""\r\n"a","b"\r\n');
    const whole = plainRows(["a", "b"], (await readRows(await read(format, "bindings", bytes))).rows);
    expect(whole.map((row) => row.map((cell) => (cell === null ? null : JSON.parse(cell)[0])))).toEqual([
      ['x "y",\r\nä😀', '5" disk'],
      [null, ""],
      ["a", "b"],
    ]);
    for (let at = 0; at <= bytes.length; at += 1) {
      const back = await readRows(await read(format, "bindings", bytes.subarray(0, at), bytes.subarray(at)));
      expect(plainRows(["a", "b"], back.rows), `split at ${at}`).toEqual(whole);
    }
  });
});

const graph = nastyTerms.flatMap((object, index): RDF.Quad[] => {
  const subject = index % 7 === 0 ? blankNode("b0") : namedNode(`http://example.org/s${index >> 2}`);
  const predicate = namedNode(
    index % 5 === 0 ? "http://www.w3.org/1999/02/22-rdf-syntax-ns#type" : `http://p/${index % 3}`,
  );
  return object.termType === "Literal" || object.termType === "NamedNode" || object.termType === "BlankNode"
    ? [quad(subject, predicate, object)]
    : [];
});

const byText = (quads: readonly RDF.Quad[]): string[] => plainQuads(quads).map((cells) => cells.join(" "));

const asResult = (quads: readonly RDF.Quad[]): QueryResult => ({ kind: "quads", quads: each(quads) });

describe.each(["turtle", "ntriples", "jsonld"] as const)("triples in %s", (name) => {
  const format = formatNamed(name);

  test("every nasty term", async () => {
    expect(graph).toHaveLength(nastyTerms.length);
    const bytes = await write(asResult(graph), format);
    expect(byText(await readQuads(await read(format, "quads", bytes)))).toEqual(byText(graph));
    const scanner = createAnswerScanner(format.mediaType);
    scanner.push(bytes);
    const { atMost = graph.length, ...end } = scanner.end();
    expect(end).toEqual({ complete: true, ...(name === "ntriples" && { rows: graph.length }) });
    expect(atMost).toBeGreaterThanOrEqual(graph.length);
  });

  test("no triples", async () => {
    const bytes = await write(asResult([]), format);
    expect(await readQuads(await read(format, "quads", bytes))).toEqual([]);
  });

  test("split at every byte", async () => {
    const some = [graph[3]!, graph[13]!, graph[20]!, ...graph.slice(-3)];
    const bytes = await write(asResult(some), format);
    for (let at = 0; at <= bytes.length; at += 1) {
      const back = await readQuads(await read(format, "quads", bytes.subarray(0, at), bytes.subarray(at)));
      expect(byText(back), `split at ${at}`).toEqual(byText(some));
    }
  });

  test("generated graphs", async () => {
    const subject = fc.oneof(
      iri,
      fc.constantFrom("b0", "b1").map((label) => blankNode(label)),
    );
    const triple = fc.tuple(subject, iri, term).map(([s, p, o]): RDF.Quad => quad(s, p, o));
    await fc.assert(
      fc.asyncProperty(fc.array(triple, { maxLength: 8 }), async (quads) => {
        const bytes = await write(asResult(quads), format);
        expect(byText(await readQuads(await read(format, "quads", bytes)))).toEqual(byText(quads));
      }),
      { numRuns: 50 },
    );
  });
});

describe("transcode", () => {
  const rows = [
    rowOf({ a: literal('ä\n"', "en"), b: blankNode("n") }),
    rowOf({ a: namedNode("urn:a:b"), b: blankNode("n") }),
  ];
  const pairs = lossless.flatMap((from) => lossless.map((to) => [from, to] as const));
  test.each(pairs)("%s to %s", async (from, to) => {
    const bytes = await write(bindingsOf(["a", "b"], rows), formatNamed(from));
    const source = { mediaType: formatNamed(from).mediaType, kind: "bindings" as const };
    const target = formatNamed(to);
    const back = Buffer.concat(await collect<Buffer>(await transcode(each([bytes]), source, { format: target })));
    const table = await readRows(await read(target, "bindings", back));
    expect(plainRows(["a", "b"], table.rows)).toEqual(plainRows(["a", "b"], rows));
  });

  test.each([true, false])("the boolean %s between JSON and XML", async (value) => {
    const json = await write({ kind: "boolean", value }, formatNamed("json"));
    const from = { mediaType: "application/sparql-results+json", kind: "boolean" as const };
    const xml = Buffer.concat(
      await collect<Buffer>(await transcode(each([json]), from, { format: formatNamed("xml") })),
    );
    expect(await read(formatNamed("xml"), "boolean", xml)).toEqual({ kind: "boolean", value });
  });
});
