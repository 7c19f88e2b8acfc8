import { describe, expect, it } from "vitest";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import { AnswerMonitor } from "../../../src/outbound/answer.ts";
import type { AnswerKind } from "../../../src/results/model.ts";
import { requestTo } from "../../support/hostile-client.ts";

const json = "application/sparql-results+json";
const xml = "application/sparql-results+xml";
const csv = "text/csv";
const tsv = "text/tab-separated-values";
const turtle = "text/turtle";
const ntriples = "application/n-triples";
const jsonLd = "application/ld+json";
const rdfXml = "application/rdf+xml";

const table = (...names: readonly string[]): string =>
  `{"head":{"vars":${JSON.stringify(names)}},"results":{"bindings":[{"s":{"type":"uri","value":"x:ä"}}]}}`;
const xmlTable = (head: string): string =>
  `<sparql xmlns="http://www.w3.org/2005/sparql-results#"><head>${head}</head><results><result/></results></sparql>`;
const boolean = '{"head":{},"boolean":true}';
const xmlBoolean = '<sparql xmlns="http://www.w3.org/2005/sparql-results#"><head/><boolean>true</boolean></sparql>';
const java =
  "\njava.util.concurrent.ExecutionException: Query on <http://ex.org/g> was cut\n\tat com.bigdata.rdf.Task.run(Task.java:1)\n";
const cut = (what: string): string => `The endpoint's answer is cut off or followed by foreign text. ${what}`;
const words = '"java.util.concurrent.ExecutionException: Query on <http://ex.org/g> was cut at com.bigdata';
const columns = "The endpoint's answer has other columns than the query:";

type Body = string | Buffer;
type Row = readonly [name: string, mediaType: string, kind: AnswerKind, body: Body, message: string | undefined];

/** Asked for ?s and ?n where they are columns. */
const rows: readonly Row[] = [
  ["a table", json, "bindings", table("s", "n"), undefined],
  ["its columns in another order", json, "bindings", table("n", "s"), undefined],
  ["a table without a head", json, "bindings", '{"results":{"bindings":[{}]}}', undefined],
  ["a boolean", json, "boolean", boolean, undefined],
  ["a table for an ASK", json, "boolean", table("s"), "The endpoint answered with rows where a boolean was expected."],
  [
    "a boolean for a SELECT",
    json,
    "bindings",
    boolean,
    "The endpoint answered with a boolean where rows were expected.",
  ],
  ["a column too few", json, "bindings", table("s"), `${columns} it lacks ?n.`],
  [
    "a column too many",
    json,
    "bindings",
    table("s", "n", "x"),
    `${columns} it has ?x, which the query does not ask for.`,
  ],
  [
    "other columns",
    json,
    "bindings",
    table("s", "a\u202Eb c"),
    `${columns} it lacks ?n, and it has "a b c", which the query does not ask for.`,
  ],
  [
    "results before a wrong head",
    json,
    "bindings",
    '{"results":{"bindings":[]},"head":{"vars":["s"]}}',
    `${columns} it lacks ?n.`,
  ],
  ["not UTF-8", json, "bindings", Buffer.from(table("s", "n"), "latin1"), "The endpoint's answer is not UTF-8 text."],
  [
    "cut in a character",
    csv,
    "bindings",
    Buffer.from("s,n\n1,ä").subarray(0, -1),
    "The endpoint's answer is not UTF-8 text.",
  ],
  [
    "an error in JSON",
    json,
    "bindings",
    '{"exception":"no <x:a> here"}',
    cut('The JSON document has neither "results" nor "boolean": "no <x:a> here".'),
  ],
  [
    "an error as text",
    json,
    "bindings",
    "Error 42: no <x:a>",
    cut('There is text outside the JSON document: "Error 42: no <x:a>".'),
  ],
  [
    "a trace behind the document",
    json,
    "bindings",
    table("s", "n") + java,
    cut(`There is text outside the JSON document: ${words}`),
  ],
  [
    "a trace behind a row",
    json,
    "bindings",
    table("s", "n").slice(0, -3) + java,
    cut(`The JSON document ends before it is closed: ${words}`),
  ],
  [
    "a trace in a row",
    json,
    "bindings",
    table("s", "n").slice(0, -9) + java,
    cut(`The JSON document ends inside a string: ${words}`),
  ],
  ["cut in a row", json, "bindings", table("s", "n").slice(0, -9), cut("The JSON document ends inside a string.")],

  ["XML", xml, "bindings", xmlTable("<variable name=\"s\"/><variable\n name = 'n' ></variable>"), undefined],
  ["a boolean in XML", xml, "boolean", xmlBoolean, undefined],
  ["XML for an ASK", xml, "boolean", xmlTable(""), "The endpoint answered with rows where a boolean was expected."],
  [
    "a boolean in XML for a SELECT",
    xml,
    "bindings",
    xmlBoolean,
    "The endpoint answered with a boolean where rows were expected.",
  ],
  ["a column too few in XML", xml, "bindings", xmlTable('<variable name="n"/>'), `${columns} it lacks ?s.`],
  [
    "XML that declares Latin-1",
    xml,
    "bindings",
    Buffer.from(
      `<?xml version="1.0" encoding="ISO-8859-1"?><!-- ä -->${xmlTable('<variable name="s"/><variable name="n"/>')}`,
      "latin1",
    ),
    undefined,
  ],
  [
    "XML that is Latin-1",
    xml,
    "bindings",
    Buffer.from(`<?xml version="1.0"?><!-- ä -->${xmlTable("")}`, "latin1"),
    "The endpoint's answer is not UTF-8 text.",
  ],
  [
    "a trace behind XML",
    xml,
    "bindings",
    xmlTable('<variable name="s"/><variable name="n"/>') + java,
    cut(`There is text after the end of the XML document: ${words}`),
  ],
  [
    "a page for XML",
    xml,
    "bindings",
    "<html><body>no &lt;x:a></body></html>",
    cut('The root of the XML document is not sparql: "no <x:a>".'),
  ],

  ["CSV", csv, "bindings", 's,"n"\r\n1,2\r\n', undefined],
  ["CSV with a byte order mark", csv, "bindings", "\uFEFFs,n\n", undefined],
  [
    "an error as CSV",
    csv,
    "bindings",
    "Timeout, try again",
    `${columns} it lacks ?s, ?n, and it has ?Timeout, " try again", which the query does not ask for.`,
  ],
  [
    "a trace behind CSV",
    csv,
    "bindings",
    `s,n\n1,2${java}`,
    cut(`Record 3 has a different number of fields than the header: ${words}`),
  ],
  ["TSV", tsv, "bindings", "?s\t?n\n<x:a>\t1\n", undefined],
  ["TSV as Virtuoso writes it", tsv, "bindings", '"s"\t"n"\n', undefined],
  ["other columns in TSV", tsv, "bindings", "?s\n<x:a>\n", `${columns} it lacks ?n.`],
  [
    "a trace behind TSV",
    tsv,
    "bindings",
    `?s\t?n\n1\t2${java}`,
    cut(`Record 3 has a different number of fields than the header: ${words}`),
  ],

  ["Turtle", turtle, "quads", "# hi\n@prefix a: <x:> . a:b a:c a:d .", undefined],
  ["Turtle of SPARQL's prefixes", turtle, "quads", "PREFIX a:<x:> a:b a:c [] .", undefined],
  ["no triples", turtle, "quads", "", undefined],
  [
    "an error as Turtle",
    turtle,
    "quads",
    "Query failed at <x:a>.",
    cut('The body is not Turtle: "Query failed at <x:a>.".'),
  ],
  ["JSON as Turtle", turtle, "quads", '{"exception":"no"}', cut('The body is not Turtle: "no".')],
  ["N-Triples", ntriples, "quads", "<x:a> <x:b> <x:c> .\n_:a <x:b> 'c' .\n", undefined],
  [
    "an error as N-Triples",
    ntriples,
    "quads",
    "Query failed.",
    cut('Line 1 is not a whole statement: "Query failed.".'),
  ],
  [
    "an error behind N-Triples",
    ntriples,
    "quads",
    "<x:a> <x:b> <x:c> .\nTimed out.\n",
    cut('Line 2 is not a whole statement: "Timed out.".'),
  ],
  ["JSON-LD", jsonLd, "quads", '[{"@id":"x:a","x:b":[]}]', undefined],
  ["an empty graph in JSON-LD", jsonLd, "quads", "{}", undefined],
  ["a node in JSON-LD", jsonLd, "quads", '{"http://ex.org/p":"a"}', undefined],
  [
    "an error as JSON-LD",
    jsonLd,
    "quads",
    '{"exception":"out of time"}',
    cut('The JSON document is no JSON-LD: "out of time".'),
  ],
  ["a table for a graph", jsonLd, "quads", table("s"), "The endpoint answered with rows where triples were expected."],
  ["RDF/XML", rdfXml, "quads", '<rdf:RDF xmlns:rdf="x:"/>', undefined],
  [
    "a table in XML for a graph",
    rdfXml,
    "quads",
    xmlTable(""),
    "The endpoint answered with rows where triples were expected.",
  ],
  [
    "a page for a graph",
    rdfXml,
    "quads",
    '<html xmlns="http://www.w3.org/1999/xhtml"><p>Closed</p></html>',
    cut('The XML document is a page in HTML: "Closed".'),
  ],
];

function verdict([, mediaType, kind, body]: Row, size: number): string | undefined {
  const monitor = new AnswerMonitor({
    mediaType,
    request: requestTo("http://e/sparql", { kind, ...(kind === "bindings" && { columns: { asked: ["s", "n"] } }) }),
    signs: {},
    status: 200,
    maxBytes: 100_000,
  });
  const bytes = Buffer.from(body);
  const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) =>
    bytes.subarray(n * size, (n + 1) * size),
  );
  const end = monitor.judge(pieces, bytes.length);
  return end instanceof FedwayError ? end.message : undefined;
}

describe("an answer beside its request, however it is split", () => {
  it.each(rows)("%s (%s, %s)", (...row) => {
    const [, , , body, message] = row;
    for (const size of [body.length + 1, 1, 7]) {
      const said = verdict(row, Math.max(1, size));
      if (message?.endsWith(words)) expect(said?.startsWith(message), said).toBe(true);
      else expect(said).toBe(message);
    }
  });

  it("takes SELECT * with and without variables that engines disagree on", () => {
    const columnsAsked = { asked: ["s"], allowed: ["s", "hidden"] };
    const saidOf = (body: string): unknown =>
      new AnswerMonitor({
        mediaType: json,
        request: requestTo("http://e/sparql", { columns: columnsAsked }),
        signs: {},
        status: 200,
        maxBytes: 1_000,
      }).judge([Buffer.from(body)], 0);
    expect(saidOf(table("s"))).toMatchObject({ rows: 1 });
    expect(saidOf(table("s", "hidden"))).toMatchObject({ rows: 1 });
    expect(saidOf(table("s", "other"))).toBeInstanceOf(FedwayError);
  });
});
