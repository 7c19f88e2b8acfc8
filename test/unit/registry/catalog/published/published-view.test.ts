import { describe, expect, it } from "vitest";
import { describeForAgent } from "../../../../../src/agent/tools/describe-endpoint.ts";
import { describedModels } from "../../../../support/described-models.ts";
import { toEntry } from "../../../plan/plan-cases.ts";
import { createCatalog, publishedFacts } from "../../../../support/catalog-entry.ts";

const source = { repo: "owner/queries", commit: "abc", path: "x", date: "2026-01-01", licence: "MIT" };
const locals = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`property${at}`, 300 - at]));
const published = [
  publishedFacts({
    format: 1,
    url: "http://proteins.example/sparql",
    asOf: "2026-02-03",
    pages: ["http://proteins.example/query.html"],
    classes: { "http://purl.uniprot.org/core/": { Protein: 35, Taxon: { by: ["models"] } } },
    properties: { "http://purl.uniprot.org/core/": locals },
    sources: [source],
  }),
];
const entries = [toEntry("proteins"), toEntry("unheard")];
const catalog = createCatalog(entries, [], { publicUrl: "http://fedway.example", published });
const { models, finder } = describedModels({ entries });
const descriptions = { get: async () => undefined, freshness: () => Promise.reject(new Error("not asked")) };
const view = (endpoint: string, maxTokens = 2_000) =>
  describeForAgent({ catalog, models, descriptions, finder }, { endpoint, detail: "schema", maxTokens });

describe("an endpoint that has not been described is shown by what others published", () => {
  it("with date and source, most used first", async () => {
    const { rows: [text = ""] = [], data } = await view("proteins");
    expect(text.split("\n").slice(0, 6)).toEqual([
      expect.stringContaining("was published, as of 2026-02-03, from owner/queries; it is not all that there is"),
      "PREFIX up: <http://purl.uniprot.org/core/>",
      "classes (with published queries that use them), 2 of 2:",
      "up:Protein (35)",
      "up:Taxon",
      expect.stringMatching(/^properties, \d+ of 300:$/),
    ]);
    expect(data).toMatchObject({ complete: false, freshness: "published" });
  });
  it("within the budget, saying what was left out", async () => {
    const { rows: [text = ""] = [], data } = await view("proteins", 200);
    expect(text.length / 4).toBeLessThan(200);
    expect(data).toMatchObject({ truncated: true, omitted: { classes: 0, properties: expect.any(Number) } });
  });
  it("by its query page too", async () => {
    expect((await view("http://proteins.example/query.html")).data["endpoint"]).toBe("proteins");
  });
  it("and not at all where nothing was published", async () => {
    await expect(view("unheard")).rejects.toMatchObject({ code: "DESCRIPTION_UNKNOWN" });
  });
});
