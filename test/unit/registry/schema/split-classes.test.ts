import { expect, it } from "vitest";
import { classPartition, descriptionOf } from "../../../support/synthetic-catalog.ts";
import { toCatalog, toEntry } from "../../plan/plan-cases.ts";
import { EndpointModels } from "../../../../src/registry/model.ts";
import { partsOf, splitOver } from "../../../../src/registry/schema.ts";
import type { VoidDescription } from "../../../../src/registry/descriptions.ts";

const x = (name: string): string => `http://x.example/town#${name}`;
const owlClass = "http://www.w3.org/2002/07/owl#Class";

it("lists the classes of several members, with who said so", () => {
  const models = new EndpointModels();
  const describe = (id: string, classes: readonly string[], built?: VoidDescription["built"]): void =>
    models.setDescription(id, descriptionOf({ classPartitions: classes.map((iri) => classPartition(iri, 5)), built }));
  const siblings = [
    { endpoint: "a", properties: [] },
    { endpoint: "outside", properties: [] },
  ];
  describe("a", [x("Person"), owlClass]);
  describe("b", [x("Company"), x("City")], { properties: [], parts: [{ class: x("City"), parts: 3, siblings }] });
  describe("c", [x("Person"), x("City"), owlClass]);
  describe("outside", [x("Person"), x("Company")]);
  expect(splitOver([{ id: "a" }, { id: "b" }, { id: "c" }], { models })).toEqual([
    { class: x("City"), source: "builder", members: ["a", "b", "c"] },
    { class: x("Person"), source: "derived", members: ["a", "c"] },
  ]);
});

it("names the other parts in every federation of an endpoint, each once, and no classes about the data", () => {
  const models = new EndpointModels();
  const ids = ["a", "b", "c", "outside"];
  for (const id of ids) {
    models.setDescription(
      id,
      descriptionOf({ classPartitions: [x("Person"), owlClass].map((iri) => classPartition(iri, 5)) }),
    );
  }
  const federation = (id: string, members: readonly string[]) => ({ id, title: id, members, memberKeywords: [] });
  const federations = [
    federation("one", ["a", "b"]),
    federation("other", ["a", "b", "c"]),
    federation("third", ["b", "outside"]),
  ];
  const catalog = toCatalog(
    ids.map((id) => toEntry(id)),
    federations,
  );
  const parts = partsOf("a", undefined, { models, catalog });
  const named = parts.map((part) => [part.class, part.federation, part.siblings.map(({ endpoint }) => endpoint)]);
  expect(named).toEqual([
    [x("Person"), "one", ["b"]],
    [x("Person"), "other", ["c"]],
  ]);
});
