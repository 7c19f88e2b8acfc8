import { describe, expect, it } from "vitest";
import { ontologyLimits, readOntology } from "../../../../shards/src/rules/query-features.ts";

const prologue = `@prefix : <urn:x/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> . `;

const shouldSay = (turtle: string, expected: Readonly<Record<string, readonly string[]>>): void => {
  it(`${turtle} says ${JSON.stringify(expected)}`, () => {
    expect(Object.fromEntries(readOntology(prologue + turtle).classesOf)).toEqual(expected);
  });
};

describe("classes at the ends of predicates", () => {
  shouldSay("", {});
  shouldSay(":p rdfs:domain :C .", { "urn:x/p": ["urn:x/C"] });
  shouldSay(":p rdfs:range :C .", { "urn:x/p": ["urn:x/C"] });
  shouldSay(":p rdfs:range :C ; rdfs:domain :B , :C .", { "urn:x/p": ["urn:x/B", "urn:x/C"] });
  shouldSay(":p rdfs:domain :C ; rdfs:range xsd:integer .", { "urn:x/p": ["urn:x/C"] });
  shouldSay(":p rdfs:range rdfs:Literal , rdf:langString , owl:Thing , rdfs:Resource .", {});
  shouldSay(":age a rdfs:Datatype . :p rdfs:range :age .", {});
  shouldSay(":p rdfs:range :age . :age a rdfs:Datatype .", {});
  shouldSay(":p rdfs:domain [ owl:unionOf (:A :B) ] . [] rdfs:domain :C .", {});
  shouldSay(":p rdfs:domain 'C' . :C rdfs:subClassOf :D .", {});
});

describe("what is no ontology", () => {
  it("names the line of a syntax error", () => {
    expect(() => readOntology("<urn:a> <urn:b> <urn:c> .\n<urn:a> nonsense .")).toThrow(
      expect.objectContaining({
        code: "REQUEST_INVALID",
        message: expect.stringMatching(/^The ontology cannot be read: The document is not valid Turtle/) as string,
        details: expect.objectContaining({ where: { line: 2 } }) as object,
      }),
    );
  });

  it("has a bound", () => {
    const long = `# ${"x".repeat(ontologyLimits.maxBytes)}`;
    expect(() => readOntology(long)).toThrow(expect.objectContaining({ code: "REQUEST_TOO_LARGE" }));
  });
});
