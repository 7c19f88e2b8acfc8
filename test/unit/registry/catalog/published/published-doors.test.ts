import { describe, expect, it } from "vitest";
import { createQueryContainer } from "../../../../../src/agent/container/container.ts";
import { createGrammars } from "../../../../../src/agent/grammar/create-grammars.ts";
import { dataBody } from "../../../../../src/http/pages/endpoint-data.ts";
import { createPlanner } from "../../../../../src/plan/create-planner.ts";
import { toPlanDescription } from "../../../../../src/query/explain.ts";
import { describedModels } from "../../../../support/described-models.ts";
import { readGbnf, sentencesOf } from "../../../../support/grammar-sampler.ts";
import { classPartition, descriptionOf } from "../../../../support/synthetic-catalog.ts";
import { toCatalog, toEntry } from "../../../plan/plan-cases.ts";
import { publishedFacts } from "../../../../support/catalog-entry.ts";

const ex = "http://shop.example/ns#";
const facts = publishedFacts({
  format: 1,
  url: toEntry("shop").url,
  asOf: "2026-02-03",
  sources: [],
  classes: { [ex]: { Basket: { uses: 4, instances: 70 }, Person: 2 } },
  properties: { [ex]: { holds: { uses: 3, triples: 900 }, paidBy: 1 } },
});
const said = "published, as of 2026-02-03";
const entries = [toEntry("shop"), toEntry("people"), toEntry("dark")];
const people = descriptionOf({ classPartitions: [classPartition(`${ex}Person`, 5)] });

function open() {
  const published = (id: string) => (id === "shop" ? facts : undefined);
  const { models, finder } = describedModels({ entries, descriptions: [["people", people]], published });
  const catalog = { ...toCatalog(entries), membersOf: () => [] };
  const planner = createPlanner({ catalog, egress: "catalog", publicUrl: "http://fedway.example" });
  const container = createQueryContainer({
    catalog,
    models,
    queries: { explain: (request) => toPlanDescription(planner.plan(request).plan) },
    ask: async () => [["1"]],
    now: () => 1,
  });
  return { models, finder, container, grammars: createGrammars({ catalog, models }) };
}

describe("what was published of an endpoint that has not been described is shown, with its date", () => {
  const found = async (q: string, more: object = {}) => {
    const { finder } = open();
    await finder.readPublished();
    const { hits } = finder.search({ q, published: true, limit: 9, offset: 0, ...more });
    return hits.map(({ iri = "", endpoints }) => {
      const holders = endpoints.map(({ id, count, published }) => `${id} ${count?.value ?? "?"} ${published ?? ""}`);
      return [iri.slice(ex.length)].concat(holders);
    });
  };
  it.each<[string, object, readonly (readonly string[])[]]>([
    ["basket", {}, [["Basket", `shop 70 ${said}`]]],
    ["basket", { published: false }, []],
    ["paidBy", { kinds: ["property"] }, [["paidBy", `shop ? ${said}`]]],
    ["Person", {}, [["Person", "people 5 ", `shop ? ${said}`]]],
    ["Person", { published: false }, [["Person", "people 5 "]]],
    ["holds", { endpoints: ["people"] }, []],
    ["holds", { endpoints: ["shop"] }, [["holds", `shop 900 ${said}`]]],
  ])("by search: %s %o", async (q, more, expected) => {
    expect(await found(q, { kinds: ["class", "property"], ...more })).toEqual(expected);
  });

  it("not once the endpoint has been described", async () => {
    const { finder, models } = open();
    await finder.readPublished();
    models.setDescription("shop", people);
    expect(finder.search({ q: "basket", published: true, limit: 9, offset: 0 }).total).toBe(0);
  });

  it("in a grammar, whose sentences name its terms only", async () => {
    const text = await open().grammars.ofEndpoint("shop", { dialect: "gbnf", maxBytes: 20_000 });
    expect(text).toContain(`shop, ${toEntry("shop").url} (not described; ${said}; there may be more)`);
    const sentences = [...sentencesOf(readGbnf(text), { start: "root", seed: 3, count: 60 })].join("\n");
    for (const name of ["Basket", "holds", "paidBy"]) expect(sentences).toContain(name);
  });

  it("in the query builder: its classes, and any property for each", async () => {
    const { container } = open();
    const call = { owner: "me", signal: new AbortController().signal };
    const opened = await container.open(["shop"], call);
    expect(opened.notes.join()).toContain(`shop has not been described: its terms were ${said}; there may be more.`);
    expect(JSON.stringify(opened.lists)).toContain("Basket");
    const stepped = await container.step(opened.handle, { step: "class", choice: 1 }, call);
    expect(JSON.stringify(stepped.lists)).toMatch(/holds.*paidBy/su);
  });

  it.each([
    ["shop", facts, "It is not all that there is"],
    ["shop", facts, said],
    ["shop", facts, '>Basket</a></th><td class="n">70</td><td class="n">4</td>'],
    ["dark", undefined, "has not been described yet.</p>\n<"],
  ])("on the page of %s", (id, published, text) => {
    const asker = { id, endpointApi: `/api/endpoints/${id}`, mayAsk: false };
    const shown = { id, description: undefined, freshness: { state: "none" }, parts: [], published } as const;
    expect(dataBody(shown, asker).html).toContain(text);
  });
});
