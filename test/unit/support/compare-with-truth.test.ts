import oxigraph from "oxigraph";
import { describe, expect, it } from "vitest";
import { compareWithTruth } from "../../support/compare-with-truth.ts";
import { describedText, describedUnits } from "../../support/described-data.ts";
import { truthfulDescription } from "../../support/truthful-description.ts";
import { truthOf } from "../../support/void-truth.ts";
import type { VoidDescription } from "../../../src/registry/descriptions.ts";

const shape = { seed: 7, triples: 1_500, classes: 8 };
const truth = truthOf([...describedUnits(shape)].flat());
const store = new oxigraph.Store();
store.load(describedText(shape), { format: "application/n-triples" });

/** Rows as text, for comparison with what was counted from the triples. */
function rowsOf(query: string): readonly string[] {
  const rows = store.query(query);
  if (!Array.isArray(rows)) throw new Error("no rows");
  return rows.map((row) => [...(row as Map<string, oxigraph.Term>).values()].map(({ value }) => value).join(" "));
}

const sorted = (rows: Iterable<string>): readonly string[] => [...rows].toSorted();

describe("the truth of generated data", () => {
  it("has every kind of thing that descriptions are about", () => {
    const properties = [...truth.propertyPartitions.values()];
    expect(truth.classPartitions.size).toBeGreaterThan(8);
    expect(rowsOf("SELECT ?c { ?s a ?c FILTER ISBLANK(?c) }")).toHaveLength(1);
    expect(properties.some(({ objectClasses, datatypes }) => objectClasses.size > 1 && datatypes.size > 0)).toBe(true);
    expect(properties.some(({ objectClasses, datatypes }) => objectClasses.size + datatypes.size === 0)).toBe(true);
    expect(sorted(truth.languages)).toEqual(["de", "en", "fr", "pt-br"]);
    expect(describedText(shape)).toBe(describedText(shape));
    expect(rowsOf("SELECT ?s { ?s ?p ?o FILTER(ISBLANK(?s) && EXISTS { ?s a [] }) }").length).toBeGreaterThan(0);
    expect(rowsOf("SELECT ?s { ?s ?p ?o FILTER NOT EXISTS { ?s a ?c } }").length).toBeGreaterThan(0);
  });

  it("agrees with SPARQL on the whole", () => {
    const { triples, distinctSubjects, distinctObjects, properties, classes } = truth;
    expect(
      rowsOf(`SELECT (COUNT(*) AS ?t) (COUNT(DISTINCT ?s) AS ?ds) (COUNT(DISTINCT ?o) AS ?do)
        (COUNT(DISTINCT ?p) AS ?dp) { ?s ?p ?o }`),
    ).toEqual([[triples, distinctSubjects, distinctObjects, properties].join(" ")]);
    expect(rowsOf("SELECT (COUNT(DISTINCT ?c) AS ?n) { ?s a ?c FILTER ISIRI(?c) }")).toEqual([String(classes)]);
  });

  it("agrees with SPARQL on classes and their properties", () => {
    const counted = [...truth.classPartitions].flatMap(([iri, one]) =>
      [...one.properties].map(
        ([property, { triples, distinctSubjects, distinctObjects }]) =>
          `${iri} ${property} ${triples} ${distinctSubjects} ${distinctObjects}`,
      ),
    );
    expect(
      sorted(
        rowsOf(`SELECT ?c ?p (COUNT(?o) AS ?t) (COUNT(DISTINCT ?s) AS ?ds) (COUNT(DISTINCT ?o) AS ?do)
          { ?s a ?c ; ?p ?o FILTER ISIRI(?c) } GROUP BY ?c ?p`),
      ),
    ).toEqual(sorted(counted));
    const entities = [...truth.classPartitions].map(([iri, one]) => `${iri} ${one.entities} ${one.triples}`);
    expect(
      sorted(
        rowsOf(
          `SELECT ?c (COUNT(DISTINCT ?s) AS ?n) (COUNT(?p) AS ?t) { ?s a ?c ; ?p ?o FILTER ISIRI(?c) } GROUP BY ?c`,
        ),
      ),
    ).toEqual(sorted(entities));
  });

  it("agrees with SPARQL on what properties lead to", () => {
    const facts = (kind: "objectClasses" | "datatypes") =>
      [...truth.classPartitions].flatMap(([iri, one]) =>
        [...one.properties].flatMap(([property, known]) =>
          [...known[kind]].map(([object, triples]) => `${iri} ${property} ${object} ${triples}`),
        ),
      );
    const counted = (pattern: string) =>
      rowsOf(`SELECT ?c ?p ?d (COUNT(*) AS ?n) { ?s a ?c ; ?p ?o ${pattern} FILTER ISIRI(?c) } GROUP BY ?c ?p ?d`);
    expect(sorted(counted("BIND(DATATYPE(?o) AS ?d) FILTER ISLITERAL(?o)"))).toEqual(sorted(facts("datatypes")));
    expect(sorted(counted(". ?o a ?d FILTER ISIRI(?d)"))).toEqual(sorted(facts("objectClasses")));
  });
});

describe("compareWithTruth", () => {
  const perfect = truthfulDescription(truth);
  const compared = (change: Partial<VoidDescription>) => compareWithTruth({ ...perfect, ...change }, truth);
  const [first, ...others] = perfect.classPartitions;
  if (first === undefined) throw new Error("no class");
  const clean = { wrongExact: [], wrongBounds: [], wrongComplete: [], invented: [] };

  it("finds nothing wrong in what is true", () => {
    expect(compared({})).toMatchObject({ ...clean, recall: 1, precision: 1, exactShare: 1 });
    expect(compared({}).statements.exact).toBeGreaterThan(500);
    expect(compared({}).completeLists).toBe(compared({}).lists);
  });

  it("finds a wrong exact count", () => {
    const triples = { value: truth.triples - 1, status: "exact", record: 0 } as const;
    expect(compared({ triples }).wrongExact).toEqual([`triples: ${truth.triples - 1}, in truth ${truth.triples}`]);
    expect(compared({ triples: { ...triples, status: "lowerBound" } })).toMatchObject(clean);
  });

  it("finds a bound that is too high", () => {
    const triples = { value: truth.triples + 1, status: "lowerBound", record: 0 } as const;
    expect(compared({ triples }).wrongBounds).toHaveLength(1);
  });

  it("finds a list that is called complete and is not", () => {
    expect(compared({ classPartitions: others }).wrongComplete).toEqual([
      expect.stringContaining(`classes: 1 of ${truth.classPartitions.size} missing`),
    ]);
    expect(compared({ classPartitions: others, classesComplete: false })).toMatchObject(clean);
    expect(compared({ classPartitions: others }).recall).toBeLessThan(1);
  });

  it("finds a property without its object types", () => {
    const bare = first.properties.map((one) => ({ ...one, objectClasses: [], datatypes: [] }));
    const classPartitions = [{ ...first, properties: bare }, ...others];
    expect(compared({ classPartitions }).wrongComplete.length).toBeGreaterThan(0);
    expect(compared({ classPartitions }).recall).toBeLessThan(1);
  });

  it("finds what was made up", () => {
    const classPartitions = [{ ...first, class: "http://data.example/none" }, ...others];
    const { invented, wrongExact, precision } = compared({ classPartitions });
    expect(invented).toContain("class <http://data.example/none>");
    expect(wrongExact).toContain("class <http://data.example/none> does not exist");
    expect(precision).toBeLessThan(1);
  });

  it("counts what is unknown", () => {
    const unknown = [{ what: "triples", why: "timeout" }] as const;
    const result = compared({ unknown });
    expect(result.statements.unknown).toBe(1);
    expect(result.exactShare).toBeLessThan(1);
  });
});
