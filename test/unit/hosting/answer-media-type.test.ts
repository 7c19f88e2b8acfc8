import { describe, expect, it } from "vitest";
import { answerMediaType } from "../../../src/hosting/endpoint-pool.ts";
import type { AnswerKind } from "../../../src/results/model.ts";

const shouldChoose = (kind: AnswerKind, accept: string, mediaType: string) => () =>
  expect(answerMediaType(kind, accept)).toBe(mediaType);
const shouldRefuse = (kind: AnswerKind, accept: string, offered: RegExp) => () => {
  const refusal = { code: "NOT_ACCEPTABLE", details: { next: expect.stringMatching(offered) } };
  expect(() => answerMediaType(kind, accept)).toThrow(expect.objectContaining(refusal));
};

describe("answerMediaType", () => {
  it("defaults to JSON", shouldChoose("bindings", "", "application/sparql-results+json"));
  it("defaults to Turtle", shouldChoose("quads", "*/*", "text/turtle"));
  it("takes what is wanted most", shouldChoose("bindings", "text/csv, */*;q=0.1", "text/csv"));
  it("has no CSV for ASK", shouldRefuse("boolean", "text/csv", /\+json, application\/sparql-results\+xml\.$/));
  it("writes no RDF/XML", shouldRefuse("quads", "application/rdf+xml", /^Accept one of text\/turtle, /));
  it("writes no HTML", shouldRefuse("bindings", "text/html", /text\/csv/));
});
