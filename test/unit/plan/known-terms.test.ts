import { describe, expect, it } from "vitest";
import { createPlanner } from "../../../src/plan/create-planner.ts";
import { describedModels } from "../../support/described-models.ts";
import { classPartition, descriptionOf, propertyPartition } from "../../support/synthetic-catalog.ts";
import { toCatalog, toEntry } from "./plan-cases.ts";

const foaf = "http://xmlns.com/foaf/0.1/";
const ex = "http://vocabulary.example/";
const others = Array.from({ length: 12 }, (_, at) => toEntry(`aa${at}`, { title: "Something else" }));
const people = toEntry("people", { title: "Persons" });
const works = toEntry("works", { title: "Paintings" });
const catalog = toCatalog(
  [...others, people, works],
  [{ id: "both", title: "both", members: ["people", "works"], memberKeywords: [] }],
);

const known = () => {
  const { models, finder: index } = describedModels({ entries: catalog.entries });
  const named = propertyPartition(`${foaf}name`, { triples: 20 });
  models.setDescription(
    "people",
    descriptionOf({
      classPartitions: [classPartition(`${foaf}Person`, 10, [named])],
      propertyPartitions: [named, propertyPartition(`${ex}born`, { triples: 9 })],
      classesComplete: true,
      propertiesComplete: true,
    }),
  );
  models.setDescription(
    "works",
    descriptionOf({ propertyPartitions: [named], classesComplete: false, propertiesComplete: true }),
  );
  const planner = createPlanner({ catalog, egress: "catalog", publicUrl: "http://fedway.example", terms: index });
  const plan = (text: string) => planner.plan({ text, strict: false, defaultGraphs: [], namedGraphs: [] }).plan;
  return { models, plan };
};

const prefixes = `PREFIX foaf: <${foaf}> PREFIX ex: <${ex}> `;

describe("a query without an endpoint is offered those that fit", () => {
  const refusal = (text: string) => {
    const plan = known().plan(prefixes + text);
    return plan.kind === "rejected" ? plan.reason.details : undefined;
  };
  it("those with most of its terms, and says which", () => {
    const details = refusal("SELECT * { ?s foaf:name ?n ; ex:born ?b ; a foaf:Person ; ex:nothing ?x }");
    expect(details?.endpoints).toEqual(["people"]);
    expect(details?.next).toContain("SERVICE <people> { ... }");
    expect(details?.next).toContain("people has foaf:name, ex:born, foaf:Person.");
  });
  it("none that lacks them, whatever its text says", () => {
    expect(refusal("SELECT * { ?s ex:paintings ?o }")?.endpoints).toBeUndefined();
  });
  it("none of many where nothing fits", () => {
    const details = refusal("SELECT * { ?s ex:zzz ?o }");
    expect(details?.endpoints).toBeUndefined();
    expect(details?.next).toContain("/api/endpoints?property=");
  });
  it("anew when an endpoint has been described", () => {
    const { models, plan } = known();
    const text = `SELECT * { ?s <${ex}zzz> ?o }`;
    const offered = () => {
      const made = plan(text);
      return made.kind === "rejected" ? made.reason.details.endpoints : undefined;
    };
    expect(offered()).toBeUndefined();
    models.setDescription(
      "aa3",
      descriptionOf({ propertyPartitions: [propertyPartition(`${ex}zzz`, { triples: 1 })] }),
    );
    expect(offered()).toEqual(["aa3"]);
  });
});
