import * as fc from "fast-check";
import { afterAll, describe, expect, test, vi } from "vitest";
import { readTpfPage } from "../../src/engine/sources/tpf-page.ts";
import { FedwayError } from "../../src/errors/fedway-error.ts";
import { readDocument } from "../../src/registry/catalog.ts";
import { resultFormats } from "../../src/results/formats.ts";
import { bareMediaType, negotiateFormat } from "../../src/results/negotiation.ts";
import { parseAnswer } from "../../src/results/parse.ts";
import { createAnswerScanner } from "../../src/results/parse.ts";
import { transcode } from "../../src/results/serialize.ts";
import { parseQuery } from "../../src/sparql/query.ts";
import { acceptsCoding } from "../../src/outbound/content-coding.ts";
import { documentMediaType, answerMediaType } from "../../src/outbound/media-types.ts";
import { excerptOf } from "../../src/outbound/excerpt.ts";
import { parseRetryAfter, refusalError } from "../../src/outbound/refusals.ts";
import { holding } from "../support/held-loop.ts";
import {
  floods,
  type NastyText,
  nastyJsonLd,
  nastyRdfXml,
  nastyRecords,
  nastyResultsJson,
  nastyResultsXml,
  nastyTurtle,
  repeated,
} from "../support/nasty-texts.ts";

/** The aim is 100 ms on an idle machine; this is what a busy one with a cold compiler may take. */
const mostMs = 1000;
/** A text that takes longer in all is left at its deadline: it is the single step that matters here. */
const deadlineMs = 60;
const length = 1_000_000;
/** Of single tokens over and over; FOREIGN_TEXT_BYTES=1000000 for a run in full, which takes five minutes. */
const floodLength = Number(process.env["FOREIGN_TEXT_BYTES"] ?? 20_000);

const worst = new Map<string, { readonly ms: number; readonly name: string }[]>();

afterAll(() => {
  for (const [parser, cases] of worst) {
    const shown = cases
      .toSorted((left, right) => right.ms - left.ms)
      .slice(0, 3)
      .map(({ ms, name }) => `${ms.toFixed(0)} ms (${name})`);
    console.log(`${parser}: held the loop for ${shown.join(", ")}`);
  }
});

/** Something that reads foreign text: it gives a value or throws a FedwayError, soon or in small steps. */
interface Reader {
  readonly name: string;
  readonly read: (text: string) => unknown;
}

async function shouldNotHold({ name, read }: Reader, nasty: NastyText): Promise<void> {
  const { longestMs, outcome } = await holding(async () => await read(nasty.text));
  worst.set(name, [...(worst.get(name) ?? []), { ms: longestMs, name: nasty.name }]);
  if ("thrown" in outcome) expect(outcome.thrown, `${name}: ${nasty.name}`).toBeInstanceOf(FedwayError);
  expect(longestMs, `${name}: ${nasty.name}`).toBeLessThan(mostMs);
}

const deadline = (): (() => void) => {
  const endsMs = performance.now() + deadlineMs;
  return () => {
    if (performance.now() > endsMs) throw new FedwayError("DEADLINE_EXCEEDED", "long enough");
  };
};

async function* inChunks(text: string): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += 200_000) yield bytes.subarray(at, at + 200_000);
}

const formatNamed = (name: string) => resultFormats.find((format) => format.name === name)!;

/** An answer of this media type, written in another format: what a direct plan does that must transcode. */
const answerReader = (mediaType: string, kind: "bindings" | "boolean" | "quads"): Reader => ({
  name: `${mediaType} (${kind})`,
  read: async (text) => {
    const to = formatNamed({ quads: "ntriples", bindings: "tsv", boolean: "json" }[kind]);
    const check = deadline();
    const body = await transcode(
      inChunks(text),
      { mediaType, kind, baseIri: "http://b.example/a/", check },
      { format: to },
    );
    let bytes = 0;
    for await (const chunk of body as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      check();
    }
    return bytes;
  },
});

const scannerReader = (mediaType: string): Reader => ({
  name: `scanner of ${mediaType}`,
  read: (text) => {
    const scanner = createAnswerScanner(mediaType);
    scanner.push(Buffer.from(text));
    return scanner.end();
  },
});

const floodsBehind = (...heads: readonly string[]): readonly NastyText[] => floods(["", ...heads], floodLength);

const rdfXmlHead = '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e/">';
const xmlHead = '<sparql xmlns="http://www.w3.org/2005/sparql-results#"><head><variable name="a"/></head><results>';
const jsonHead = '{"head":{"vars":["a"]},"results":{"bindings":[';

const answers: readonly (readonly [Reader, () => readonly NastyText[]])[] = [
  [
    answerReader("application/ld+json", "quads"),
    () => [...nastyJsonLd(length), ...floodsBehind('{"@context":{"a":"e:a"},"@graph":[', '{"@id":"e:s","e:p":')],
  ],
  [
    answerReader("application/rdf+xml", "quads"),
    () => [...nastyRdfXml(length), ...floodsBehind(rdfXmlHead, `${rdfXmlHead}<e:a e:b="`, `${rdfXmlHead}<e:a><e:b>`)],
  ],
  [
    answerReader("text/turtle", "quads"),
    () => [...nastyTurtle(length), ...floodsBehind("<e:s> <e:p> ", '<e:s> <e:p> """', "@prefix a: ")],
  ],
  [answerReader("application/n-triples", "quads"), () => [...nastyTurtle(length), ...floodsBehind("<e:s> <e:p> ")]],
  [
    answerReader("application/sparql-results+json", "bindings"),
    () => [...nastyResultsJson(length), ...floodsBehind(jsonHead, `${jsonHead}{"a":`, '{"head":{"vars":[')],
  ],
  [answerReader("application/sparql-results+json", "boolean"), () => floodsBehind('{"head":{},"boolean":')],
  [
    answerReader("application/sparql-results+xml", "bindings"),
    () => [...nastyResultsXml(length), ...floodsBehind(xmlHead, `${xmlHead}<result a="`)],
  ],
  [answerReader("text/csv", "bindings"), () => [...nastyRecords(length), ...floodsBehind("a,b\n", 'a\n"')]],
  [
    answerReader("text/tab-separated-values", "bindings"),
    () => [...nastyRecords(length), ...floodsBehind("?a\t?b\n", "?a\n")],
  ],
];

describe("answers of endpoints", () => {
  test.each(answers)("%$", async (reader, texts) => {
    for (const nasty of texts()) await shouldNotHold(reader, nasty);
  });
});

const mediaTypes = [
  "application/sparql-results+json",
  "application/ld+json",
  "application/sparql-results+xml",
  "text/csv",
  "text/tab-separated-values",
  "application/n-triples",
  "text/turtle",
];

describe("scanners", () => {
  test.each(mediaTypes.map(scannerReader))("$name", async (reader) => {
    const special = [nastyJsonLd, nastyTurtle, nastyResultsJson, nastyResultsXml, nastyRecords];
    for (const nasty of special.flatMap((make) => make(floodLength))) await shouldNotHold(reader, nasty);
    for (const nasty of floodsBehind(jsonHead, xmlHead)) await shouldNotHold(reader, nasty);
  });
});

const origin = new URL("http://t.example/");
const hydra = "http://www.w3.org/ns/hydra/core#";

const sparql: Reader = { name: "SPARQL", read: (text) => parseQuery(text) };

/** Everything else that reads text of others; some of it is cut before it is read, and must be. */
const others: readonly Reader[] = [
  {
    name: "document of a request",
    read: (text) => readDocument({ mediaType: "text/turtle", text }, "http://b.example"),
  },
  { name: "excerpt of an error page", read: excerptOf },
  { name: "refusal", read: (text) => refusalError({ status: 500, headers: {}, text: text.slice(0, 8192) }, "quads") },
  { name: "Retry-After", read: (text) => parseRetryAfter(text, 0) },
  { name: "Accept", read: (text) => negotiateFormat("quads", { accept: text }) },
  { name: "format parameter", read: (text) => negotiateFormat("bindings", { format: text }) },
  { name: "Accept-Encoding", read: (text) => acceptsCoding(text.slice(0, 16_384), "br") },
  { name: "Content-Type", read: (text) => [answerMediaType(text, "quads"), bareMediaType(text)] },
  {
    name: "type of a document",
    read: (text) => documentMediaType(text, new URL(`http://a.example/${text.slice(0, 16_384)}`)),
  },
];

describe("other text", () => {
  test.each(others)("$name", async (reader) => {
    const pages = ["<html><script", "<!doctype html><style>", '{"exception":', "Mon, 01 Jan 2026 ", "text/turtle;q="];
    for (const nasty of [...floodsBehind(...pages), ...nastyTurtle(length)]) await shouldNotHold(reader, nasty);
  });

  test("a document of a request is left at its deadline", async () => {
    let nowMs = 0;
    const clock = vi.spyOn(performance, "now").mockImplementation(() => (nowMs += 100));
    const text = `[${'{"@id":"e:s","e:p":1},'.repeat(500)}{}]`;
    const body = { mediaType: "application/ld+json", text } as const;
    const failure = await readDocument(body, "http://b.example").catch((error: unknown) => error);
    clock.mockRestore();
    expect(failure).toMatchObject({ code: "ENTRY_INVALID", message: "The document takes too long to read." });
  });

  test("SPARQL", async () => {
    const heads = [
      "SELECT * { ",
      "SELECT * { ?a ?b ",
      "SELECT * { FILTER(",
      "SELECT * { VALUES ?a { ",
      "PREFIX a: <b> ASK { a:b ",
    ];
    for (const nasty of floodsBehind(...heads)) await shouldNotHold(sparql, nasty);
  });

  test("a page of a fragments server that is all forms", async () => {
    const url = "http://t.example/page";
    const forms = repeated(`<${url}#f> h:template "a","b","c","d". `, length);
    const text = `@prefix h: <${hydra}>. <${url}> h:search <${url}#f>. ${forms}`;
    const read = async (): Promise<unknown> => {
      const result = await parseAnswer(inChunks(text), { mediaType: "text/turtle", kind: "quads" });
      const quads = [];
      if (result.kind === "quads") for await (const quad of result.quads) quads.push(quad);
      return readTpfPage({ quads, url, mediaType: "text/turtle" }, origin).triples.length;
    };
    await shouldNotHold({ name: "page of fragments", read }, { name: "many forms", text });
  });
});

const samples: readonly (readonly [Reader, readonly string[]])[] = [
  [
    answerReader("application/ld+json", "quads"),
    ['{"@context":{"p":"http://e/p","q":{"@id":"e:q","@type":"@id"}},"@id":"e:s","p":["a",{"@value":1}],"q":"e:o"}'],
  ],
  [
    answerReader("application/rdf+xml", "quads"),
    [
      `${rdfXmlHead}<e:a rdf:about="e:s" e:p="v"><e:b rdf:resource="e:o"/><e:c xml:lang="en">d &amp; e</e:c></e:a></rdf:RDF>`,
    ],
  ],
  [answerReader("text/turtle", "quads"), ['@prefix e: <http://e/> . e:s a e:T ; e:p "a"@en, 1.5e3, [ e:q (1 2) ] .']],
  [answerReader("application/n-triples", "quads"), ['<e:s> <e:p> "a\\u0041"@en .\n_:a <e:p> _:b .\n']],
  [
    answerReader("application/sparql-results+json", "bindings"),
    [`${jsonHead}{"a":{"type":"literal","value":"v","xml:lang":"en"}},{"a":{"type":"uri","value":"e:a"}}]}}`],
  ],
  [
    answerReader("application/sparql-results+xml", "bindings"),
    [`${xmlHead}<result><binding name="a"><literal xml:lang="en">v</literal></binding></result></results></sparql>`],
  ],
  [answerReader("text/csv", "bindings"), ['a,b\r\n"x ""y""",http://e/\r\n_:b,\r\n']],
  [answerReader("text/tab-separated-values", "bindings"), ['?a\t?b\n"x"@en\t<http://e/>\n1.5e3\t_:b\n']],
  [
    sparql,
    [
      "PREFIX e: <http://e/> SELECT ?a (COUNT(*) AS ?n) { SERVICE <http://e/> { ?a e:p+ ?b OPTIONAL { ?b a ?c } FILTER(?b > 1) } } GROUP BY ?a",
    ],
  ],
];

/** A valid text with some pieces taken out, doubled, repeated often, moved or replaced. */
const mutated = (sample: string): fc.Arbitrary<string> =>
  fc
    .array(
      fc.record({
        at: fc.nat(sample.length),
        length: fc.nat(12),
        times: fc.oneof(fc.constant(0), fc.constant(2), fc.nat(2000)),
        put: fc.oneof(fc.constant(""), fc.string({ unit: "binary", maxLength: 4 })),
      }),
      { minLength: 1, maxLength: 4 },
    )
    .map((changes) =>
      changes.reduce((text, { at, length: span, times, put }) => {
        const piece = text.slice(at, at + span);
        return `${text.slice(0, at)}${put}${piece.repeat(times)}${text.slice(at + span)}`;
      }, sample),
    );

describe("valid texts with a few changes", () => {
  test.each(samples)("%$", async (reader, texts) => {
    for (const sample of texts) {
      await fc.assert(
        fc.asyncProperty(mutated(sample), (text) => shouldNotHold(reader, { name: "changed", text })),
        { numRuns: 60, endOnFailure: true },
      );
    }
  });
});
