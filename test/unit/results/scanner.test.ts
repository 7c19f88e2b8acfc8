import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ScanVerdict } from "../../../src/results/answer-reader.ts";
import { createAnswerScanner } from "../../../src/results/parse.ts";

function scan(mediaType: string, body: Uint8Array | string, splitAt?: number): ScanVerdict {
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  const scanner = createAnswerScanner(mediaType);
  if (splitAt === undefined) scanner.push(bytes);
  else {
    scanner.push(bytes.subarray(0, splitAt));
    scanner.push(bytes.subarray(splitAt));
  }
  return scanner.end();
}

function scanBytewise(mediaType: string, body: string): ScanVerdict {
  const scanner = createAnswerScanner(mediaType);
  for (const byte of Buffer.from(body)) scanner.push(Uint8Array.of(byte));
  return scanner.end();
}

type Expected = { readonly complete: boolean; readonly rows?: number | undefined };
const pick = ({ complete, rows }: ScanVerdict): Expected => ({ complete, rows });

/** The verdict, however the bytes are split. */
function shouldSee(mediaType: string, body: string, expected: Expected): void {
  const want = { rows: undefined, ...expected };
  expect(pick(scan(mediaType, body))).toEqual(want);
  const length = Buffer.byteLength(body);
  for (let at = 0; at <= length; at += 1) expect(pick(scan(mediaType, body, at)), `split at ${at}`).toEqual(want);
  expect(pick(scanBytewise(mediaType, body)), "byte by byte").toEqual(want);
}

/** Every proper prefix that lacks more than trailing white space is incomplete and says why. */
function shouldMissEveryPrefix(mediaType: string, body: string): void {
  const bytes = Buffer.from(body);
  const length = Buffer.byteLength(body.trimEnd());
  expect(length).toBeGreaterThan(20);
  for (let at = 0; at < length; at += 1) {
    const verdict = scan(mediaType, bytes.subarray(0, at));
    expect(verdict.complete, `prefix of ${at} bytes`).toBe(false);
    expect(verdict.detail).toMatch(/\.$/);
  }
  for (let at = length; at <= bytes.length; at += 1) {
    expect(scan(mediaType, bytes.subarray(0, at)).complete, `prefix of ${at} bytes`).toBe(true);
  }
}

const json = "application/sparql-results+json";
const cell = (value: string): string => `{"x":{"type":"literal","value":${JSON.stringify(value)}}}`;
const document = (...rows: readonly string[]): string =>
  `{"head":{"vars":["x"]},"results":{"bindings":[${rows.join(",")}]}}`;
const nasty = document(cell('a"b\\'), cell("}]}] {["), cell("ä€😀\n\t"), "{}", cell("\\"));
const java =
  "\njava.util.concurrent.TimeoutException\n\tat java.base/java.util.concurrent.FutureTask.get(FutureTask.java:204)\n";

const shouldSeeOnce = (body: string): void => expect(pick(scan(json, body))).toEqual({ complete: true, rows: 1 });

describe("SPARQL JSON", () => {
  const cases: readonly (readonly [string, string, Expected])[] = [
    ["no rows", document(), { complete: true, rows: 0 }],
    ["rows with every hazard", nasty, { complete: true, rows: 5 }],
    ["white space around", ` \r\n\t${document(cell("1"))}\n\n`, { complete: true, rows: 1 }],
    ["byte order mark", `\ufeff${document(cell("1"))}`, { complete: true, rows: 1 }],
    ["true", '{"head":{},"boolean":true}', { complete: true }],
    ["false, head last", '{ "boolean" : false, "head" : {} }', { complete: true }],
    [
      "results before head",
      `{"results":{"bindings":[${cell("1")}]},"head":{"vars":["x"]}}`,
      { complete: true, rows: 1 },
    ],
    [
      "ordered and distinct first",
      `{"head":{"vars":[]},"results":{"distinct":false,"ordered":true,"bindings":[{},{}]}}`,
      { complete: true, rows: 2 },
    ],
    [
      "objects in head.link and meta are no rows",
      `{"head":{"link":["a","b"],"vars":["x"]},"results":{"bindings":[${cell("1")}]},"meta":{"query-time-ms":3,"bindings":[{},{}]}}`,
      { complete: true, rows: 1 },
    ],
    [
      "bindings outside results are no rows",
      `{"head":{"bindings":[{},{}]},"bindings":[{}],"results":{"bindings":[{}]}}`,
      { complete: true, rows: 1 },
    ],
    [
      "triple terms are part of their row",
      document('{"t":{"type":"triple","value":{"subject":{},"predicate":{},"object":{}}}}'),
      { complete: true, rows: 1 },
    ],
    [
      "a value that spells a key",
      `{"head":{"link":["results"],"vars":["bindings"]},"results":{"bindings":[{}]}}`,
      { complete: true, rows: 1 },
    ],
    ["pretty-printed", JSON.stringify(JSON.parse(nasty), null, 2), { complete: true, rows: 5 }],
    ["empty body", "", { complete: false }],
    ["white space only", " \n", { complete: false }],
    ["neither results nor boolean", '{"exception":"Operation timed out"}', { complete: false }],
    ["boolean that is none", '{"head":{},"boolean":"yes"}', { complete: false }],
    ["bindings that is no list", '{"results":{"bindings":{}}}', { complete: false }],
    ["bindings twice", '{"results":{"bindings":[{}],"bindings":[{}]}}', { complete: false, rows: 1 }],
    ["Java text after the end", document(cell("1")) + java, { complete: false, rows: 1 }],
    ["a second document", document() + document(), { complete: false, rows: 0 }],
    ["a number before the document", `1${document()}`, { complete: false }],
    ["a stray comma after the end", `${document()},`, { complete: false, rows: 0 }],
    ["closed too often", `${document()}}`, { complete: false, rows: 0 }],
    ["a list closed by the wrong bracket", '{"results":{"bindings":[{}, {]}]}}', { complete: false, rows: 2 }],
    // Inside the rows only strings and brackets are followed; the rest is for whoever parses them.
    ["raw line break in a string", document("{}", '{"x":{"value":"a\nb"}}'), { complete: true, rows: 2 }],
    ["HTML", "<html><body>504</body></html>", { complete: false }],
    ["plain text", "Virtuoso S1T00 Error", { complete: false }],
    ["nested beyond reason", `{"results":{"bindings":[{},{"x":${"[".repeat(2000)}`, { complete: false, rows: 1 }],
  ];
  test.each(cases)("%s", (_name, body, expected) => shouldSee(json, body, expected));

  test("every truncation is seen", () => {
    shouldMissEveryPrefix(json, `${nasty}\n`);
    shouldMissEveryPrefix(json, '{"head":{},"boolean":true}  ');
  });

  test("every truncation followed by a Java stack trace is seen", () => {
    const bytes = Buffer.from(nasty);
    for (let at = 0; at < bytes.length; at += 1) {
      const body = Buffer.concat([bytes.subarray(0, at), Buffer.from(java)]);
      expect(scan(json, body).complete, `cut at ${at}`).toBe(false);
    }
  });

  test("strings of every length end where they end", () => {
    for (let length = 0; length < 70; length += 1) {
      for (const escape of ['\\"', "\\\\", "é", ""]) shouldSeeOnce(document(`{"${"k".repeat(length)}${escape}":"{"}`));
    }
  });

  test("generated documents, split at random", () => {
    const hazard = fc.constantFrom('"', "\\", "{", "}", "[", "]", ",", ":", "\n", "a", "é", "😀");
    const text = fc.string({ unit: hazard, maxLength: 80 });
    const value = fc.oneof(text, fc.array(fc.dictionary(text, text, { maxKeys: 2 }), { maxLength: 3 }));
    const rows = fc.array(fc.dictionary(text, value, { maxKeys: 4 }), { maxLength: 6 });
    let hazards = 0;
    fc.assert(
      fc.property(rows, fc.array(fc.nat(), { maxLength: 5 }), fc.nat(4), (bindings, cuts, indent) => {
        const body = Buffer.from(JSON.stringify({ head: { vars: [] }, results: { bindings } }, null, indent));
        if (body.includes(String.raw`\\\"`)) hazards += 1;
        const scanner = createAnswerScanner(json);
        const places = [0, ...cuts.map((cut) => cut % body.length).toSorted((a, b) => a - b), body.length];
        for (const [index, place] of places.entries()) scanner.push(body.subarray(places[index - 1] ?? 0, place));
        expect(pick(scanner.end())).toEqual({ complete: true, rows: bindings.length });
      }),
      { numRuns: 500 },
    );
    expect(hazards).toBeGreaterThan(20);
  });

  test("runs of backslashes across every border of a block", () => {
    for (let padding = 0; padding < 70; padding += 1) {
      for (let count = 0; count < 9; count += 1) {
        const text = "x".repeat(padding) + "\\".repeat(count);
        const body = Buffer.from(document(cell(`${text}"}`), cell(text)));
        for (const at of [64, 128, body.length - 30]) {
          expect(pick(scan(json, body, Math.min(at, body.length)))).toEqual({ complete: true, rows: 2 });
        }
      }
    }
  });

  test("a view into a larger buffer is read from its own beginning", () => {
    const bytes = Buffer.from(`{{{"${document(cell("1"))}`);
    expect(pick(scan(json, bytes.subarray(4)))).toEqual({ complete: true, rows: 1 });
  });

  test("application/json may be something else than results", () => {
    shouldSee("application/json", '{"a":[1,2,{"b":null}]}', { complete: true });
    shouldSee("application/json", document("{}"), { complete: true, rows: 1 });
    shouldSee("application/json", '{"a":[1,2', { complete: false });
  });
});

const xmlType = "application/sparql-results+xml";
const xmlDocument = (body: string): string =>
  `<?xml version="1.0"?>\n<!-- c > --><sparql xmlns="http://www.w3.org/2005/sparql-results#">\n<head><variable name="x"/></head>\n${body}</sparql>\n`;
const xmlRow = (value: string): string => `<result>\n<binding name="x"><literal>${value}</literal></binding></result>`;

describe("SPARQL XML", () => {
  const cases: readonly (readonly [string, string, Expected])[] = [
    ["no rows", xmlDocument("<results></results>"), { complete: true, rows: 0 }],
    ["self-closing results", xmlDocument("<results/>"), { complete: true, rows: 0 }],
    ["rows", xmlDocument(`<results>${xmlRow("ä")}${xmlRow("&lt;result&gt;")}</results>`), { complete: true, rows: 2 }],
    [
      "rows with attributes and none at all",
      xmlDocument('<results><result index="1"><binding name="x"/></result><result/><result /></results>'),
      { complete: true, rows: 3 },
    ],
    [
      "prefixed names",
      '<r:sparql xmlns:r="u"><r:head/><r:results><r:result></r:result></r:results></r:sparql>',
      { complete: true, rows: 1 },
    ],
    ["boolean", xmlDocument("<boolean>true</boolean>"), { complete: true }],
    [
      "brackets and slashes in attribute values",
      xmlDocument('<results><result a="/>" b=\'<result>"/\'></result></results>'),
      { complete: true, rows: 1 },
    ],
    [
      "tags in CDATA and comments",
      xmlDocument(
        "<results><!-- <result> --><result><binding name='x'><literal><![CDATA[</result><result>]]]]></literal></binding></result></results>",
      ),
      { complete: true, rows: 1 },
    ],
    ["comment after the root", `${xmlDocument("<results/>")}<!-- done -->\n`, { complete: true, rows: 0 }],
    ["empty body", "", { complete: false }],
    ["text after the end", xmlDocument("<results/>") + java, { complete: false, rows: 0 }],
    ["second root", xmlDocument("<results/>") + xmlDocument("<results/>"), { complete: false, rows: 0 }],
    ["neither results nor boolean", xmlDocument(""), { complete: false }],
    ["HTML", "<html><body>error</body></html>", { complete: false }],
    ["not XML", "Virtuoso 37000 Error", { complete: false }],
    ["closed too often", `</sparql>`, { complete: false }],
  ];
  test.each(cases)("%s", (_name, body, expected) => shouldSee(xmlType, body, expected));

  test("every truncation is seen", () => {
    shouldMissEveryPrefix(xmlType, xmlDocument(`<results>${xmlRow("ä&amp;")}<!-- x --><result/></results>`));
    shouldMissEveryPrefix(xmlType, xmlDocument("<boolean>false</boolean>"));
  });

  test("every truncation followed by a Java stack trace is seen", () => {
    const bytes = Buffer.from(xmlDocument(`<results>${xmlRow("a")}</results>`).trimEnd());
    for (let at = 0; at < bytes.length; at += 1) {
      const body = Buffer.concat([bytes.subarray(0, at), Buffer.from(`${java}at Foo.<init>(Foo.java:1)\n`)]);
      expect(scan(xmlType, body).complete, `cut at ${at}`).toBe(false);
    }
  });

  test("RDF/XML is complete when its root is closed", () => {
    const rdfXml = '<!DOCTYPE r [<!ENTITY x "y">]>\n<r:RDF xmlns:r="u"><r:Description r:about="a"/></r:RDF>';
    shouldSee("application/rdf+xml", rdfXml, { complete: true });
    shouldMissEveryPrefix("application/rdf+xml", rdfXml);
  });
});

describe("CSV and TSV", () => {
  const csv = "text/csv";
  const tsv = "text/tab-separated-values";
  const cases: readonly (readonly [string, string, string, Expected])[] = [
    ["header only", csv, "x,y\r\n", { complete: true, rows: 0 }],
    ["rows", csv, "x,y\r\n1,2\r\n3,\r\n", { complete: true, rows: 2 }],
    ["last line end missing", csv, "x,y\n1,2\n3,4", { complete: true, rows: 2 }],
    [
      "line breaks, commas and quotes inside quotes",
      csv,
      'x,y\r\n"a\r\n,""b""","c"\r\n"",""""\r\n',
      { complete: true, rows: 2 },
    ],
    ["quote inside an unquoted field", csv, 'x,y\n5" disk,6"" x\n7,8\n', { complete: true, rows: 2 }],
    ["no variables", csv, "\r\n\r\n\r\n", { complete: true, rows: 2 }],
    ["one column, unbound", csv, "x\r\n\r\n1\r\n", { complete: true, rows: 2 }],
    ["blank last line is no row", csv, "x,y\r\n1,2\r\n\r\n", { complete: true, rows: 1 }],
    ["empty body", csv, "", { complete: false }],
    ["unterminated quote", csv, 'x,y\r\n1,"a\r\n', { complete: false, rows: 1 }],
    ["cut off in the first field", csv, "x,y\r\n1,2\r\n3", { complete: false, rows: 2 }],
    ["Java text", csv, `x,y\r\n1,2\r\n3${java}`, { complete: false, rows: 4 }],
    ["header only", tsv, "?x\t?y\n", { complete: true, rows: 0 }],
    ["rows", tsv, '?x\t?y\n<http://a/o\'neil>\t"a\\"b\\tc"@en\n\t1\n', { complete: true, rows: 2 }],
    ["last line end missing", tsv, '?x\t?y\r\n1\t"b"', { complete: true, rows: 1 }],
    ["unescaped quotes stay in their line", tsv, '?x\n"He said "hi""@en\n"a" b"\n', { complete: true, rows: 2 }],
    ["empty body", tsv, "", { complete: false }],
    ["cut off in a literal", tsv, '?x\t?y\n1\t"b\\"', { complete: false, rows: 1 }],
    ["cut off in an IRI", tsv, "?x\n<http://a", { complete: false, rows: 1 }],
    ["cut off in a datatype", tsv, '?x\n"1"^^<http://a', { complete: false, rows: 1 }],
    ["a triple term, last line end missing", tsv, '?x\n<<( <a> <b> ")>>"@en )>>', { complete: true, rows: 1 }],
    ["a triple term of RDF-star", tsv, "?x\n<< <a> <b> <c> >>", { complete: true, rows: 1 }],
    ...[
      "<<",
      "<<(",
      "<<( <a> <b> 1",
      '<<( <a> <b> "1"^^<x> )',
      "<<( <a> <b> <<( <a> <b> <c> )>>",
      "<<( <a> <b> 1 )>",
    ].map((cut) => [`cut off in a triple term (${cut})`, tsv, `?x\n${cut}`, { complete: false, rows: 1 }] as const),
    ["cut off before the last field", tsv, "?x\t?y\n1", { complete: false, rows: 1 }],
  ];
  test.each(cases)("%s (%s)", (...[, mediaType, body, expected]) => shouldSee(mediaType, body, expected));

  test("CSV: a truncation inside a quoted field is always seen", () => {
    const body = 'x,y\r\n1,"a ""quoted"" ,\r\n text"\r\n';
    const start = body.indexOf('"');
    for (let at = start + 1; at < body.lastIndexOf('"'); at += 1) {
      const atDoubledQuote = body
        .slice(start + 1, at)
        .replaceAll('""', "")
        .endsWith('"');
      if (!atDoubledQuote) expect(scan("text/csv", body.slice(0, at)).complete, `cut at ${at}`).toBe(false);
    }
  });
});

describe("N-Triples, Turtle, JSON-LD, others", () => {
  const nt = "application/n-triples";
  const ttl = "text/turtle";
  const statements =
    '<http://s> <http://p> "a . \\" #" .\n# comment\n\n_:b <http://p#x> "ä"@en . # done\n<s> <p> <o>.\r\n';
  const turtle = [
    "@prefix ex: <http://ex/#> .",
    "PREFIX f: <http://f/>",
    'ex:a f:p """long "quoted" . """, \'it\', "" ; f:q 1.5, ex:b\\#c, \'\'\'x\'y\'\'\' . # . comment "',
    "[] ex:p ( 1 2 ) ; a <http://x#y> .",
  ].join("\n");
  const cases: readonly (readonly [string, string, string, Expected])[] = [
    ["empty document", nt, "", { complete: true, rows: 0 }],
    ["statements, comments, blank lines", nt, statements, { complete: true, rows: 3 }],
    ["last line end missing", nt, '<s> <p> "o" .', { complete: true, rows: 1 }],
    ["cut off", nt, "<s> <p> <o> .\n<s> <p>", { complete: false, rows: 1 }],
    ["a dot inside the literal", nt, '<s> <p> "o.', { complete: false, rows: 0 }],
    ["Java text", nt, `<s> <p> <o> .\n<s> <p${java}`, { complete: false, rows: 1 }],
    ["every hazard", ttl, turtle, { complete: true }],
    ["empty document", ttl, "", { complete: true, rows: 0 }],
    ["comment only", ttl, "# nothing", { complete: true, rows: 0 }],
    ["SPARQL-style directives only", ttl, "PREFIX a: <http://a/>\nbase <http://b/>", { complete: true }],
    ["graph block", "application/trig", "<g> { <s> <p> <o> }", { complete: true }],
    ["triple terms", ttl, "<<:s :p :o>> :q << <s> <p> <o> >> .", { complete: true }],
    ["cut off before the dot", ttl, "<s> <p> <o> ;\n", { complete: false }],
    ["cut off in a string", ttl, '<s> <p> "x.', { complete: false }],
    ["cut off in a long string", ttl, '<s> <p> """x" .', { complete: false }],
    ["cut off in an IRI", ttl, "<s> <p> <http://x.", { complete: false }],
    ["Turtle prefix without its dot", ttl, "@prefix a: <http://a/>", { complete: false }],
    ["Java text", ttl, "<s> <p> <o> .\n<s> java.lang.Error\n\tat x(Y:1)", { complete: false }],
    ["node objects", "application/ld+json", '[{"@id":"a","p":[{"@value":"]"}]}]\n', { complete: true }],
    ["one object", "application/ld+json", '{"@id":"a"}', { complete: true }],
    ["cut off", "application/ld+json", '[{"@id":"a"}', { complete: false }],
    ["empty body", "application/ld+json", "", { complete: false }],
    ["unknown type", "application/x-binary-rdf", "BRDF", { complete: true }],
    ["parameters and case", "Text/Turtle; charset=UTF-8", "<s> <p>", { complete: false }],
  ];
  test.each(cases)("%s (%s)", (...[, mediaType, body, expected]) => shouldSee(mediaType, body, expected));

  test("N-Triples: a truncation inside a statement is always seen", () => {
    const bytes = Buffer.from('<http://s> <http://p> "ä . b" .');
    for (let at = 1; at < bytes.length; at += 1) {
      expect(scan(nt, bytes.subarray(0, at)).complete, `cut at ${at}`).toBe(false);
    }
  });
});
