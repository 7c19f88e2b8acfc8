import { expect, it } from "vitest";
import { EndpointModels } from "../../../../src/registry/model/endpoint-models.ts";
import { splitOver } from "../../../../src/registry/schema/split-classes.ts";
import type { VoidDescription } from "../../../../src/registry/void/void-description.ts";
import { classPartition, descriptionOf } from "../../../support/synthetic-catalog.ts";

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
