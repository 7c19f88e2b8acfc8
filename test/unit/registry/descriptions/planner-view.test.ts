import { describe, expect, it } from "vitest";
import type { DescriptionForm } from "../../../../src/registry/descriptions/description-quads.ts";
import { selectFrom } from "../../../support/rdf-text.ts";
import { sampleDescription } from "../../../support/sample-description.ts";
import { descriptionQuads, type VoidDescription } from "../../../../src/registry/descriptions.ts";

const ns = "http://rdfs.org/ns/void#";
const foaf = "http://xmlns.com/foaf/0.1/";
const exact = { value: 3, status: "exact", record: 0 } as const;

/** The sample with complete lists whose counts are all exact. */
const [person] = sampleDescription.classPartitions;
if (person === undefined) throw new Error("the sample has lost its class");
const { graphs: _left, ...ofDefaultGraph } = sampleDescription;
const proven: VoidDescription = {
  ...ofDefaultGraph,
  classPartitions: [person],
  propertyPartitions: sampleDescription.propertyPartitions.map((one) => ({ ...one, triples: exact })),
};

const shouldTell = (
  description: VoidDescription,
  told: Readonly<Record<string, readonly string[]>>,
  options: Omit<DescriptionForm, "view"> = { variant: "standard" },
): void => {
  const quads = [...descriptionQuads(description, { view: "planner", ...options })];
  const of = (predicate: string): unknown =>
    selectFrom(quads, `SELECT ?o WHERE { ?s <${ns}${predicate}> ?o } ORDER BY ?o`, ["o"]).flat();
  const found = Object.keys(told).map((predicate) => [predicate, of(predicate)] as const);
  expect(Object.fromEntries(found)).toEqual(told);
};

const both = [`${foaf}knows`, `${foaf}name`];

describe("the planner's view tells", () => {
  it("exact counts and proven lists", () => {
    shouldTell(proven, {
      sparqlEndpoint: ["http://data.example/sparql"],
      class: [`${foaf}Person`],
      entities: ["10"],
      property: both,
      classes: ["2"],
    });
  });
  it("nothing of graphs that are not the default graph", () =>
    shouldTell(
      { ...proven, graphs: ["http://g"] },
      { sparqlEndpoint: ["http://data.example/sparql"], triples: [], class: [], property: [] },
    ));
  it("of counts that are not exact nothing", () => {
    shouldTell(proven, { properties: [], distinctObjects: [], distinctSubjects: ["10"], triples: ["3", "3", "100"] });
  });
  it("no list that is not complete", () => {
    shouldTell({ ...proven, classesComplete: false }, { class: [], classPartition: [], property: both });
    shouldTell(
      { ...proven, propertiesComplete: false },
      { class: [`${foaf}Person`], property: [], propertyPartition: [] },
    );
  });
  it.each(["lowerBound", "sampled", "claimed"] as const)("no list with a count that is only %s", (status) => {
    const [first, ...rest] = proven.propertyPartitions;
    if (first === undefined) throw new Error("the sample has lost its properties");
    const propertyPartitions = [{ ...first, triples: { ...exact, status } }, ...rest];
    shouldTell({ ...proven, propertyPartitions }, { property: [], class: [`${foaf}Person`] });
    const classPartitions = [{ ...person, entities: { ...exact, status } }];
    shouldTell({ ...proven, classPartitions }, { property: both, class: [] });
  });
  it("no list with an unknown count", () => {
    shouldTell(sampleDescription, { class: [], classPartition: [] });
  });
  it("nothing that planners make filters of", () => {
    shouldTell(proven, { uriSpace: [], uriRegexPattern: [], vocabulary: [], subset: [] }, { variant: "extended" });
  });
  it("properties of classes in the extended variant, where they are proven", () => {
    shouldTell(proven, { property: both }, { variant: "extended" });
    const properties = person.properties.map((one) => ({ ...one, triples: exact }));
    const all = { ...proven, classPartitions: [{ ...person, properties }] };
    shouldTell(all, { property: [...both, ...both].toSorted() }, { variant: "extended" });
    const incomplete = { ...all, classPartitions: [{ ...person, properties, propertiesComplete: false }] };
    shouldTell(incomplete, { property: both }, { variant: "extended" });
  });
});
