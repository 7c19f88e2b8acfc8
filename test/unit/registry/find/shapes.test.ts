import { describe, expect, it } from "vitest";
import { findEndpoints } from "../../../../src/agent/tools/find-endpoints.ts";
import { findExamples } from "../../../../src/agent/tools/find-examples.ts";
import { dataBody } from "../../../../src/http/pages/endpoint-data.ts";
import { shapeExample, shapeText } from "../../../../src/registry/find.ts";
import { bracketedIri } from "../../../../src/rdf/display-text.ts";
import { parseQuery } from "../../../../src/sparql/query.ts";
import { shapedFacts } from "../../../support/catalog-entry.ts";
import { describedModels } from "../../../support/described-models.ts";
import { classPartition, descriptionOf, propertyPartition } from "../../../support/synthetic-catalog.ts";
import { toCatalog, toEntry } from "../../plan/plan-cases.ts";

const ex = "http://shop.example/ns#";
const terms = ["Basket", "holds", "Product", "price", "paidBy", "Person", "name", "P36", "Q5", "label"].map(
  (name) => ex + name,
);
const [basket, holds, product, price, paidBy, person, name, code, item, label] = terms.keys();
const shapesOf = (fields: object) =>
  shapedFacts({ url: toEntry("shop").url, asOf: "2026-02-03", sources: [], terms, ...fields });
const facts = shapesOf({
  shapes: [
    { of: basket, chain: [[holds, product], [price]], uses: 12 },
    { of: person, star: [[name], [paidBy, basket, "^"]], uses: 1 },
  ],
  models: [{ of: product, star: [[label]] }],
});

/** The query of one shape, its prefix left out. */
function queryOf(shape: object): string {
  const [only] = shapesOf({ shapes: [{ uses: 1, ...shape }], typeBy: undefined, ...shape }).shapes;
  const query = only && shapeExample(only)?.query;
  expect(parseQuery(query ?? "").form).toBe("SELECT");
  return (query ?? "").replace(`PREFIX shop: <${ex}>\n`, "");
}

describe("a query that is written from a shape", () => {
  it.each<[string, object, string]>([
    [
      "a chain",
      { of: basket, chain: [[holds, product], [price]] },
      "  ?basket a shop:Basket ;\n    shop:holds ?product .\n  ?product a shop:Product ;\n    shop:price ?price .",
    ],
    [
      "a star with an inverse property",
      { of: person, star: [[name], [paidBy, basket, "^"]] },
      "  ?person a shop:Person ;\n    shop:name ?name .\n  ?basket a shop:Basket ;\n    shop:paidBy ?person .",
    ],
    [
      "paths",
      {
        chain: [
          [holds, null, "^+"],
          [price, null, "?"],
        ],
      },
      "  ?holds shop:holds+ ?thing ;\n    shop:price? ?price .",
    ],
    ["a value, and codes", { star: [[code, item, "="], [code]] }, "  ?thing shop:P36 shop:Q5 ;\n    shop:P36 ?p36 ."],
    ["the same name twice", { chain: [[name], [name]] }, "  ?thing shop:name ?name .\n  ?name shop:name ?name2 ."],
    [
      "any graph",
      { star: [[name], [price]], graph: "?" },
      "  GRAPH ?graph {\n    ?thing shop:name ?name ;\n      shop:price ?price .\n  }",
    ],
    [
      "a graph",
      { star: [[name], [price]], graph: [item] },
      `  GRAPH <${ex}Q5> {\n    ?thing shop:name ?name ;\n      shop:price ?price .\n  }`,
    ],
  ])("has %s", (_, shape, patterns) => {
    expect(queryOf(shape)).toBe(`SELECT * WHERE {\n${patterns}\n}\nLIMIT 20`);
  });

  it("states classes as the endpoint does", () => {
    const [shape] = shapesOf({ shapes: [{ of: item, star: [[name]], uses: 1 }], typeBy: `${ex}P31` }).shapes;
    expect(shape && shapeText(shape, bracketedIri)).toBe(`?q5 <${ex}P31> <${ex}Q5> ; <${ex}name> ?name`);
  });

  it.each(["http://x/a> ?o } ; DROP ALL #", "name", "http://x/a b", "http://x/\u202Ea"])("is none with %j", (iri) => {
    const [shape] = shapedFacts({
      url: "http://x/",
      asOf: "2026-01-01",
      sources: [],
      terms: [iri],
      shapes: [{ star: [[0]], uses: 1 }],
    }).shapes;
    expect([shape && shapeExample(shape), shape && shapeText(shape, bracketedIri)]).toEqual([undefined, undefined]);
  });
});

describe("shapes for a question", () => {
  const open = (ofShop = facts) => {
    const entries = [toEntry("shop"), toEntry("dark")];
    const opened = describedModels({ entries, published: (id) => (id === "shop" ? ofShop : undefined) });
    const catalog = { ...toCatalog(entries), membersOf: () => [] };
    return { ...opened, tool: findExamples({ catalog, finder: opened.finder }) };
  };
  const wordsFor = async ({ finder }: ReturnType<typeof open>, question: string, more: object = {}) => {
    await finder.settled();
    const found = await finder.findShapes({ question, limit: 5, ...more });
    return found.map(({ id, shape }) => `${id} ${shape.uses} ${shapeExample(shape)?.words}`);
  };

  it("are those whose terms it names first, those of queries before those of models", async () => {
    expect(await wordsFor(open(), "What is the price of the products in each basket?")).toEqual([
      "shop 12 basket: holds product, its price",
    ]);
    expect(await wordsFor(open(), "names of persons")).toEqual(["shop 1 person: name, paid by basket"]);
    expect(await wordsFor(open(), "price", { endpoints: ["dark"] })).toEqual([]);
  });

  it("are shown once where a model and queries have the same", async () => {
    const shape = { of: person, star: [[name]] };
    const same = shapesOf({ shapes: [{ ...shape, uses: 3 }], models: [shape, { of: basket, star: [[holds]] }] });
    expect(await wordsFor(open(same), "the name of a person, what a basket holds")).toEqual([
      "shop 3 person: name",
      "shop 0 basket: holds",
    ]);
  });

  it("of an endpoint that has been described are those that it has all terms of", async () => {
    const opened = open();
    const known = ["label", "name"].map((each) => propertyPartition(ex + each, { triples: 5 }));
    const classPartitions = [classPartition(`${ex}Product`, 5, known)];
    opened.models.setDescription("shop", descriptionOf({ classPartitions, propertyPartitions: known }));
    const question = "What are label and price of the products, and the name of the person who paid for the basket?";
    expect(await wordsFor(opened, question)).toEqual(["shop 0 product: label"]);
  });

  it("become examples that say in how many published queries they were seen", async () => {
    const { tool, finder } = open();
    await finder.settled();
    const call = { owner: "me", signal: new AbortController().signal, hint: (text: string) => text };
    const { text, data } = await tool.call({ question: "Which baskets hold products, at what price?" }, call);
    expect(text).toContain(
      '1. "basket: holds product, its price"\nseen in 12 published queries (published, as of 2026-02-03, endpoints: shop)',
    );
    expect(data["examples"]).toMatchObject([{ seen: "seen in 12 published queries", endpoints: ["shop"] }]);
    const models = await tool.call({ question: "products with a label", endpoints: "shop" }, call);
    expect(models.text).toContain("from a published model");
  });

  it("stand below the first hit where that has not been described", async () => {
    const { finder, models } = open();
    await finder.settled();
    const tool = findEndpoints({ finder, due: { describedFirst: async () => [] } });
    const call = { owner: "me", signal: new AbortController().signal, hint: (text: string) => text };
    const { text, data } = await tool.call({ question: "Which baskets hold products, at what price?" }, call);
    const short = "?basket a shop:Basket ; shop:holds ?product . ?product a shop:Product ; shop:price ?price";
    expect(text).toContain(`PREFIX shop: <${ex}>\n`);
    expect(text).toContain(`  in 12 published queries: ${short}\n`);
    const pattern = `?basket a <${ex}Basket> ; <${ex}holds> ?product . ?product a <${ex}Product> ; <${ex}price> ?price`;
    expect(data["endpoints"]).toMatchObject([{ id: "shop", shapes: [`in 12 published queries: ${pattern}`] }]);
    models.setDescription("shop", descriptionOf({ classPartitions: [classPartition(`${ex}Basket`, 5, [])] }));
    await finder.settled();
    const described = await tool.call({ question: "Which baskets hold products, at what price?" }, call);
    expect(described.text).toContain("shop (endpoint");
    expect(described.text).not.toContain("published quer");
  });

  it("are links to the console on the page of the endpoint", () => {
    const asker = { id: "shop", endpointApi: "/api/endpoints/shop", mayAsk: false };
    const shown = { description: undefined, freshness: { state: "none" }, parts: [], published: facts } as const;
    const { html } = dataBody(shown, asker);
    const links = [...html.matchAll(/href="\/query#([^"]*)">([^<]*)<\/a>, ([^<]*)</g)];
    expect(links.map(([, , title, seen]) => `${title}; ${seen}`)).toEqual([
      "basket: holds product, its price; seen in 12 published queries",
      "person: name, paid by basket; seen in 1 published query",
      "product: label; from a published model",
    ]);
    for (const [, fragment = ""] of links) {
      const link = new URLSearchParams(fragment.replaceAll("&amp;", "&"));
      expect(link.get("endpoint")).toBe("shop");
      expect(parseQuery(link.get("query") ?? "").form).toBe("SELECT");
    }
  });
});
