import sparqljs from "sparqljs";
import { describe, expect, it } from "vitest";
import { factKinds, solutionsOfKeys } from "../../../../../src/registry/descriptions/compute/fact-kinds.ts";
import {
  allTriplesQuery,
  askProperty,
  type Dialect,
  distinctNodesQueries,
  fewCountsQuery,
  dataSizeQuery,
  graphsQuery,
  groupsQuery,
  keysQuery,
  languagesQuery,
  listTotalQuery,
  manyCountsQuery,
  missingKeyQuery,
  probedRows,
  probes,
  rowCapQuery,
  solutionQuery,
  type Selection,
  subjectsQuery,
} from "../../../../../src/registry/descriptions/compute/queries.ts";

const plain: Dialect = {
  count: true,
  values: true,
  graphs: [],
  named: false,
  repeats: false,
  countDistinct: true,
};
const dialects: readonly Dialect[] = [
  plain,
  { ...plain, count: false, graphs: ["http://g.example/1", "http://g.example/2"] },
  { ...plain, values: false },
  { ...plain, count: false, values: false },
  { ...plain, named: true },
  { ...plain, named: true, repeats: true, countDistinct: false },
];
const one = "http://schema.example/A";
const two = "http://schema.example/B";
const selections: readonly Selection[] = [{}, { keys: [one] }, { keys: [one, two] }, { without: [one, two] }];

const parser = new sparqljs.Parser();

function shouldParse(query: string): void {
  expect(() => parser.parse(query), query).not.toThrow();
}

describe("every query text", () => {
  it("of every kind, selection and dialect is SPARQL 1.1", () => {
    let texts = 0;
    for (const dialect of dialects) {
      for (const kind of Object.values(factKinds)) {
        const own = kind.key === "c" ? [{ keys: [one], properties: [two] }] : [];
        for (const selection of [...selections, ...own]) {
          shouldParse(groupsQuery(kind, selection, dialect));
          texts++;
        }
        for (const keys of [[one], [one, two]]) shouldParse(groupsQuery(solutionsOfKeys(kind), { keys }, dialect));
        shouldParse(keysQuery(kind, { keys: [one, two] }, dialect));
        shouldParse(keysQuery(kind, { without: [one], bounds: "LIMIT 10" }, dialect));
        shouldParse(listTotalQuery(kind, { without: [one] }, dialect));
        shouldParse(solutionQuery(kind, 7, dialect));
        shouldParse(missingKeyQuery(kind, [one], dialect));
      }
      shouldParse(askProperty(one, two, dialect));
      for (const query of [...distinctNodesQueries("s", dialect), ...distinctNodesQueries("o", dialect)])
        shouldParse(query);
      for (const query of [languagesQuery(dialect), languagesQuery(dialect, 5), subjectsQuery(dialect, 5)])
        shouldParse(query);
    }
    expect(texts).toBe(dialects.length * (8 * 4 + 4));
  });

  it.each([
    ...probedRows.map(rowCapQuery),
    probes.values,
    allTriplesQuery("SELECT", 5, plain),
    allTriplesQuery("CONSTRUCT", 5, { ...plain, graphs: [one] }),
    dataSizeQuery(5, plain),
    probes.count,
    probes.systemGraphs,
    probes.anything,
    graphsQuery(5, plain),
    graphsQuery(5, { ...plain, countDistinct: false }),
    ...[true, false].flatMap((values) => [manyCountsQuery, fewCountsQuery].map((query) => query({ ...plain, values }))),
  ])("%s parses", shouldParse);
});

describe("query texts", () => {
  it.each([
    [{}, "SELECT ?c ?p (COUNT(*) AS ?n)"],
    [{}, "GROUP BY ?c ?p"],
    [{}, "FILTER(isIRI(?c))"],
    [{ keys: [one, two] }, `VALUES ?c { <${one}> <${two}> }`],
    [{ keys: [one] }, `?s a <${one}> .`],
    [{ without: [one] }, `FILTER(?c NOT IN (<${one}>))`],
  ])("of %j hold %s", (selection, part) => {
    expect(groupsQuery(factKinds.classProperties, selection, plain)).toContain(part);
  });

  it("name graphs and use IN where VALUES does not work", () => {
    const dialect = { ...plain, count: false, values: false, graphs: ["http://g.example/1"] };
    const query = groupsQuery(factKinds.classProperties, { keys: [one, two] }, dialect);
    expect(query).toContain("FROM <http://g.example/1> WHERE");
    expect(query).toContain(`FILTER(?c IN (<${one}>, <${two}>))`);
    expect(query).not.toMatch(/VALUES|COUNT/u);
  });

  it("match each triple in a graph of its own, and count a triple of several graphs once", () => {
    const dialect = { ...plain, named: true, repeats: true };
    const query = groupsQuery(factKinds.classObjectClasses, { keys: [one] }, dialect);
    expect(query).toBe(
      "SELECT ?p ?k (COUNT(*) AS ?n) WHERE { { SELECT DISTINCT ?s ?p ?o ?k WHERE { " +
        `GRAPH ?g0 { ?s a <${one}> } GRAPH ?g1 { ?s ?p ?o } GRAPH ?g2 { ?o a ?k } FILTER(isIRI(?k)) } }  } GROUP BY ?p ?k`,
    );
  });

  it.each([
    "http://x.example/> } DELETE WHERE { ?s ?p ?o } #",
    "http://x.example/a b",
    'http://x.example/"',
    "relative",
    "http://x.example/\u0001",
    "nodeID://b10001",
    "http://x.example/\ud800",
    `http://x.example/${"a".repeat(3000)}`,
  ])("refuse the IRI %j", (iri) => {
    expect(() => groupsQuery(factKinds.classes, { keys: [iri] }, plain)).toThrow(RangeError);
  });
});
