import { describe, expect, it } from "vitest";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import { parseTurtle } from "../../../src/rdf/turtle.ts";

const limits = { baseIri: "http://base.example/dir/", maxBytes: 1_000, maxQuads: 5 };
const objectsOf = (text: string) => parseTurtle(text, limits).map((quad) => quad.object.value);

function errorOf(text: string, overrides: Partial<typeof limits> = {}): FedwayError {
  try {
    parseTurtle(text, { ...limits, ...overrides });
  } catch (error) {
    if (error instanceof FedwayError) return error;
    throw error;
  }
  throw new Error("parsed without an error");
}

const shouldFail = (text: string, line: number | undefined, reason: RegExp) => () => {
  const error = errorOf(text);
  expect(error.code).toBe("CATALOG_INVALID");
  expect(error.details.where?.line).toBe(line);
  expect(error.message).toMatch(reason);
};

describe("parseTurtle", () => {
  it("resolves relative IRIs", () => expect(objectsOf("<a> <b> <c> .")).toEqual(["http://base.example/dir/c"]));
  it("resolves absolute paths", () => expect(objectsOf("<a> <b> </c> .")).toEqual(["http://base.example/c"]));
  it("keeps unicode", () => expect(objectsOf('<a> <b> "Ísland 日本 \\U0001F30D" .')).toEqual(["Ísland 日本 🌍"]));
  it("reads an empty document", () => expect(objectsOf("")).toEqual([]));
  it("takes as many triples as allowed", () => expect(objectsOf("<a> <b> 1,2,3,4,5 .")).toHaveLength(5));
  it("refuses one more", shouldFail("<a> <b> 1,2,3,4,5,6 .", undefined, /more than 5 triples/));
  it("takes blank nodes at both ends", () => expect(objectsOf("_:a <b> _:b, _:c, _:d, _:e, _:f .")).toHaveLength(5));
  it("takes a list", () => expect(objectsOf("<a> <b> (1 2) .")).toHaveLength(5));
  it("refuses brackets that cannot be so few", shouldFail(`<a> <b> ${"[ <b> ".repeat(11)}`, undefined, /more than 5/));
  it("names an unknown prefix", shouldFail("<a> <b> <c> .\n\n<a> foaf:b 1 .", 3, /Undefined prefix "foaf:"/));
  it("names a missing object", shouldFail("<a> <b> .", 1, /Expected entity but got \./));
  it("names an open string", shouldFail('<a> <b>\n "x', 2, /Unexpected/));
  it("names an open bracket", shouldFail("<a> <b> [\n", 2, /got eof/));
  it("is Turtle, not TriG", shouldFail("{ <a> <b> <c> }", 1, /Unexpected graph/));
  it("is Turtle, not N3", shouldFail("<a> => <b> .", 1, /Unexpected/));
  it("measures bytes, not characters", () => {
    expect(errorOf('<a> <b> "ðððð" .', { maxBytes: 19 }).message).toMatch(/larger than 19 bytes/);
    expect(parseTurtle('<a> <b> "ðððð" .', { ...limits, maxBytes: 20 })).toHaveLength(1);
  });
  it("keeps the reason short", () => {
    expect(errorOf(`<a> <b> "${"x".repeat(900)}`).message.length).toBeLessThan(260);
  });
});
