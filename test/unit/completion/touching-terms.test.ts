import { describe, expect, it } from "vitest";
import { createCompletion } from "../../../src/completion/complete.ts";
import { shapedFacts } from "../../support/catalog-entry.ts";
import { describedModels } from "../../support/described-models.ts";
import { classPartition, descriptionOf, propertyPartition } from "../../support/synthetic-catalog.ts";
import { toCatalog, toEntry } from "../plan/plan-cases.ts";

const ex = "http://shop.example/ns#";
const names = ["Basket", "holds", "Product", "price", "weight", "Person", "name", "is", "paidBy"];
const [basket, holds, product, price, weight, person, name, is, paidBy] = names.keys();
const facts = (typeBy?: string) =>
  shapedFacts({
    url: toEntry("shop").url,
    asOf: "2026-02-03",
    sources: [],
    typeBy,
    terms: names.map((each) => ex + each),
    shapes: [
      { of: person, star: [[name], [is]], uses: 90 },
      { of: basket, chain: [[holds, product], [price]], uses: 3 },
      { of: product, star: [[price], [weight]], uses: 2 },
      { star: [[paidBy, person], [holds]], uses: 1 },
    ],
    models: [{ of: product, star: [[name]] }],
  });

/** Local names of the first three options where `|` stands. */
async function first(text: string, { typeBy, isDescribed = false }: { typeBy?: string; isDescribed?: boolean } = {}) {
  const entries = [toEntry("shop")];
  const { models } = describedModels({ entries, published: () => facts(typeBy) });
  if (isDescribed) {
    const properties = [
      propertyPartition(`${ex}name`, { triples: 9 }),
      propertyPartition(`${ex}price`, { triples: 1 }),
    ];
    const classPartitions = [classPartition(`${ex}Product`, 5, properties)];
    models.setDescription("shop", descriptionOf({ classPartitions, propertyPartitions: properties }));
  }
  const complete = createCompletion({ catalog: { ...toCatalog(entries), membersOf: () => [] }, models });
  const query = `PREFIX s: <${ex}> ${text.replace("|", "")}`;
  const { options } = await complete({
    query,
    position: query.length - (text.length - text.indexOf("|") - 1),
    endpoint: "shop",
  });
  return options
    .filter(({ kind }) => kind === "property" || kind === "class")
    .slice(0, 3)
    .map(({ insert }) => insert);
}

describe("terms that stand together in published queries are offered first", () => {
  it.each([
    ["SELECT * { ?b s:holds ?p . ?p | }", ["s:price"]],
    ["SELECT * { ?p a s:Product ; | }", ["s:price", "s:weight", "s:name"]],
    ["SELECT * { ?p s:price ?n ; | }", ["s:weight"]],
    ["SELECT * { ?b s:holds ?p ; | }", ["s:paidBy"]],
    ["SELECT * { ?p s:name ?n ; s:| }", ["s:is"]],
    ["SELECT * { ?p s:weight ?w . ?p a | }", ["s:Product"]],
    ["SELECT * { ?b s:holds ?p . ?p a | }", ["s:Product"]],
    ["SELECT * { ?b s:holds ?x ; a | }", ["s:Basket"]],
  ])("%s", async (text, expected) => {
    expect((await first(text)).slice(0, expected.length)).toEqual(expected);
  });
  it("also classes behind the property that states them", async () => {
    expect(await first("SELECT * { ?p s:weight ?w ; s:is |", { typeBy: `${ex}is` })).toEqual([
      "s:Product",
      expect.anything(),
      expect.anything(),
    ]);
  });
  it("none is left out for it", async () => {
    const all = await first("SELECT * { ?p s:weight ?w . ?p s:| }");
    expect(all).toHaveLength(3);
  });
  it("not where a description says more", async () => {
    const text = "SELECT * { ?p a s:Product ; s:| }";
    expect(await first(text, { isDescribed: true })).toEqual(["s:name", "s:price"]);
  });
});
