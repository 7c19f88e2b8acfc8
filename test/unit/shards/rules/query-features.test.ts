import { describe, expect, it } from "vitest";
import { readOntology, featuresOf, readQuery } from "../../../../shards/src/rules/query-features.ts";
import type { Pattern, QueryFeatures, Interpretation } from "../../../../shards/src/rules/problem.ts";

const ontology = readOntology(`
  @prefix : <urn:x/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
  :p rdfs:domain :D ; rdfs:range :R . :q rdfs:domain :D , :E . :unused rdfs:domain :F .`);

function features(query: string, reading: Partial<Pick<Interpretation, "infer" | "exists">> = {}): QueryFeatures {
  const text = `PREFIX : <urn:x/> ${query}`;
  return featuresOf(readQuery({ id: "q", text, same: ["q"] }), { infer: false, exists: false, ...reading }, ontology);
}

/** As `P: a p; C: D; S: 1`. */
function summary({ predicates, classes, subjectVariables }: QueryFeatures): string {
  const short = (iris: readonly string[]): string =>
    iris
      .map((iri) => iri.replace("http://www.w3.org/1999/02/22-rdf-syntax-ns#type", "a").replace("urn:x/", ""))
      .join(" ");
  return `P: ${short(predicates)}; C: ${short(classes)}; S: ${subjectVariables}`;
}

const shouldHave = (
  query: string,
  expected: string,
  reading?: Partial<Pick<Interpretation, "infer" | "exists">>,
): void => {
  it(`${query} ${JSON.stringify(reading ?? {})} has ${expected}`, () => {
    expect(summary(features(query, reading))).toBe(expected);
  });
};

describe("P, C and S", () => {
  shouldHave("SELECT * { ?s a :C ; :p ?o ; :p ?r }", "P: a p; C: C; S: 1");
  shouldHave("SELECT * { ?s a :C . ?t a :B ; :p ?s }", "P: a p; C: B C; S: 2");
  shouldHave("SELECT * { ?s <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> :C }", "P: a; C: C; S: 1");
  shouldHave("SELECT * { ?s ?p :C }", "P: ; C: ; S: 1");
  shouldHave("SELECT * { ?s a ?c }", "P: a; C: ; S: 1");
  shouldHave("SELECT * { :s a 'C' }", "P: a; C: ; S: 0");
  shouldHave("SELECT * { :s a :C }", "P: a; C: C; S: 0");
  shouldHave("SELECT * { [] a :C . _:b :p [] . _:b :q 1 }", "P: a p q; C: C; S: 2");
  shouldHave("SELECT * { ?s :p/^:q|:r* ?o }", "P: p q r; C: ; S: 4");
  shouldHave("SELECT * { ?s :p/a :C }", "P: a p; C: C; S: 2");
  shouldHave("SELECT * { :C ^a ?s }", "P: a; C: C; S: 1");
  shouldHave("SELECT * { ?s !(:p|a) :C }", "P: ; C: ; S: 1");
  shouldHave("SELECT * { ?s a :C MINUS { ?t :p ?o } }", "P: a p; C: C; S: 2");
  shouldHave("SELECT * { { SELECT ?s { ?s a :C } } UNION { ?s :q ?o } OPTIONAL { ?s :r 1 } }", "P: a q r; C: C; S: 1");
  shouldHave("DESCRIBE :s", "P: ; C: ; S: 0");
});

describe("options", () => {
  const inside = "SELECT * { ?s :p ?o FILTER NOT EXISTS { ?t a :C ; :q ?s } }";
  shouldHave(inside, "P: p; C: ; S: 1");
  shouldHave(inside, "P: a p q; C: C; S: 2", { exists: true });
  shouldHave(inside, "P: p; C: D R; S: 1", { infer: true });
  shouldHave(inside, "P: a p q; C: C D E R; S: 2", { infer: true, exists: true });
  shouldHave("SELECT * { ?s :r/^:q ?o }", "P: q r; C: D E; S: 2", { infer: true });

  it("without an ontology nothing is inferred", () => {
    const read = readQuery({ id: "q", text: "ASK { ?s <urn:x/p> ?o }", same: ["q"] });
    expect(featuresOf(read, { infer: true, exists: false }).classes).toEqual([]);
  });
});

const shouldPlace = (query: string, ...patterns: readonly Pattern[]): void => {
  it(`${query} is placed by ${patterns.length} patterns`, () => {
    expect(features(query).patterns).toEqual(patterns);
  });
};

describe("patterns for the placement", () => {
  const p = "<urn:x/p>";
  shouldPlace("SELECT * { ?s :p ?o }", { predicate: p });
  shouldPlace("SELECT * { ?s :p ?o . ?t :p ?u }", { predicate: p });
  shouldPlace("SELECT * { ?s :p ?s }", { predicate: p, equal: [["subject", "object"]] });
  shouldPlace("SELECT * { ?s ?s :o }", { object: "<urn:x/o>", equal: [["subject", "predicate"]] });
  shouldPlace("SELECT * { _:b :p _:b }", { predicate: p, equal: [["subject", "object"]] });
  shouldPlace("SELECT * { ?x ?x ?x }", {
    equal: [
      ["subject", "predicate"],
      ["subject", "object"],
      ["predicate", "object"],
    ],
  });
  shouldPlace("SELECT * { :s :p 5 }", {
    subject: "<urn:x/s>",
    predicate: p,
    object: '"5"^^<http://www.w3.org/2001/XMLSchema#integer>',
  });
  shouldPlace("SELECT * { ?s :p 'a\\n\"b\"'@EN }", { predicate: p, object: '"a\\n\\"b\\""@en' });
  shouldPlace("SELECT * { ?s :p 'a'^^<http://www.w3.org/2001/XMLSchema#string> }", { predicate: p, object: '"a"' });
  shouldPlace("SELECT * { ?s !(:q|:p) ?o }", { exceptPredicates: ["urn:x/p", "urn:x/q"] });
  // Inside EXISTS too, whatever the reading says of features.
  shouldPlace("SELECT * { ?s :q ?o FILTER EXISTS { ?s :p ?o } }", { predicate: p }, { predicate: "<urn:x/q>" });
  shouldPlace("SELECT * { FILTER EXISTS { ?s :p ?o } ?s :q ?o }", { predicate: p }, { predicate: "<urn:x/q>" });
});
