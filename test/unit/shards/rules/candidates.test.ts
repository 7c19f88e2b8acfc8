import { describe, expect, it } from "vitest";
import { applicability, applicableKinds, candidatesOf } from "../../../../shards/src/rules/candidates.ts";
import type { QueryFeatures, Rule, Interpretation } from "../../../../shards/src/rules/problem.ts";
import { literalInterpretation } from "../../../../shards/src/build-problem.ts";

const type = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";

/** A query of these predicates (a for rdf:type) and classes, asked `times` times. */
function query(
  predicates: string,
  classes: string,
  options: { subjects?: number; times?: number } = {},
): QueryFeatures {
  const split = (text: string): string[] => text.split(" ").filter((word) => word !== "");
  const ids = Array.from({ length: options.times ?? 1 }, (_, index) => `${predicates}/${classes}/${index}`);
  return {
    query: { id: ids[0] ?? "", text: "", same: ids },
    predicates: split(predicates).map((name) => (name === "a" ? type : name)),
    classes: split(classes),
    subjectVariables: options.subjects ?? 1,
    patterns: [],
  };
}

function ruleText(rule: Rule): string {
  if (rule.kind === "horizontal") return `H(${rule.class})/${rule.buckets}`;
  const iris = rule.kind === "class" ? rule.classes : rule.predicates;
  return `${rule.kind === "class" ? "C" : "V"}{${iris.map((iri) => (iri === type ? "a" : iri)).join(",")}}`;
}

const shouldCover = (
  name: string,
  reading: Partial<Interpretation>,
  { queries, rules }: { queries: readonly QueryFeatures[]; rules: readonly string[] },
): void => {
  it(`${name}: ${rules.join(" ") || "no rule"}`, () => {
    const found = candidatesOf(queries, { ...literalInterpretation, ...reading });
    expect(found.map(({ rule, covers }) => `${ruleText(rule)}:${covers.join("+")}`)).toEqual(rules);
  });
};

describe("candidate rules", () => {
  shouldCover("nothing", {}, { queries: [], rules: [] });
  shouldCover("no rule applies", {}, { queries: [query("p", ""), query("", "C", { subjects: 0 })], rules: [] });
  shouldCover(
    "pairs of predicates",
    {},
    { queries: [query("p q r", "")], rules: ["V{p,q}:0", "V{p,r}:0", "V{q,r}:0"] },
  );
  shouldCover("rdf:type counts", {}, { queries: [query("a p", "")], rules: ["V{a,p}:0"] });
  shouldCover("rdf:type does not count", { typeIsPredicate: false }, { queries: [query("a p", "")], rules: [] });
  shouldCover(
    "rdf:type is in no pair",
    { typeIsPredicate: false },
    { queries: [query("a p q", "")], rules: ["V{p,q}:0"] },
  );
  shouldCover(
    "a single predicate covers what the kind applies to",
    { verticalRule: "single" },
    { queries: [query("p q", ""), query("p", ""), query("p r", "")], rules: ["V{p}:0+2", "V{q}:0", "V{r}:2"] },
  );
  shouldCover("classes dominate horizontal", {}, { queries: [query("p", "C D")], rules: ["C{C,D}:0"] });
  shouldCover(
    "a joining query is not covered by the horizontal rule of another",
    {},
    { queries: [query("p", "C D"), query("p", "C")], rules: ["C{C,D}:0", "H(C)/2:1"] },
  );
  shouldCover(
    "horizontal covers joins",
    { horizontalCoversJoins: true },
    { queries: [query("p", "C D"), query("p", "C")], rules: ["C{C,D}:0", "H(C)/2:0+1", "H(D)/2:0"] },
  );
  shouldCover(
    "single classes",
    { classRule: "single" },
    { queries: [query("p", "C D"), query("p", "C")], rules: ["C{C}:0", "C{D}:0", "H(C)/2:1"] },
  );
  shouldCover("buckets", { buckets: 5 }, { queries: [query("p", "C")], rules: ["H(C)/5:0"] });
  shouldCover(
    "the order does not depend on that of the queries",
    {},
    {
      queries: [query("z y", "Z"), query("b c", "E D"), query("é z", "A"), query("c b", "B")],
      rules: ["V{b,c}:1+3", "V{y,z}:0", "V{z,é}:2", "C{D,E}:1", "H(A)/2:2", "H(B)/2:3", "H(Z)/2:0"],
    },
  );
});

describe("bounds", () => {
  const wide = (count: number): QueryFeatures =>
    query(Array.from({ length: count }, (_, index) => `p${index}`).join(" "), "");

  it("a query with thousands of predicates is refused before its pairs are made", () => {
    expect(() => candidatesOf([wide(15_000)], literalInterpretation)).toThrow(
      expect.objectContaining({
        code: "REQUEST_TOO_LARGE",
        message: expect.stringMatching(/has 15000 predicates/) as string,
      }),
    );
  });

  it("a query with hundreds is not", () => {
    expect(candidatesOf([wide(400)], literalInterpretation)).toHaveLength(79_800);
  });
});

describe("applicability", () => {
  const kinds = (features: QueryFeatures, reading: Partial<Interpretation> = {}): readonly string[] =>
    [...applicableKinds(features, { ...literalInterpretation, ...reading })].toSorted();

  it("needs two predicates, two classes, or a subject variable and a class", () => {
    expect(kinds(query("p", ""))).toEqual([]);
    expect(kinds(query("p q", ""))).toEqual(["vertical"]);
    expect(kinds(query("p", "C"))).toEqual(["horizontal"]);
    expect(kinds(query("p", "C", { subjects: 0 }))).toEqual([]);
    expect(kinds(query("p", "C D", { subjects: 0 }))).toEqual(["class"]);
    expect(kinds(query("a p", "C D"))).toEqual(["class", "horizontal", "vertical"]);
    expect(kinds(query("a p", "C D"), { typeIsPredicate: false })).toEqual(["class", "horizontal"]);
  });

  it("counts questions, not texts", () => {
    const features = [query("p q", "C D", { times: 3 }), query("p", "C", { times: 2 }), query("p", "")];
    expect(applicability(features, literalInterpretation)).toEqual({
      questions: 6,
      distinct: 3,
      vertical: 3,
      class: 3,
      horizontal: 5,
      none: 1,
    });
  });

  it("of no queries is nothing", () => {
    expect(applicability([], literalInterpretation)).toMatchObject({ questions: 0, distinct: 0, none: 0 });
  });
});
