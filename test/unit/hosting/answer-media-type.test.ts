import { describe, expect, it } from "vitest";
import { answerMediaType } from "../../../src/hosting/answer-media-type.ts";
import type { AnswerKind } from "../../../src/results/model.ts";

const shouldChoose = (kind: AnswerKind, accept: string, mediaType: string) => () =>
  expect(answerMediaType(kind, accept)).toBe(mediaType);
const shouldRefuse = (kind: AnswerKind, accept: string) => () =>
  expect(() => answerMediaType(kind, accept)).toThrow(expect.objectContaining({ code: "NOT_ACCEPTABLE" }));

describe("answerMediaType", () => {
  it("defaults to JSON", shouldChoose("bindings", "", "application/sparql-results+json"));
  it("defaults to JSON for */*", shouldChoose("boolean", "*/*", "application/sparql-results+json"));
  it("defaults to Turtle", shouldChoose("quads", "*/*", "text/turtle"));
  it("takes an exact range", shouldChoose("bindings", "text/csv", "text/csv"));
  it("ignores parameters", shouldChoose("bindings", "text/csv; charset=utf-8", "text/csv"));
  it("ignores case", shouldChoose("bindings", "Text/CSV", "text/csv"));
  it(
    "follows quality",
    shouldChoose("bindings", "text/csv;q=0.5, application/sparql-results+xml;q=0.9", "application/sparql-results+xml"),
  );
  it(
    "prefers its own order in a tie",
    shouldChoose("bindings", "text/csv, application/sparql-results+json", "application/sparql-results+json"),
  );
  it("takes a type's wildcard", shouldChoose("bindings", "text/*", "text/csv"));
  it(
    "lets the specific range decide",
    shouldChoose("bindings", "*/*, application/sparql-results+json;q=0", "application/sparql-results+xml"),
  );
  it(
    "ignores formats of another kind",
    shouldChoose("quads", "application/sparql-results+json, application/n-triples;q=0.1", "application/n-triples"),
  );
  it("writes JSON-LD", shouldChoose("quads", "application/ld+json", "application/ld+json"));
  it("has no CSV for ASK", shouldRefuse("boolean", "text/csv"));
  it("writes no RDF/XML", shouldRefuse("quads", "application/rdf+xml"));
  it("takes q=0 as no", shouldRefuse("bindings", "*/*;q=0"));
  it("takes nonsense as no", shouldRefuse("bindings", "*/*;q=high"));
  it("reads at most 50 ranges", shouldRefuse("bindings", `${"a/b,".repeat(50)}*/*`));
});
