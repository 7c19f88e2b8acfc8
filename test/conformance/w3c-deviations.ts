import { suiteText, type QueryCase } from "../support/w3c/suite.ts";
import type { Way } from "../support/w3c/suite-ways.ts";

/** W3C cases whose expected answer Fedway does not give, and whose fault that is. One that passes must leave the list. */
interface Deviation {
  readonly ways: readonly (Way | "syntax")[];
  readonly fault: "the test" | "Oxigraph" | "Comunica" | "the way";
  readonly reason: string;
  readonly cases: readonly string[];
}

const members = ["split", "shards", "split-told", "shards-told"] as const;
const overOxigraph = ["wrapped", ...members] as const;
const federated = ["wrapped", "files", ...members] as const;
const everywhere = ["own", ...federated, "syntax"] as const;

const deviations: readonly Deviation[] = [
  {
    ways: everywhere,
    fault: "the test",
    reason: "SPARQL 1.0 has decimals that end with a dot; in 1.1 the dot ends the triple (production 147).",
    cases: ["1.0/basic/term-6", "1.0/basic/term-7", "1.0/syntax-sparql1/syntax-lit-08"],
  },
  {
    ways: everywhere,
    fault: "the test",
    reason: 'RDF 1.0: "abc" and "abc"^^xsd:string are two terms; since RDF 1.1 they are one.',
    cases: ["1.0/distinct/distinct-2", "1.0/distinct/distinct-9", "1.1/functions/strdt03", "1.1/functions/strlang03"],
  },
  {
    ways: overOxigraph,
    fault: "Oxigraph",
    reason: "It keeps numbers and dates by value: 01 becomes 1, +00:00 becomes Z.",
    cases: [
      "1.0/open-world/open-eq-01",
      "1.0/open-world/date-3",
      "1.0/expr-builtin/dawg-str-1",
      "1.0/expr-builtin/dawg-str-2",
      "1.0/expr-builtin/sameTerm-eq",
      "1.0/expr-builtin/sameTerm-not-eq",
      "1.0/expr-builtin/sameTerm-simple",
      "1.0/expr-equals/eq-graph-1",
      "1.0/expr-equals/eq-graph-2",
      "1.0/distinct/distinct-1",
      "1.1/csv-tsv-res/csv03",
      "1.1/csv-tsv-res/tsv03",
    ],
  },
  {
    ways: ["own"],
    fault: "Oxigraph",
    reason: "A FILTER in a group of its own within OPTIONAL sees the left side (it does not: section 18.2.2.6).",
    cases: ["1.0/optional-filter/dawg-optional-filter-005-not-simplified"],
  },
  {
    ways: federated,
    fault: "the test",
    reason: "The same query with the other answer; never approved.",
    cases: ["1.0/optional-filter/dawg-optional-filter-005-simplified"],
  },
  {
    ways: ["own"],
    fault: "Oxigraph",
    reason: "BNODE(text) makes the same blank node in every solution (section 17.4.2.9: in one solution).",
    cases: ["1.1/functions/bnode01"],
  },
  {
    ways: ["own"],
    fault: "Oxigraph",
    reason: "With mf:XsdDateOperations, but a date in UTC and one without a time zone are unequal.",
    cases: ["1.0/open-world/date-2"],
  },
  {
    ways: ["service"],
    fault: "the way",
    reason: "The data name endpoints by URLs at which nothing of ours answers (SERVICE_TARGET_REFUSED).",
    cases: ["1.1/service/service5"],
  },
  {
    ways: federated,
    fault: "the way",
    reason: "Blank nodes are IRIs here, because no blank node is the same at two endpoints.",
    cases: ["dawg-isBlank-1", "dawg-isIRI-1", "dawg-isURI-1"]
      .map((name) => `1.0/expr-builtin/${name}`)
      .concat("1.0/sort/dawg-sort-8"),
  },
];

/** Why a case has another answer; undefined when it has the expected one. */
export function deviationOf(name: string, way: Way | "syntax"): string | undefined {
  const found = deviations.find(({ ways, cases }) => ways.includes(way) && cases.includes(name));
  return found && `${found.fault}: ${found.reason}`;
}

/** Ordered by ?x, and yet blank nodes and IRIs come last in these files (section 15.1: before literals). */
export const notInOrder: readonly string[] = ["1.1/functions/plus-1", "1.1/functions/plus-2"];

/** GRAPH or FROM NAMED. */
export const usesNamedGraphs = ({ query }: QueryCase): boolean => /\b(?:GRAPH|NAMED)\s*[?<:]/iu.test(suiteText(query));
