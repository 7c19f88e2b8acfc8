import { describe, expect, it } from "vitest";
import { type EngineQuirks, isSound, quirksOf, soundAccept } from "../../../src/outbound/media-types.ts";

const recognised = (headers: Readonly<Record<string, string>>): string | undefined => quirksOf(headers)?.engine;

describe("an engine", () => {
  it.each([
    [{ server: "Virtuoso/07.20.3229 (Linux) x86_64-pc-linux-gnu  " }, "Virtuoso"],
    [{ server: "virtuoso" }, "Virtuoso"],
    [{ server: "nginx", "x-sparql-default-graph": "http://example.org/g" }, "Virtuoso"],
    [{ server: "nginx", "x-sparql-maxrows": "10000" }, "Virtuoso"],
    [{ server: "Virtuosity/1" }, undefined],
    [{ server: "nginx (in front of Virtuoso)" }, undefined],
    [{ server: "Fuseki/Jetty" }, "Fuseki"],
    [{ server: "Apache Jena Fuseki (4.10.0)" }, "Fuseki"],
    [{ "fuseki-request-id": "7" }, "Fuseki"],
    [{ server: "oxigraph/0.4.0" }, undefined],
    [{}, undefined],
  ])("that answers with %j is %s", (headers, engine) => {
    expect(recognised(headers)).toBe(engine);
  });
});

describe("Fuseki", () => {
  const fuseki: EngineQuirks = quirksOf({ "fuseki-request-id": "1" }) ?? expect.fail("Fuseki is not known");
  it.each([
    ["text/csv, text/tab-separated-values;q=0.4", "bindings", "text/tab-separated-values;q=0.4"],
    ["text/turtle, application/ld+json;q=0.5", "quads", "text/turtle, application/ld+json;q=0.5"],
  ] as const)("is asked for %j, %s, as %j", (accept, kind, expected) => {
    expect(soundAccept(accept, fuseki, { kind })).toBe(expected);
  });
});

describe("Virtuoso", () => {
  const virtuoso: EngineQuirks = quirksOf({ server: "Virtuoso/07" }) ?? expect.fail("Virtuoso is not known");
  it.each([
    ["application/sparql-results+json", "bindings", true],
    ["application/sparql-results+xml", "bindings", true],
    ["text/tab-separated-values", "bindings", false],
    ["text/csv", "bindings", false],
    ["application/sparql-results+xml", "boolean", true],
    ["application/n-triples", "quads", true],
    ["application/rdf+xml", "quads", true],
    ["text/turtle", "quads", false],
    ["application/ld+json", "quads", false],
  ] as const)("%s for %s keeps every term: %s", (mediaType, kind, expected) => {
    expect(isSound(virtuoso, mediaType, { kind })).toBe(expected);
  });
  it.each([
    ["text/turtle, application/n-triples;q=0.9, application/ld+json;q=0.5", "quads", "application/n-triples;q=0.9"],
    [
      "text/tab-separated-values,Application/SPARQL-Results+JSON ; q=0.9",
      "bindings",
      "Application/SPARQL-Results+JSON ; q=0.9",
    ],
    ["application/sparql-results+xml, */*;q=0.1", "boolean", "application/sparql-results+xml"],
    ["text/csv", "bindings", "application/sparql-results+json, application/sparql-results+xml"],
    ["", "quads", "application/n-triples, application/rdf+xml"],
  ] as const)("is asked for %j, %s, as %j", (accept, kind, expected) => {
    const adapted = soundAccept(accept, virtuoso, { kind });
    expect(adapted).toBe(expected);
    expect(soundAccept(adapted, virtuoso, { kind })).toBe(expected);
  });
  it.each([
    ["größe", "application/sparql-results+xml;q=0.9"],
    ["grosse", "application/sparql-results+json, application/sparql-results+xml;q=0.9"],
  ])("for the column %s is asked for %j", (name, expected) => {
    const accept = "application/sparql-results+json, application/sparql-results+xml;q=0.9, text/csv;q=0.2";
    const columns = { asked: ["s", name] };
    expect(soundAccept(accept, virtuoso, { kind: "bindings", columns })).toBe(expected);
  });
});
