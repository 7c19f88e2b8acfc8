import { describe, expect, it } from "vitest";
import { parseQuery, splitClauses } from "../../../src/sparql/query.ts";

/** The pattern of the only clause with the variables of each site in its place. */
function marked(clause: string): string {
  const [found] = splitClauses(parseQuery(`SELECT * { ?s ?p ?n FILTER EXISTS { SERVICE <x:b> ${clause} } }`)).clauses;
  const { pattern = "", substitution } = found ?? {};
  return (substitution?.sites ?? []).reduceRight(
    (text, { at, variables }) => `${text.slice(0, at)}[${variables.toSorted().join(" ")}]${text.slice(at)}`,
    pattern,
  );
}

describe("where values are put into a clause inside EXISTS", () => {
  it.each([
    ["nowhere when its triples bind everything", "{ ?s <x:q> ?t FILTER(?t > 1) }", "{ ?s <x:q> ?t FILTER(?t > 1) }"],
    ["for a FILTER", "{ ?s <x:q> ?t FILTER(?t > ?n) }", "{[n s t] ?s <x:q> ?t FILTER(?t > ?n) }"],
    [
      "for a FILTER of a nested group, and in the groups around it",
      "{ ?s ?p ?t { ?a <x:q> ?t FILTER(?t > ?n) } { ?b <x:r> ?t } }",
      "{[a b n p s t] ?s ?p ?t {[a n t] ?a <x:q> ?t FILTER(?t > ?n) } { ?b <x:r> ?t } }",
    ],
    [
      "for what only OPTIONAL mentions",
      "{ ?s ?p ?t OPTIONAL { ?t ?q ?n } }",
      "{[n p q s t] ?s ?p ?t OPTIONAL { ?t ?q ?n } }",
    ],
    ["for what only MINUS mentions", "{ ?s ?p ?t MINUS { ?t ?p ?n } }", "{[n p s t] ?s ?p ?t MINUS { ?t ?p ?n } }"],
    ["not for what BIND assigns", "{ ?s ?p ?t BIND(?t + ?n AS ?m) }", "{[n p s t] ?s ?p ?t BIND(?t + ?n AS ?m) }"],
    [
      "into a subselect for what it projects",
      "{ SELECT ?s ?n { ?s ?p ?t FILTER(?t > ?n) } }",
      "{ SELECT ?s ?n {[n s] ?s ?p ?t FILTER(?t > ?n) } }",
    ],
    [
      "not into a subselect for what it hides",
      "{ SELECT ?s { ?s ?p ?t FILTER(?t > ?n) } }",
      "{ SELECT ?s { ?s ?p ?t FILTER(?t > ?n) } }",
    ],
    [
      "not into a subselect with LIMIT",
      "{ SELECT ?s ?n { ?s ?p ?t FILTER(?t > ?n) } LIMIT 1 }",
      "{ SELECT ?s ?n { ?s ?p ?t FILTER(?t > ?n) } LIMIT 1 }",
    ],
    [
      "for an EXISTS inside",
      "{ ?s ?p ?t FILTER EXISTS { ?t ?p ?u FILTER(?u > ?n) } }",
      "{[n p s t u] ?s ?p ?t FILTER EXISTS { ?t ?p ?u FILTER(?u > ?n) } }",
    ],
  ])("%s", (_, clause, expected) => {
    expect(marked(clause)).toBe(expected);
  });
  it("takes no time in deep nesting", () => {
    const depth = 30;
    const nested = `{ ?s ?p ?t ${"OPTIONAL { ?t ?p ?n ".repeat(depth)}${"}".repeat(depth)} }`;
    expect(marked(nested)).toContain("[n p s t]");
  });
});
