import { once } from "node:events";
import type * as RDF from "@rdfjs/types";
import { DataFactory } from "n3";
import { describe, expect, test } from "vitest";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import type { Bindings, QueryResult } from "../../../src/results/model.ts";
import { parseAnswer } from "../../../src/results/parse.ts";
import { literalFromParts } from "../../../src/results/terms.ts";
import { serializeResult, transcode } from "../../../src/results/serialize.ts";
import { spreadsheetCsv } from "../../../src/http/spreadsheet-csv.ts";
import {
  bindingsOf,
  blankNode,
  collect,
  each,
  formatNamed,
  literal,
  namedNode,
  quad,
} from "../../support/result-terms.ts";

type FormatName = Parameters<typeof formatNamed>[0];

async function shouldWrite(result: QueryResult, format: FormatName, expected: string): Promise<void> {
  const bytes = Buffer.concat(await collect<Buffer>(serializeResult(result, formatNamed(format))));
  expect(bytes.toString()).toBe(expected);
}

const row = (cells: Readonly<Record<string, RDF.Term>>): Bindings => new Map(Object.entries(cells));
const rows: readonly Bindings[] = [
  row({ a: namedNode("http://x/?a&b"), b: literal('q"\t\n\r<&>', "en") }),
  row({ b: literal("1", namedNode("http://www.w3.org/2001/XMLSchema#integer")) }),
  row({ a: blankNode("n"), b: literal("") }),
];

const cells: readonly (readonly [cell: string, marked: string])[] = [
  ["=1+1", "'=1+1"],
  ['"=HYPERLINK(""http://x.example/"",1)"', '"\'=HYPERLINK(""http://x.example/"",1)"'],
  ["+a", "'+a"],
  ["-", "'-"],
  ["@sum", "'@sum"],
  ["\t=1", "'\t=1"],
  ['"\r=1"', '"\'\r=1"'],
  ["\uFF1D1", "'\uFF1D1"],
  ["-5", "-5"],
  ["+1.50", "+1.50"],
  ["-.5E-7", "-.5E-7"],
  ['"-5"', '"-5"'],
  ["-5-1", "'-5-1"],
  ["-1e", "'-1e"],
  ["a=b", "a=b"],
  ['"a,=b\n=c""=d"', '"a,=b\n=c""=d"'],
  ['"""=1"', '"""=1"'],
  ["", ""],
  [`-${"9".repeat(2_000)}`, `'-${"9".repeat(2_000)}`],
];

describe("CSV for spreadsheets", () => {
  const marked = async (parts: readonly Uint8Array[]): Promise<string> =>
    Buffer.concat(await collect<Buffer>(spreadsheetCsv(each(parts)))).toString();
  const csv = (which: 0 | 1): string =>
    `a,b\r\n${cells.map((each_) => `${each_[which]},${each_[which]}`).join("\r\n")}`;

  test("has an apostrophe before the text of what would be a formula, and all else as it is", async () => {
    expect(await marked([Buffer.from(csv(0))])).toBe(csv(1));
    expect(await marked([Buffer.from(`${csv(0)}\r\n`)])).toBe(`${csv(1)}\r\n`);
  });

  test("does not depend on the parts in which it comes", async () => {
    const bytes = Buffer.from(csv(0));
    expect(await marked([...bytes].map((byte) => Buffer.from([byte])))).toBe(csv(1));
    for (let at = 1; at < 400; at += 1) expect(await marked([bytes.subarray(0, at), bytes.subarray(at)])).toBe(csv(1));
  });
});

describe("rows as the recommendations write them", () => {
  test("JSON", () =>
    shouldWrite(
      bindingsOf(["a", "b"], rows),
      "json",
      '{"head":{"vars":["a","b"]},"results":{"bindings":[\n' +
        '{"a":{"type":"uri","value":"http://x/?a&b"},"b":{"type":"literal","value":"q\\"\\t\\n\\r<&>","xml:lang":"en"}},\n' +
        '{"b":{"type":"literal","value":"1","datatype":"http://www.w3.org/2001/XMLSchema#integer"}},\n' +
        '{"a":{"type":"bnode","value":"n"},"b":{"type":"literal","value":""}}\n]}}\n',
    ));
  test("XML", () =>
    shouldWrite(
      bindingsOf(["a", "b"], rows),
      "xml",
      '<?xml version="1.0" encoding="UTF-8"?>\n<sparql xmlns="http://www.w3.org/2005/sparql-results#">\n' +
        '<head><variable name="a"/><variable name="b"/></head>\n<results>\n' +
        '<result><binding name="a"><uri>http://x/?a&amp;b</uri></binding><binding name="b"><literal xml:lang="en">q&quot;&#9;&#10;&#13;&lt;&amp;&gt;</literal></binding></result>\n' +
        '<result><binding name="b"><literal datatype="http://www.w3.org/2001/XMLSchema#integer">1</literal></binding></result>\n' +
        '<result><binding name="a"><bnode>n</bnode></binding><binding name="b"><literal></literal></binding></result>\n' +
        "</results>\n</sparql>\n",
    ));
  test("CSV", () =>
    shouldWrite(bindingsOf(["a", "b"], rows), "csv", 'a,b\r\nhttp://x/?a&b,"q""\t\n\r<&>"\r\n,1\r\n_:n,""\r\n'));
  test("TSV", () =>
    shouldWrite(
      bindingsOf(["a", "b"], rows),
      "tsv",
      '?a\t?b\n<http://x/?a&b>\t"q\\"\\t\\n\\r<&>"@en\n\t"1"^^<http://www.w3.org/2001/XMLSchema#integer>\n_:n\t""\n',
    ));
  test("a blank node label that no syntax allows", () =>
    shouldWrite(bindingsOf(["a"], [row({ a: blankNode("a b") })]), "tsv", "?a\n_:x612062\n"));
  test("true in JSON", () => shouldWrite({ kind: "boolean", value: true }, "json", '{"head":{},"boolean":true}\n'));
  test("false in XML", () =>
    shouldWrite(
      { kind: "boolean", value: false },
      "xml",
      '<?xml version="1.0" encoding="UTF-8"?>\n<sparql xmlns="http://www.w3.org/2005/sparql-results#">\n<head/>\n<boolean>false</boolean>\n</sparql>\n',
    ));
});

describe("triples", () => {
  const s = namedNode("urn:s");
  const p = namedNode("urn:p");
  const type = namedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type");
  const quads = (): QueryResult => ({
    kind: "quads",
    quads: each([
      quad(s, type, namedNode("urn:C")),
      quad(s, p, literal("a\n", "en")),
      quad(s, p, literal("b")),
      quad(s, type, namedNode("urn:D")),
      quad(blankNode("n"), p, namedNode("http://x/ <>")),
    ]),
  });
  test("Turtle", () =>
    shouldWrite(
      quads(),
      "turtle",
      '<urn:s> a <urn:C> ;\n  <urn:p> "a\\n"@en, "b" ;\n  a <urn:D> .\n_:n <urn:p> <http://x/\\u0020\\u003C\\u003E> .\n',
    ));
  test("N-Triples", () =>
    shouldWrite(
      quads(),
      "ntriples",
      "<urn:s> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <urn:C> .\n" +
        '<urn:s> <urn:p> "a\\n"@en .\n<urn:s> <urn:p> "b" .\n' +
        "<urn:s> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <urn:D> .\n" +
        "_:n <urn:p> <http://x/\\u0020\\u003C\\u003E> .\n",
    ));
  test("JSON-LD: a predicate that comes back opens another node object", () =>
    shouldWrite(
      quads(),
      "jsonld",
      '[\n{"@id":"urn:s","http://www.w3.org/1999/02/22-rdf-syntax-ns#type":[{"@id":"urn:C"}],"urn:p":[{"@value":"a\\n","@language":"en"},{"@value":"b"}]},\n' +
        '{"@id":"urn:s","http://www.w3.org/1999/02/22-rdf-syntax-ns#type":[{"@id":"urn:D"}]},\n' +
        '{"@id":"_:n","urn:p":[{"@id":"http://x/ <>"}]}\n]\n',
    ));
});

describe("formats that cannot hold the answer", () => {
  const cases: readonly (readonly [QueryResult, FormatName])[] = [
    [{ kind: "boolean", value: true }, "csv"],
    [{ kind: "boolean", value: true }, "turtle"],
    [bindingsOf(["a"], []), "turtle"],
    [{ kind: "quads", quads: each<RDF.Quad>([]) }, "json"],
  ];
  test.each(cases)("%o as %s", (result, format) => {
    expect(() => serializeResult(result, formatNamed(format))).toThrow(
      expect.objectContaining({ code: "NOT_ACCEPTABLE" }),
    );
  });
  test.each(["\u0000", "\u0007", "\ufffe", "\ud800"])("XML with the character %j", async (character) => {
    const body = serializeResult(bindingsOf(["a"], [row({ a: literal(`a${character}z`) })]), formatNamed("xml"));
    await expect(collect(body)).rejects.toMatchObject({ code: "NOT_ACCEPTABLE" });
  });
  test.each(["tsv", "ntriples", "turtle"] as const)("%s with a language that would end the term", async (format) => {
    const object = literalFromParts("a", "en_US");
    const triple = DataFactory.quad(namedNode("urn:s"), namedNode("urn:p"), object);
    const result =
      format === "tsv" ? bindingsOf(["a"], [row({ a: object })]) : ({ kind: "quads", quads: each([triple]) } as const);
    await expect(collect(serializeResult(result, formatNamed(format)))).rejects.toMatchObject({
      code: "NOT_ACCEPTABLE",
      message: expect.stringContaining("en_us"),
    });
  });
  test("JSON-LD with triple terms", async () => {
    const spo = quad(namedNode("urn:s"), namedNode("urn:p"), namedNode("urn:o"));
    const stating = DataFactory.quad(namedNode("urn:s"), namedNode("urn:p"), spo);
    const body = serializeResult({ kind: "quads", quads: each([stating]) }, formatNamed("jsonld"));
    await expect(collect(body)).rejects.toMatchObject({ code: "NOT_ACCEPTABLE" });
  });
});

describe("RDF/XML", () => {
  const write = async (given: readonly RDF.Quad[]): Promise<string> => {
    const body = serializeResult({ kind: "quads", quads: each(given) }, formatNamed("rdfxml"));
    return Buffer.concat(await collect<Buffer>(body)).toString();
  };
  const property = (predicate: string, object: RDF.Quad_Object = namedNode("urn:o")): RDF.Quad =>
    DataFactory.quad(namedNode("http://x/s"), namedNode(predicate), object);

  test("as the recommendation writes it", async () => {
    const text = await write([
      property("http://x/p#name", literal('a <b> & "c"', "en")),
      property("http://x/p#age", literal("1", namedNode("http://www.w3.org/2001/XMLSchema#integer"))),
      DataFactory.quad(blankNode("0"), namedNode("urn:knows"), namedNode("http://x/?a&b")),
    ]);
    expect(text).toBe(
      '<?xml version="1.0" encoding="UTF-8"?>\n<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">\n' +
        '<rdf:Description rdf:about="http://x/s">\n' +
        '  <name xmlns="http://x/p#" xml:lang="en">a &lt;b&gt; &amp; &quot;c&quot;</name>\n' +
        '  <age xmlns="http://x/p#" rdf:datatype="http://www.w3.org/2001/XMLSchema#integer">1</age>\n' +
        '</rdf:Description>\n<rdf:Description rdf:nodeID="b0">\n' +
        '  <knows xmlns="urn:" rdf:resource="http://x/?a&amp;b"/>\n</rdf:Description>\n</rdf:RDF>\n',
    );
  });

  test.each([
    ["letters at the end", "http://x/a1b"],
    ["digits in front of the name", "http://x/123name"],
    ["letters of other scripts", "http://x/größe"],
    ["ideographs", "http://x/\u{4e2d}\u{20000}"],
    ["a combining character after a letter", "http://x/e\u0301"],
    ["dots and hyphens", "http://x/-a.b-c."],
    ["a member of a container", "http://www.w3.org/1999/02/22-rdf-syntax-ns#_1"],
    ["the type", "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"],
    ["no separator", "urn:p"],
  ])("is read as it was: a predicate with %s", async (_, predicate) => {
    const given = [
      property(predicate),
      property(predicate, literal(' \t"\n<&>\r\u0085 ', "de-at")),
      property(predicate, literal("")),
      property(predicate, literal("<b/>", namedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#XMLLiteral"))),
      DataFactory.quad(blankNode("same"), namedNode(predicate), blankNode("same")),
    ];
    const bytes = each([Buffer.from(await write(given))]);
    const result = await parseAnswer(bytes, { mediaType: "application/rdf+xml", kind: "quads" });
    const read = result.kind === "quads" ? await collect(result.quads) : [];
    expect(read.slice(0, 4)).toEqual(given.slice(0, 4));
    expect(read[4]?.subject.termType).toBe("BlankNode");
    expect(read[4]?.subject).toEqual(read[4]?.object);
  });

  test.each([
    ["without a name at its end", property("http://x/1")],
    ["that ends in a separator", property("http://x/p#")],
    ["of RDF's own syntax", property("http://www.w3.org/1999/02/22-rdf-syntax-ns#li")],
    ["beside a triple term", property("urn:p", property("urn:q"))],
    ["beside a control character", property("urn:p", literal("a\u0001b"))],
    ["beside half a surrogate pair", property("urn:p", literal("\ud800"))],
  ])("is refused for a predicate %s, with what to ask for", async (_, given) => {
    await expect(write([given])).rejects.toMatchObject({
      code: "NOT_ACCEPTABLE",
      details: { next: expect.stringContaining("text/turtle") },
    });
  });
});

/** A source fed by hand that knows how many items were asked for and whether it was left. */
function handRows() {
  const state = { asked: 0, left: false };
  const waiting: PromiseWithResolvers<IteratorResult<Bindings>>[] = [];
  const rowsByHand: AsyncIterableIterator<Bindings> = {
    next: () => {
      state.asked += 1;
      const answer = Promise.withResolvers<IteratorResult<Bindings>>();
      waiting.push(answer);
      return answer.promise;
    },
    return: () => {
      state.left = true;
      return Promise.resolve({ done: true, value: undefined });
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
  const result: QueryResult = { kind: "bindings", variables: ["a"], rows: rowsByHand };
  return { state, waiting, result };
}

const one = row({ a: literal("1") });
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

describe("the byte stream", () => {
  test("says nothing before the first row, then speaks at once", async () => {
    const { state, waiting, result } = handRows();
    const stream = serializeResult(result, formatNamed("tsv"));
    const chunks: string[] = [];
    stream.on("data", (chunk: Buffer) => chunks.push(chunk.toString()));
    await turn();
    expect([chunks, state.asked]).toEqual([[], 1]);
    waiting[0]!.resolve({ done: false, value: one });
    await turn();
    expect([chunks, state.asked]).toEqual([['?a\n"1"\n'], 2]);
    stream.destroy();
  });

  test("flushes what it has when the source stalls", async () => {
    const { waiting, result } = handRows();
    const stream = serializeResult(result, formatNamed("tsv"));
    const chunks: string[] = [];
    stream.on("data", (chunk: Buffer) => chunks.push(chunk.toString()));
    for (let index = 0; index < 3; index += 1) {
      await turn();
      waiting[index]!.resolve({ done: false, value: one });
    }
    await turn();
    expect(chunks.join("")).toBe('?a\n"1"\n"1"\n"1"\n');
    stream.destroy();
  });

  test("gathers small rows into chunks of about 16 KB", async () => {
    const many = Array.from({ length: 10_000 }, () => one);
    const stream = serializeResult(bindingsOf(["a"], many), formatNamed("json"));
    const chunks: Buffer[] = [];
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    await once(stream, "end");
    const sizes = chunks.slice(1, -1).map((chunk) => chunk.length);
    expect(sizes.length).toBeGreaterThan(10);
    for (const size of sizes) expect(size).toBeGreaterThan(16_000);
    for (const size of sizes) expect(size).toBeLessThan(17_000);
    expect(JSON.parse(Buffer.concat(chunks).toString()).results.bindings).toHaveLength(10_000);
  });

  test("takes no more rows than the reader has room for", async () => {
    let taken = 0;
    const endless: QueryResult = {
      kind: "bindings",
      variables: ["a"],
      rows: (async function* () {
        for (;;) {
          taken += 1;
          yield await Promise.resolve(row({ a: literal("x".repeat(1000)) }));
        }
      })(),
    };
    const stream = serializeResult(endless, formatNamed("csv"));
    stream.read();
    for (let index = 0; index < 20; index += 1) await turn();
    expect(taken).toBeGreaterThan(1);
    expect(taken).toBeLessThan(150);
    stream.destroy();
  });

  test("the source's error destroys it", async () => {
    const broke = new FedwayError("ENDPOINT_BROKE_OFF", "The endpoint broke off.");
    const { waiting, result } = handRows();
    const stream = serializeResult(result, formatNamed("json"));
    stream.resume();
    const failed = once(stream, "error");
    await turn();
    waiting[0]!.resolve({ done: false, value: one });
    await turn();
    waiting[1]!.reject(broke);
    expect(await failed).toEqual([broke]);
    expect(stream.destroyed).toBe(true);
  });

  test("an item that the format cannot hold destroys it and leaves the source", async () => {
    const { state, waiting, result } = handRows();
    const stream = serializeResult(result, formatNamed("json"));
    stream.resume();
    const failed = once(stream, "error");
    await turn();
    waiting[0]!.resolve({ done: false, value: row({ a: DataFactory.variable("x") }) });
    expect(await failed).toMatchObject([{ message: "A Variable is no result." }]);
    expect(state.left).toBe(true);
  });

  test("an error before the first row leaves no byte behind", async () => {
    const { waiting, result } = handRows();
    const stream = serializeResult(result, formatNamed("json"));
    let bytes = 0;
    stream.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
    });
    const failed = once(stream, "error");
    await turn();
    waiting[0]!.reject(new Error("early"));
    await failed;
    expect(bytes).toBe(0);
  });

  test("destroying it leaves the source, also while a row is awaited", async () => {
    const { state, result } = handRows();
    const stream = serializeResult(result, formatNamed("json"));
    stream.resume();
    await turn();
    expect(state).toEqual({ asked: 1, left: false });
    stream.destroy();
    await once(stream, "close");
    expect(state).toEqual({ asked: 1, left: true });
  });

  test("transcoding gives its first byte before the last one is in", async () => {
    const more = Promise.withResolvers<void>();
    const source = (async function* () {
      yield Buffer.from('{"head":{"vars":["a"]},"results":{"bindings":[{"a":{"type":"literal","value":"1"}}');
      await more.promise;
      yield Buffer.from("]}}");
    })();
    const from = { mediaType: "application/sparql-results+json", kind: "bindings" as const };
    const stream = await transcode(source, from, { format: formatNamed("csv") });
    const [first]: Buffer[] = await once(stream, "data");
    expect(first?.toString()).toBe("a\r\n1\r\n");
    more.resolve();
    await once(stream, "end");
  });

  test("transcoding a broken answer destroys the stream", async () => {
    const source = each([
      Buffer.from('{"head":{"vars":["a"]},"results":{"bindings":[{}'),
      Buffer.from("java.lang.Error"),
    ]);
    const from = { mediaType: "application/sparql-results+json", kind: "bindings" as const };
    const stream = await transcode(source, from, { format: formatNamed("csv") });
    await expect(collect(stream)).rejects.toMatchObject({ code: "ENDPOINT_MALFORMED" });
  });
});
