import { describe, expect, it } from "vitest";
import { describeForAgent } from "../../../../src/agent/tools/describe-endpoint.ts";
import { federationModel, splitTerms } from "../../../../src/registry/model/federation-model.ts";
import { describedModels } from "../../../support/described-models.ts";
import { classPartition, descriptionOf, propertyPartition } from "../../../support/synthetic-catalog.ts";
import { toCatalog, toEntry } from "../../plan/plan-cases.ts";
import { joinsOf } from "../../../../src/registry/model.ts";
import { Finder } from "../../../../src/registry/find.ts";
import type { VoidDescription } from "../../../../src/registry/descriptions.ts";

const ex = "http://shop.example/ns#";
const orders = descriptionOf({
  classPartitions: [
    classPartition(`${ex}Order`, 9, [propertyPartition(`${ex}customer`, { triples: 9, range: `${ex}Person` })]),
  ],
  linksets: [
    {
      property: `${ex}product`,
      objectClass: `${ex}Product`,
      targetEndpoint: "goods",
      triples: { value: 12, status: "exact", record: 0 },
      status: "exact",
      record: 0,
    },
  ],
});
const people = (namespace: string, count?: number) =>
  descriptionOf({ classPartitions: [classPartition(`${ex}Person`, count)], namespaces: [namespace] });

const descriptions: Readonly<Record<string, VoidDescription>> = {
  orders,
  goods: descriptionOf({ classPartitions: [classPartition(`${ex}Product`, 4)] }),
  people: people("http://people.example/id/", 5),
  more: people("http://people.example/id/"),
  secure: people("https://people.example/id/", 2),
  shard: descriptionOf({
    propertyPartitions: [propertyPartition(`${ex}made`, { triples: 3 })],
    built: {
      properties: [{ property: `${ex}made`, subjectClasses: [], objectClasses: [`${ex}Product`] }],
      parts: [],
    },
  }),
  strangers: people("http://elsewhere.example/", 3),
};
const { models } = describedModels({ descriptions: Object.entries(descriptions) });

const shouldJoin = (id: string, expected: readonly string[]): void =>
  it(`${id}: ${expected.length}`, () => {
    const said = joinsOf(models, id).map((join) => {
      if (join.how === "subjects")
        return `subjects ${join.with} ${join.namespace === join.there ? "same" : join.there}`;
      return `${join.how} ${join.back ? "from" : "to"} ${join.with} ${join.property.slice(ex.length)} ${join.triples?.value ?? "?"}`;
    });
    expect(said.toSorted()).toEqual(expected.toSorted());
  });

describe("joins", () => {
  shouldJoin("orders", [
    "linkset to goods product 12",
    "link to people customer ?",
    "link to more customer ?",
    "link to secure customer ?",
    "link to strangers customer ?",
  ]);
  shouldJoin("goods", ["linkset from orders product 12", "link from shard made ?"]);
  shouldJoin("shard", ["link to goods made ?"]);
  shouldJoin("people", [
    "link from orders customer ?",
    "subjects more same",
    "subjects secure https://people.example/id/",
  ]);
  shouldJoin("strangers", ["link from orders customer ?"]);
  shouldJoin("unknown", []);
});

describe("a federation", () => {
  it("has a model of its members as of one endpoint, and lists who has what", () => {
    const federation = { id: "shop", title: "Shop", members: [], memberKeywords: [] };
    const merged = federationModel(models, federation, ["orders", "people", "more", "dark"]);
    expect(merged).toMatchObject({ known: ["orders", "people", "more"], members: expect.arrayContaining(["dark"]) });
    const [first] = splitTerms(models, ["orders", "people", "more", "dark"], "class");
    expect(first).toEqual({
      iri: `${ex}Person`,
      source: "derived",
      at: [{ id: "people", count: { value: 5, status: "exact" } }, { id: "more" }],
    });
    const person = merged?.description.classPartitions.find((each) => each.class === `${ex}Person`);
    expect(person).toMatchObject({ entities: { value: 5, status: "lowerBound" } });
    expect(federationModel(models, federation, ["dark"])).toBeUndefined();
  });
});

describe("describe_endpoint", () => {
  const ids = [...Object.keys(descriptions), "dark"];
  const catalog = toCatalog(
    ids.map((id) => toEntry(id)),
    [{ id: "shop", title: "Shop", members: ["orders", "people", "more", "dark"], memberKeywords: [] }],
  );
  const shown = async (endpoint: string, maxTokens = 2_000): Promise<string> => {
    const parts = {
      catalog,
      models,
      finder: new Finder({ models, catalog }),
      descriptions: {
        get: async (id: string) => descriptions[id],
        freshness: async () => ({ state: "fresh" as const }),
      },
    };
    return (await describeForAgent(parts, { endpoint, detail: "schema", maxTokens })).rows?.join("\n") ?? "";
  };

  it.each([
    ["orders", "joins with: goods on shop:product (shop:Product), 12 links"],
    ["orders", "may join with: people on shop:customer (shop:Person)"],
    ["goods", "joins with: orders on its <http://shop.example/ns#product>"],
    [
      "people",
      "may join with: more on things of <http://shop.example/ns#Person>: both have IRIs in <http://people.example/id/>",
    ],
    [
      "people",
      'IRIs are unlike, bind IRI(CONCAT("https://people.example/id/", STRAFTER(STR(?here), "http://people.example/id/")))',
    ],
    ["people", "are also at more, by the descriptions of federation shop"],
    ["shop", "federation of 4 endpoints, 3 described; query it as one endpoint, without SERVICE"],
    ["shop", "shop:Person (>=5)"],
    ["shop", "shop:customer -> shop:Person"],
    ["shop", "shop:product -> shop:Product"],
    ["shop", "PREFIX shop: <http://shop.example/ns#>"],
  ])("of %s says %s", async (endpoint, line) => {
    expect(await shown(endpoint)).toContain(line);
  });

  it("keeps to its budget, and says what it leaves out", async () => {
    expect(await shown("shop", 100)).toMatch(
      /\d+ of \d+ classes and properties left out; raise max_tokens, or name classes$/u,
    );
  });
});
