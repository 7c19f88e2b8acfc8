import { describe, expect, test } from "vitest";
import { resultFormats } from "../../../src/results/formats.ts";
import type { AnswerKind } from "../../../src/results/model.ts";
import { acceptFor, formatOf, negotiateFormat } from "../../../src/results/negotiation.ts";

const json = "application/sparql-results+json";
const xml = "application/sparql-results+xml";
const long = `${"a/b;q=0.5,".repeat(2000)}text/csv`;

const accepts: readonly (readonly [AnswerKind, string | undefined, string | undefined])[] = [
  ["bindings", undefined, json],
  ["bindings", "", json],
  ["bindings", "*/*", json],
  ["bindings", "*", json],
  ["bindings", json, json],
  ["bindings", xml, xml],
  ["bindings", "text/csv", "text/csv"],
  ["bindings", "TEXT/CSV", "text/csv"],
  ["bindings", "text/tab-separated-values", "text/tab-separated-values"],
  ["bindings", "application/json", json],
  ["bindings", "text/xml", xml],
  ["bindings", "application/xml", xml],
  ["bindings", "text/*", "text/csv"],
  ["bindings", "application/*", json],
  ["bindings", "text/csv;charset=utf-8", "text/csv"],
  ["bindings", "text/csv;q=0.5, application/sparql-results+xml;q=0.9", xml],
  ["bindings", "text/csv;q=0.5,application/sparql-results+xml;q=0.4", "text/csv"],
  ["bindings", "text/csv, */*", "text/csv"],
  ["bindings", "text/csv, */*;q=0.1", "text/csv"],
  ["bindings", "text/csv, application/sparql-results+json", json],
  ["bindings", `${json};q=0, */*`, xml],
  ["bindings", `${json};q=0, application/*;q=0.5`, xml],
  ["bindings", `${json} ; Q=0.2 , ${xml} ; q=0.3`, xml],
  ["bindings", "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8", xml],
  ["bindings", "text/html, */*;q=0.8", json],
  ["bindings", "text/html", undefined],
  ["bindings", "text/turtle", undefined],
  ["bindings", "*/*;q=0", undefined],
  ["bindings", "text/csv;q=2, application/sparql-results+xml;q=0.1", xml],
  ["bindings", ";;;,,,=q", json],
  ["bindings", "text/csv;q=abc", json],
  ["bindings", `text/csv, ${"x".repeat(100_000)}`, "text/csv"],
  ["bindings", long, undefined],
  ["boolean", undefined, json],
  ["boolean", "text/csv", undefined],
  ["boolean", "text/csv, */*;q=0.1", json],
  ["boolean", xml, xml],
  ["quads", undefined, "text/turtle"],
  ["quads", "*/*", "text/turtle"],
  ["quads", "application/n-triples", "application/n-triples"],
  ["quads", "text/plain", "application/n-triples"],
  ["quads", "application/ld+json", "application/ld+json"],
  ["quads", 'application/ld+json;profile="http://www.w3.org/ns/json-ld#expanded"', "application/ld+json"],
  ["quads", "application/json", "application/ld+json"],
  ["quads", "application/x-turtle", "text/turtle"],
  ["quads", "application/rdf+xml", "application/rdf+xml"],
  ["quads", "application/xml", "application/rdf+xml"],
  ["quads", "application/rdf+xml;q=0.4, text/turtle;q=0.5", "text/turtle"],
  ["quads", "text/n3", "text/n3"],
  ["quads", "text/rdf+n3", "text/turtle"],
  ["quads", "application/n-quads", "application/n-quads"],
  ["quads", "application/trig", "application/trig"],
  ["quads", "text/html,application/xhtml+xml,*/*;q=0.8", "text/turtle"],
  ["quads", json, undefined],
];

const formats: readonly (readonly [AnswerKind, string, string | undefined])[] = [
  ["bindings", "json", json],
  ["bindings", " XML ", xml],
  ["bindings", "csv", "text/csv"],
  ["bindings", "tsv", "text/tab-separated-values"],
  ["bindings", "application/sparql-results+json", json],
  ["bindings", "application/sparql-results json", json],
  ["bindings", "text/csv; charset=utf-8", "text/csv"],
  ["bindings", "srj", json],
  ["bindings", "srx", xml],
  ["bindings", "sparql", xml],
  // Known, but of no use here: Accept decides.
  ["bindings", "turtle", "text/csv"],
  ["bindings", "text/turtle", "text/csv"],
  ["boolean", "csv", undefined],
  ["boolean", "text/csv", undefined],
  ["quads", "csv", "application/n-triples"],
  // Unknown: Accept decides.
  ["bindings", "nonsense", "text/csv"],
  ["bindings", "auto", "text/csv"],
  ["bindings", "text", "text/csv"],
  ["bindings", "text/html", "text/csv"],
  ["quads", "auto", "application/n-triples"],
  ["boolean", "xml", xml],
  ["quads", "ttl", "text/turtle"],
  ["quads", "turtle", "text/turtle"],
  ["quads", "nt", "application/n-triples"],
  ["quads", "ntriples", "application/n-triples"],
  ["quads", "jsonld", "application/ld+json"],
  ["quads", "json-ld", "application/ld+json"],
  ["quads", "json", "application/ld+json"],
  ["quads", "rdfxml", "application/rdf+xml"],
  ["quads", "rdf+xml", "application/rdf+xml"],
  ["quads", "rdf xml", "application/rdf+xml"],
  ["quads", "rdf", "application/rdf+xml"],
  ["quads", "xml", "application/rdf+xml"],
  ["quads", "n3", "text/n3"],
  ["quads", "nq", "application/n-quads"],
  ["quads", "trig", "application/trig"],
  ["quads", "text/turtle", "text/turtle"],
];

describe("negotiateFormat", () => {
  test.each(accepts)("%s, Accept: %s", (kind, accept, expected) => {
    expect(negotiateFormat(kind, accept === undefined ? {} : { accept })?.mediaType).toBe(expected);
  });

  test.each(formats)("%s, format=%s", (kind, format, expected) => {
    expect(negotiateFormat(kind, { accept: "text/csv, application/n-triples", format })?.mediaType).toBe(expected);
  });

  test("an empty format parameter does not count", () => {
    expect(negotiateFormat("bindings", { accept: "text/csv", format: "" })?.mediaType).toBe("text/csv");
  });
});

const formatOfCases: readonly (readonly [string, AnswerKind, string | undefined])[] = [
  [json, "bindings", "json"],
  ["Application/SPARQL-Results+XML; charset=utf-8", "boolean", "xml"],
  ["application/json", "bindings", "json"],
  ["application/json", "quads", "jsonld"],
  ["text/xml", "bindings", "xml"],
  ["text/xml", "quads", "rdfxml"],
  ["application/rdf+xml", "quads", "rdfxml"],
  ["text/plain", "quads", "ntriples"],
  ["text/plain", "bindings", undefined],
  ["text/csv", "boolean", undefined],
  ["text/csv", "bindings", "csv"],
  ["text/turtle", "bindings", undefined],
  ["text/html", "quads", undefined],
  ["", "bindings", undefined],
];

describe("formatOf", () => {
  test.each(formatOfCases)("%s as %s", (mediaType, kind, expected) => {
    expect(formatOf(mediaType, kind)?.name).toBe(expected);
  });
});

describe("acceptFor", () => {
  const csv = resultFormats.find(({ name }) => name === "csv")!;
  const turtle = resultFormats.find(({ name }) => name === "turtle")!;
  const cases: readonly (readonly [string, string, string])[] = [
    ["rows", acceptFor("bindings"), `${json}, ${xml};q=0.8, text/tab-separated-values;q=0.4, text/csv;q=0.2`],
    [
      "rows, CSV first",
      acceptFor("bindings", csv),
      `text/csv, ${json};q=0.9, ${xml};q=0.8, text/tab-separated-values;q=0.4`,
    ],
    ["boolean", acceptFor("boolean"), `${json}, ${xml};q=0.8`],
    ["boolean cannot be CSV", acceptFor("boolean", csv), `${json}, ${xml};q=0.8`],
    [
      "graph",
      acceptFor("quads", turtle),
      "text/turtle, application/n-triples;q=0.9, application/rdf+xml;q=0.8, application/ld+json;q=0.2",
    ],
  ];
  test.each(cases)("%s", (_name, header, expected) => expect(header).toBe(expected));
});
