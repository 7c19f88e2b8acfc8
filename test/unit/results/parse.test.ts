import { Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import type { ErrorCode } from "../../../src/errors/codes.ts";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import { decodedBody } from "../../../src/outbound/content-coding.ts";
import type { AnswerKind, QueryResult } from "../../../src/results/model.ts";
import type { ParseLimits } from "../../../src/results/item-reader.ts";
import { parseAnswer } from "../../../src/results/parse.ts";
import { termToText } from "../../../src/results/terms.ts";
import { each, readQuads, readRows } from "../../support/result-terms.ts";

/** A triple term that holds a triple term that ... as JSON. */
const nestedTriple = (depth: number): string => {
  const iri = '{"type":"uri","value":"http://ex.org/"}';
  const open = `{"type":"triple","value":{"predicate":${iri},"object":${iri},"subject":`;
  return `${open.repeat(depth)}${iri}${"}}".repeat(depth)}`;
};

const types = {
  json: "application/sparql-results+json",
  star: "application/x-sparqlstar-results+json",
  xml: "application/sparql-results+xml",
  csv: "text/csv",
  tsv: "text/tab-separated-values",
  turtle: "text/turtle",
  ntriples: "application/n-triples",
  jsonld: "application/ld+json",
  rdfxml: "application/rdf+xml",
} as const;
type Format = keyof typeof types;

interface Given {
  readonly format: Format;
  readonly body: string | Uint8Array;
  readonly kind?: AnswerKind;
  readonly limits?: ParseLimits;
}

const kindOf = (format: Format): AnswerKind =>
  ["json", "star", "xml", "csv", "tsv"].includes(format) ? "bindings" : "quads";

const parse = ({ format, body, kind = kindOf(format), limits }: Given): Promise<QueryResult> =>
  parseAnswer(each([typeof body === "string" ? Buffer.from(body) : body]), {
    mediaType: types[format],
    kind,
    ...(limits && { limits }),
  });

const cell = (term: Parameters<typeof termToText>[0] | undefined): string => (term ? termToText(term) : "-");

async function drain(result: QueryResult): Promise<string[]> {
  if (result.kind === "quads") {
    return (await readQuads(result)).map((quad) =>
      [quad.subject, quad.predicate, quad.object].map(termToText).join(" "),
    );
  }
  const { variables, rows } = await readRows(result);
  return [variables.join(" "), ...rows.map((row) => variables.map((name) => cell(row.get(name))).join(" "))];
}

const shouldRead = async (format: Format, body: string, lines: readonly string[]): Promise<void> =>
  expect(await drain(await parse({ format, body }))).toEqual(lines);

async function shouldReject(given: Given, code: ErrorCode, message: RegExp): Promise<void> {
  const thrown: unknown = await parse(given)
    .then(drain)
    .then(
      () => "no error",
      (error: unknown) => error,
    );
  expect(thrown).toBeInstanceOf(FedwayError);
  expect(thrown).toMatchObject({ code, message: expect.stringMatching(message) });
}

const xmlDocument = (results: string): string =>
  `<sparql xmlns="http://www.w3.org/2005/sparql-results#"><head><variable name="x"/></head>${results}</sparql>`;
const binding = (term: string): string =>
  xmlDocument(`<results><result><binding name="x">${term}</binding></result></results>`);
const rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";
const xsd = "http://www.w3.org/2001/XMLSchema#";

describe("what engines send", () => {
  const cases: readonly (readonly [string, Format, string, readonly string[]])[] = [
    [
      "Virtuoso's typed-literal and blank nodes",
      "json",
      '{"head":{"link":[],"vars":["x","y"]},"results":{"distinct":false,"ordered":true,"bindings":[{"x":{"type":"typed-literal","datatype":"http://www.w3.org/2001/XMLSchema#integer","value":"7"},"y":{"type":"uri","value":"nodeID://b10"}},{"y":{"type":"bnode","value":"nodeID://b10"}},{"y":{"type":"uri","value":"_:b10"}}]}}',
      ["x y", '"7"^^<http://www.w3.org/2001/XMLSchema#integer> _:b10', "- _:b10", "- _:b10"],
    ],
    [
      "results before head",
      "json",
      '{"results":{"bindings":[{"x":{"type":"uri","value":"urn:a"}}]},"head":{"vars":["y","x"]}}',
      ["y x", "- <urn:a>"],
    ],
    [
      "no head at all",
      "json",
      '{"results":{"bindings":[{"x":{"type":"literal","value":"1"}},{"y":{"type":"literal","value":"2"}}]}}',
      ["x y", '"1" -', '- "2"'],
    ],
    ["byte order mark", "json", '\ufeff{"head":{"vars":[]},"results":{"bindings":[{}]}}', ["", ""]],
    [
      "QLever's meta after the rows",
      "json",
      '{"head":{"vars":["x"]},"results":{"bindings":[]},"meta":{"result-size-total":0}}',
      ["x"],
    ],
    [
      "a variable called __proto__",
      "json",
      '{"head":{"vars":["__proto__"]},"results":{"bindings":[{"__proto__":{"type":"literal","value":"1"}}]}}',
      ["__proto__", '"1"'],
    ],
    [
      "triple term",
      "json",
      '{"head":{"vars":["x"]},"results":{"bindings":[{"x":{"type":"triple","value":{"subject":{"type":"uri","value":"urn:s"},"predicate":{"type":"uri","value":"urn:p"},"object":{"type":"literal","value":"o"}}}}]}}',
      ["x", '<<( <urn:s> <urn:p> "o" )>>'],
    ],
    [
      "triple term of RDF4J",
      "star",
      '{"head":{"vars":["x"]},"results":{"bindings":[{"x":{"type":"triple","value":{"s":{"type":"uri","value":"urn:s"},"p":{"type":"uri","value":"urn:p"},"o":{"type":"literal","value":"o"}}}}]}}',
      ["x", '<<( <urn:s> <urn:p> "o" )>>'],
    ],
    ["white space in terms and results", "xml", binding("\n  <uri> urn:a\n</uri>\n"), ["x", "<urn:a>"]],
    [
      "references and CDATA",
      "xml",
      binding("<literal xml:lang='en'>&lt;&#65;&#x1F600;&amp;amp;<![CDATA[<&>]]></literal>"),
      ["x", '"<A😀&amp;<&>"@en'],
    ],
    [
      "a prefix",
      "xml",
      '<s:sparql xmlns:s="u"><s:head><s:variable name="x"/></s:head><s:results><s:result><s:binding name="x"><s:bnode>b</s:bnode></s:binding></s:result></s:results></s:sparql>',
      ["x", "_:b"],
    ],
    [
      "brackets in attribute values",
      "xml",
      binding('<literal datatype="urn:a>b">1</literal>').replace("<head>", "<head><link href='>\"'/>"),
      ["x", '"1"^^<urn:a\\u003Eb>'],
    ],
    [
      "triple term",
      "xml",
      binding(
        "<triple><subject><uri>urn:s</uri></subject><predicate><uri>urn:p</uri></predicate><object><literal>o</literal></object></triple>",
      ),
      ["x", '<<( <urn:s> <urn:p> "o" )>>'],
    ],
    [
      "empty literal and empty result",
      "xml",
      xmlDocument('<results><result><binding name="x"><literal/></binding></result><result/></results>'),
      ["x", '""', "-"],
    ],
    [
      "quoted everything",
      "csv",
      '"x","y"\n"http://a/b","t"\n"urn:x:y",""\n',
      ["x y", '<http://a/b> "t"', '<urn:x:y> ""'],
    ],
    [
      "heuristics",
      "csv",
      "x\r\n_:b1\r\nmailto:a@b\r\nhttp://not an iri\r\nnote: text\r\n12\r\n",
      ["x", "_:b1", "<mailto:a@b>", '"http://not an iri"', '"note: text"', '"12"'],
    ],
    [
      "bare values and single quotes",
      "tsv",
      "?x\t$y\n1\t-2.5\n1.0e3\ttrue\n'a\\'b'\t\"2\"^^xsd:integer\n",
      [
        "x y",
        '"1"^^<http://www.w3.org/2001/XMLSchema#integer> "-2.5"^^<http://www.w3.org/2001/XMLSchema#decimal>',
        '"1.0e3"^^<http://www.w3.org/2001/XMLSchema#double> "true"^^<http://www.w3.org/2001/XMLSchema#boolean>',
        '"a\'b" "2"^^<http://www.w3.org/2001/XMLSchema#integer>',
      ],
    ],
    [
      "escapes",
      "tsv",
      '?x\n"\\t\\n\\u00e4\\U0001F600\\\\"\n<http://a/\\u00e4>\n',
      ["x", '"\\t\\nä😀\\\\"', "<http://a/ä>"],
    ],
    [
      "prefixes, lists of objects",
      "turtle",
      "PREFIX e: <urn:e:>\ne:s a e:C ; e:p 1, 'x'@en .",
      [
        `<urn:e:s> <${rdf}type> <urn:e:C>`,
        '<urn:e:s> <urn:e:p> "1"^^<http://www.w3.org/2001/XMLSchema#integer>',
        '<urn:e:s> <urn:e:p> "x"@en',
      ],
    ],
    ["comments and blank lines", "ntriples", "# c\n\n<urn:s> <urn:p> <urn:o> . # d\n", ["<urn:s> <urn:p> <urn:o>"]],
    [
      "an inline context",
      "jsonld",
      '{"@context":{"p":"urn:p"},"@id":"urn:s","p":["a",{"@id":"urn:o"}]}',
      ['<urn:s> <urn:p> "a"', "<urn:s> <urn:p> <urn:o>"],
    ],
    [
      "RDF/XML",
      "rdfxml",
      `<r:RDF xmlns:r="${rdf}" xmlns:e="urn:e:"><r:Description r:about="urn:s"><e:p xml:lang="en">a&amp;b</e:p></r:Description></r:RDF>`,
      ['<urn:s> <urn:e:p> "a&b"@en'],
    ],
    [
      "RDF/XML with comments and CDATA sections within texts",
      "rdfxml",
      `<r:RDF xmlns:r="${rdf}" xmlns:e="urn:e:"><r:Description r:about="urn:s"><e:p>x<!-- c -->y<![CDATA[<b>]]>z</e:p></r:Description></r:RDF>`,
      ['<urn:s> <urn:e:p> "xy<b>z"'],
    ],
    [
      "RDF/XML with an XML literal",
      "rdfxml",
      `<r:RDF xmlns:r="${rdf}" xmlns:e="urn:e:"><r:Description r:about="urn:s"><e:p r:parseType="Literal"><b t="1 &quot; 2">x &lt; y &amp; <![CDATA[<i>]]></b></e:p></r:Description></r:RDF>`,
      [`<urn:s> <urn:e:p> "<b t=\\"1 &quot; 2\\">x &lt; y &amp; &lt;i&gt;</b>"^^<${rdf}XMLLiteral>`],
    ],
    [
      "RDF/XML with a parse type of its own, which means Literal",
      "rdfxml",
      `<r:RDF xmlns:r="${rdf}" xmlns:e="urn:e:"><r:Description r:about="urn:s"><e:p r:parseType="Other"><b>o</b></e:p></r:Description></r:RDF>`,
      [`<urn:s> <urn:e:p> "<b>o</b>"^^<${rdf}XMLLiteral>`],
    ],
    [
      "JSON-LD with integers from 2^53 on",
      "jsonld",
      `{"@context":{"d":{"@id":"urn:d","@type":"${xsd}decimal"}},"@id":"urn:s","urn:p":[9007199254740993,-9007199254740993,{"@value":12345678901234567890}],"urn:t":{"@value":9007199254740993,"@type":"${xsd}long"},"urn:l":1234567890123456789012,"d":9007199254740993}`,
      [
        `<urn:s> <urn:p> "9007199254740993"^^<${xsd}integer>`,
        `<urn:s> <urn:p> "-9007199254740993"^^<${xsd}integer>`,
        `<urn:s> <urn:p> "12345678901234567890"^^<${xsd}integer>`,
        `<urn:s> <urn:t> "9007199254740993"^^<${xsd}long>`,
        `<urn:s> <urn:l> "1.234567890123457E21"^^<${xsd}double>`,
        `<urn:s> <urn:d> "9007199254740993"^^<${xsd}decimal>`,
      ],
    ],
  ];
  test.each(cases)("%s (%s)", (...[, format, body, lines]) => shouldRead(format, body, lines));

  test.each([
    ["json", '{"head":{},"boolean":true}', true],
    ["json", '{"boolean":false}', false],
    ["xml", "<sparql xmlns='u'><head/><boolean> true </boolean></sparql>", true],
  ] as const)("ASK in %s", async (format, body, value) => {
    expect(await parse({ format, body, kind: "boolean" })).toEqual({ kind: "boolean", value });
  });
});

const json = (rows: string): string => `{"head":{"vars":["x"]},"results":{"bindings":[${rows}]}}`;

describe("malformed answers", () => {
  const cases: readonly (readonly [string, Given, RegExp])[] = [
    ["empty JSON", { format: "json", body: "" }, /empty/],
    ["truncated JSON", { format: "json", body: json("{}").slice(0, -2) }, /ends before it is closed/],
    [
      "Java text in the rows",
      { format: "json", body: `${json("{}").slice(0, -3)}\njava.lang.Error` },
      /ends before it is closed/,
    ],
    [
      "a raw line break in a string",
      { format: "json", body: json('{"x":{"type":"literal","value":"a\nb"}}') },
      /malformed/,
    ],
    ["triples in triples", { format: "json", body: json(`{"x":${nestedTriple(40)}}`) }, /no RDF term/],
    ["text after JSON", { format: "json", body: `${json("")}x` }, /text/],
    ["JSON without results", { format: "json", body: '{"error":"x"}' }, /neither/],
    [
      "a cell that is no term",
      { format: "json", body: json('{"x":{"type":"uri","value":"urn:a"}},{"x":{"type":"odd","value":"1"}}') },
      /Row 2 .*\?x/,
    ],
    ["a cell without value", { format: "json", body: json('{"x":{"type":"uri"}}') }, /Row 1/],
    ["a row that is null", { format: "json", body: json("null") }, /row|Row/],
    ...[
      `{"type":"literal","value":"a","xml:lang":"en","its:dir":"up"}`,
      `{"type":"literal","value":"a","its:dir":"rtl"}`,
    ].map((term): readonly [string, Given, RegExp] => [
      `a base direction that is none: ${term}`,
      { format: "json", body: json(`{"x":${term}}`) },
      /no RDF term for \?x/,
    ]),
    [
      "a base direction that is none in XML",
      { format: "xml", body: binding(`<literal xml:lang="en" its:dir="up">a</literal>`) },
      /row 1 has an invalid base direction/,
    ],
    ["rows without commas", { format: "json", body: json("{} {}") }, /malformed/],
    [
      "head.vars that is no list",
      { format: "json", body: '{"head":{"vars":"x"},"results":{"bindings":[]}}' },
      /head\.vars/,
    ],
    [
      "not UTF-8",
      { format: "json", body: Buffer.from(json('{"x":{"type":"literal","value":"\u00e4"}}'), "latin1") },
      /UTF-8/,
    ],
    ["boolean instead of rows", { format: "json", body: '{"head":{},"boolean":true}' }, /boolean where rows/],
    ["rows instead of a boolean", { format: "json", body: json("{}"), kind: "boolean" }, /rows where a boolean/],
    ["deep nesting", { format: "json", body: json(`{"x":${"[".repeat(5000)}`) }, /nested more than 128 levels/],
    ["empty XML", { format: "xml", body: "" }, /empty/],
    ["HTML", { format: "xml", body: "<html></html>" }, /root .* is not sparql/],
    ["truncated XML", { format: "xml", body: xmlDocument("<results></results>").slice(0, -9) }, /before its root/],
    ["text after XML", { format: "xml", body: `${xmlDocument("<results/>")} java` }, /after the end/],
    ["tags that do not match", { format: "xml", body: xmlDocument("<results></result>") }, /do not match/],
    ["entities", { format: "xml", body: '<!DOCTYPE x [<!ENTITY a "b">]><sparql/>' }, /document type/],
    ["an unknown reference", { format: "xml", body: binding("<literal>&nbsp;</literal>") }, /reference/],
    ["a reference beyond Unicode", { format: "xml", body: binding("<literal>&#x110000;</literal>") }, /reference/],
    ["an unknown kind of term", { format: "xml", body: binding("<odd/>") }, /row 1 .*\?x/],
    ["neither results nor boolean", { format: "xml", body: xmlDocument("") }, /neither/],
    ["deep XML", { format: "xml", body: binding("<triple>".repeat(100)) }, /nested more than 64 levels/],
    [
      "boolean that is none",
      { format: "xml", body: "<sparql><boolean>maybe</boolean></sparql>", kind: "boolean" },
      /neither true nor false/,
    ],
    ["empty CSV", { format: "csv", body: "" }, /header/],
    ["CSV record too short", { format: "csv", body: "x,y\r\n1,2\r\n3\r\n" }, /1 instead of 2 fields in record 3/],
    ["open quote in CSV", { format: "csv", body: 'x\r\n"a' }, /quoted/],
    ["TSV that holds no term", { format: "tsv", body: "?x\nplain text\n" }, /record 2/],
    ["TSV literal that does not end", { format: "tsv", body: '?x\n"abc\n' }, /unterminated/],
    ["Turtle syntax", { format: "turtle", body: "<urn:s> <urn:p> .\n" }, /line 1/],
    ["truncated Turtle", { format: "turtle", body: "<urn:s> <urn:p> <urn:o>" }, /malformed/],
    ["unknown prefix", { format: "turtle", body: "e:s e:p e:o ." }, /prefix/i],
    ["N-Triples syntax", { format: "ntriples", body: "<urn:s> a <urn:o> .\n" }, /malformed/],
    [
      "truncated JSON-LD",
      { format: "jsonld", body: '[{"@id":"urn:s","urn:p":[{"@value":"x"}]}' },
      /before it is closed/,
    ],
    [
      "remote context",
      { format: "jsonld", body: '{"@context":"http://127.0.0.1:1/c","@id":"urn:s","p":1}' },
      /remote context/,
    ],
    ["named graph", { format: "jsonld", body: '{"@id":"urn:g","@graph":[{"@id":"urn:s","urn:p":1}]}' }, /named graph/],
    ["JSON-LD that is no JSON", { format: "jsonld", body: "[{]}" }, /malformed/],
    ["truncated RDF/XML", { format: "rdfxml", body: `<r:RDF xmlns:r="${rdf}">` }, /before its root/],
    [
      "entities in RDF/XML",
      { format: "rdfxml", body: `<!DOCTYPE r [<!ENTITY a "b">]><r:RDF xmlns:r="${rdf}"/>` },
      /document type/,
    ],
    [
      "RDF/XML syntax",
      { format: "rdfxml", body: `<r:RDF xmlns:r="${rdf}"><r:li r:bad="x" r:ID="1 2"/></r:RDF>` },
      /malformed/,
    ],
  ];
  test.each(cases)("%s", (_name, given, message) => shouldReject(given, "ENDPOINT_MALFORMED", message));

  test("an alien media type", async () => {
    await expect(parseAnswer(each([]), { mediaType: "text/html", kind: "bindings" })).rejects.toMatchObject({
      code: "ENDPOINT_NOT_SPARQL",
    });
  });
});

describe("limits", () => {
  const row = '{"x":{"type":"literal","value":"a"}}';
  const body = `{"head":{"vars":["x"]},"results":{"bindings":[${Array.from({ length: 10 }, () => row).join(",")}]}}`;
  test("as many rows as allowed", async () => {
    expect(await drain(await parse({ format: "json", body, limits: { maxRows: 10 } }))).toHaveLength(11);
  });
  const cases: readonly (readonly [string, Given])[] = [
    ["one row too many", { format: "json", body, limits: { maxRows: 9 } }],
    [
      "one triple too many",
      { format: "ntriples", body: "<urn:s> <urn:p> <urn:o> .\n".repeat(3), limits: { maxRows: 2 } },
    ],
    [
      "an endless JSON string",
      {
        format: "json",
        body: `{"head":{"vars":["x"]},"results":{"bindings":[{"x":"${"a".repeat(300_000)}`,
        limits: { maxTermBytes: 100_000 },
      },
    ],
    [
      "rows that wait for a head too long",
      {
        format: "json",
        body: `{"results":{"bindings":[${`${row},`.repeat(10_000)}${row}]},"head":{"vars":["x"]}}`,
        limits: { maxTermBytes: 100_000 },
      },
    ],
    [
      "an endless XML text",
      { format: "xml", body: binding(`<literal>${"a".repeat(300_000)}`), limits: { maxTermBytes: 100_000 } },
    ],
    [
      "an endless CSV field",
      { format: "csv", body: `x\n"${"a\n".repeat(150_000)}`, limits: { maxTermBytes: 100_000 } },
    ],
    [
      "an endless Turtle literal",
      { format: "turtle", body: `<urn:s> <urn:p> """${"a".repeat(300_000)}`, limits: { maxTermBytes: 100_000 } },
    ],
  ];
  test.each(cases)("%s", (_name, given) => shouldReject(given, "ANSWER_TOO_LARGE", /sent/));
});

/** Chunks by hand: remembers how many were taken and whether it was released; hangs after the last one. */
function handSource(chunks: readonly string[]) {
  const state = { taken: 0, released: false };
  const never = Promise.withResolvers<IteratorResult<Uint8Array>>();
  const iterator: AsyncIterableIterator<Uint8Array> = {
    next: () => {
      const chunk = chunks[state.taken];
      if (chunk === undefined) return never.promise;
      state.taken += 1;
      return Promise.resolve({ done: false, value: Buffer.from(chunk) });
    },
    return: () => {
      state.released = true;
      return Promise.resolve({ done: true, value: undefined });
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
  return { state, iterator };
}

describe("the source", () => {
  const start = '{"head":{"vars":["x"]},"results":{"bindings":[{"x":{"type":"literal","value":"1"}}';
  const options = { mediaType: types.json, kind: "bindings" as const };

  test("the head and the first row come out while the source hangs", async () => {
    const { state, iterator } = handSource([start]);
    const result = await parseAnswer(iterator, options);
    if (result.kind !== "bindings") throw new Error("bindings expected");
    const rows = result.rows[Symbol.asyncIterator]();
    expect((await rows.next()).value?.get("x")?.value).toBe("1");
    expect(state).toEqual({ taken: 1, released: false });
    const waiting = rows.next();
    await rows.return?.();
    expect(state.released).toBe(true);
    expect(await waiting).toEqual({ done: true, value: undefined });
  });

  test("leaving before the first row releases it", async () => {
    const { state, iterator } = handSource([start]);
    const result = await parseAnswer(iterator, options);
    if (result.kind !== "bindings") throw new Error("bindings expected");
    await result.rows[Symbol.asyncIterator]().return?.();
    expect(state.released).toBe(true);
    expect(await result.rows[Symbol.asyncIterator]().next()).toEqual({ done: true, value: undefined });
  });

  test("a malformed chunk releases it", async () => {
    const { state, iterator } = handSource([start, ",}"]);
    await expect(parseAnswer(iterator, options).then(drain)).rejects.toMatchObject({ code: "ENDPOINT_MALFORMED" });
    expect(state).toEqual({ taken: 2, released: true });
  });

  test.each(["text/html", types.json])("a refused answer releases it (%s)", async (mediaType) => {
    const { state, iterator } = handSource(["<html>"]);
    await expect(parseAnswer(iterator, { mediaType, kind: "bindings" })).rejects.toBeInstanceOf(FedwayError);
    expect(state.released).toBe(true);
  });

  test("its own error passes unchanged", async () => {
    const broke = new FedwayError("ENDPOINT_BROKE_OFF", "The endpoint broke off.");
    const source = Readable.from(
      (async function* () {
        yield Buffer.from(start);
        throw await Promise.resolve(broke);
      })(),
    );
    await expect(parseAnswer(source, options).then(drain)).rejects.toBe(broke);
  });

  // Whoever sends the bytes reports this error as the end of the answer, not that its reader has left.
  const overdueError = new FedwayError("DEADLINE_EXCEEDED", "Over.");
  test.each([
    ["the deadline", start, overdueError, "as it is"],
    ["a malformed row", `${start},}`, undefined, "as it is"],
    ["the deadline", start, overdueError, "decoded"],
    ["a malformed row", `${start},}`, undefined, "decoded"],
  ] as const)("a readable ends with the error of its reader, %s", async (_name, text, overdue, how) => {
    const source = new Readable({ read() {} });
    const bytes = how === "decoded" ? decodedBody({ body: source, contentEncoding: "identity" }) : source;
    source.push(Buffer.from(text));
    const check = (): void => {
      if (overdue) throw overdue;
    };
    const parsing = parseAnswer(bytes, { ...options, check }).then(drain);
    const error: unknown = await parsing.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(FedwayError);
    expect(source.errored).toBe(error);
  });

  test("a readable that hangs is destroyed when the consumer leaves", async () => {
    const source = new Readable({ read() {} });
    source.push(Buffer.from(start));
    const result = await parseAnswer(source, options);
    if (result.kind !== "bindings") throw new Error("bindings expected");
    const rows = result.rows[Symbol.asyncIterator]();
    await rows.next();
    const waiting = rows.next();
    await rows.return?.();
    expect(source.destroyed).toBe(true);
    expect(await waiting).toEqual({ done: true, value: undefined });
  });
});
