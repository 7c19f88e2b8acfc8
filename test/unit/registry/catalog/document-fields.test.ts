import { describe, expect, it } from "vitest";
import { readItem } from "../../../../src/registry/catalog/parse-entry.ts";
import { type DocumentFields, withFields } from "../../../../src/registry/catalog/document-fields.ts";
import { parseDocument } from "../../../../src/registry/catalog/document.ts";
import { canonicalNTriples } from "../../../../src/rdf/canonical.ts";
import { endpointTurtle } from "../../../support/catalog-folder.ts";
import { documentOf } from "../../../../src/registry/catalog.ts";

const base = "http://fedway.example";
const read = (turtle: string) => parseDocument(turtle, base);
const url = "https://a.example/sparql";

const shouldBecome = (
  name: string,
  before: readonly string[],
  fields: DocumentFields,
  after: readonly string[],
): void =>
  it(name, () => {
    const changed = withFields("endpoint", read(endpointTurtle("a", url, ...before)), fields);
    expect(canonicalNTriples(changed)).toStrictEqual(canonicalNTriples(read(endpointTurtle("a", url, ...after))));
  });

describe("a document with changed fields", () => {
  shouldBecome("keeps what it does not know", ["<urn:x:p> [ <urn:x:q> 1, 2 ]"], { keywords: ["k"] }, [
    "<urn:x:p> [ <urn:x:q> 1, 2 ]",
    'dcat:keyword "k"',
  ]);
  shouldBecome("keeps what is not named", ['dcat:keyword "k"'], {}, ['dcat:keyword "k"']);
  shouldBecome("keeps other languages", ['dcterms:description "old"@en, "alt"@de'], { description: "new" }, [
    'dcterms:description "new", "alt"@de',
  ]);
  shouldBecome("keeps a text that is the same", ['dcterms:description "same"@en'], { description: "same" }, [
    'dcterms:description "same"@en',
  ]);
  shouldBecome("loses a text in all languages", ['dcterms:description "old", "alt"@de'], { description: null }, []);
  shouldBecome("keeps a keyword's language", ['dcat:keyword "Wein"@de, "old"'], { keywords: ["Wein", "new"] }, [
    'dcat:keyword "Wein"@de, "new"',
  ]);
  shouldBecome("loses a list", ['skos:note "n"'], { notes: [] }, []);
  shouldBecome("has one homepage", ["<http://www.w3.org/ns/dcat#landingPage> <http://l/>"], { homepage: "http://h/" }, [
    "<http://xmlns.com/foaf/0.1/homepage> <http://h/>",
  ]);
  shouldBecome(
    "has numbers and flags",
    ["fedway:rowCap 5", "fedway:rawQueries true"],
    {
      rowCap: 10_000,
      blocksService: true,
      rawQueries: false,
    },
    ["fedway:rowCap 10000", "fedway:blocksService true"],
  );
  shouldBecome("has another interface and keeps standards", ["dcterms:conformsTo <urn:x:s>"], { interface: "tpf" }, [
    "dcterms:conformsTo <urn:x:s>, <https://linkeddatafragments.org/specification/triple-pattern-fragments/>",
  ]);
});

const whole: DocumentFields = {
  id: "a",
  title: "A",
  description: "Some data.",
  url,
  interface: "tpf",
  homepage: "https://a.example/",
  license: "https://l.example/",
  keywords: ["k", "l"],
  notes: ["n"],
  engine: "fuseki",
  rowCap: 7,
  blocksService: true,
  needsUserAgent: true,
  pseudoServices: ["urn:x:s"],
  rawQueries: true,
  mirrorOf: "people",
  neverKept: true,
  method: "get",
};

describe("a document from fields", () => {
  it("says them all", () => {
    expect(readItem(documentOf("endpoint", whole)).value).toEqual(whole);
  });

  it("can be a file", () => {
    const file = { ...whole, interface: "file" } as const;
    expect(readItem(documentOf("endpoint", file)).value).toEqual(file);
  });

  it("moves the URL with the interface", () => {
    const back = withFields("endpoint", documentOf("endpoint", { ...whole, interface: "file" }), {
      interface: "sparql",
      url: "https://b.example/sparql",
    });
    const value = { ...whole, interface: "sparql", url: "https://b.example/sparql" };
    expect(readItem(back).value).toEqual(value);
  });

  it("has default graphs, which are a part of the URL that is read, and of what is written back", () => {
    const sparql = { ...whole, interface: "sparql" } as const;
    const graphs = ["urn:g:1", "http://g.example/?a=b&c#d"];
    const quads = documentOf("endpoint", { ...sparql, defaultGraphs: graphs });
    const known = readItem(quads).value as DocumentFields & { readonly url: string };
    const first = `${url}?default-graph-uri=urn%3Ag%3A1`;
    expect(known.url).toBe(`${first}&default-graph-uri=http%3A%2F%2Fg.example%2F%3Fa%3Db%26c%23d`);
    expect(known.defaultGraphs).toEqual(graphs);
    expect(readItem(withFields("endpoint", quads, known)).value).toEqual(known);
    const one = { ...known, url: first, defaultGraphs: ["urn:g:1"] };
    expect(readItem(withFields("endpoint", quads, { url: known.url, defaultGraphs: ["urn:g:1"] })).value).toEqual(one);
    const none = readItem(withFields("endpoint", documentOf("endpoint", known), { defaultGraphs: null })).value;
    expect(none).toEqual(sparql);
  });

  it("can be a federation", () => {
    const federation = { id: "f", title: "F", members: ["a"], memberKeywords: ["k"], memberQuery: "q" };
    expect(readItem(documentOf("federation", federation)).value).toEqual(federation);
  });
});
