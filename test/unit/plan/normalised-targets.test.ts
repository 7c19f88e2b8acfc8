import { describe, expect, it } from "vitest";
import { createPlanner } from "../../../src/plan/create-planner.ts";
import { summary, toCatalog, toEntry } from "./plan-cases.ts";
import { createCatalog, publishedFacts } from "../../support/catalog-entry.ts";

const catalog = toCatalog([
  toEntry("uniprot", { url: "https://sparql.uniprot.org/sparql" }),
  toEntry("rhea", { url: "https://sparql.rhea-db.org/sparql/" }),
  toEntry("bgee", { url: "http://bgee.org/sparql" }),
  toEntry("nextprot", { url: "https://sparql.nextprot.org" }),
  toEntry("chosen", {
    url: "https://graphs.example/sparql?default-graph-uri=urn%3Ag",
    defaultGraphs: ["urn:g"],
  }),
  toEntry("twin-1", { url: "http://twin.example/sparql" }),
  toEntry("twin-2", { url: "https://twin.example/sparql/" }),
]);
const planner = createPlanner({ catalog, egress: "catalog", publicUrl: "http://fedway.example" });
const planOf = (text: string, place: { readonly endpointId?: string } = {}) =>
  planner.plan({ strict: false, defaultGraphs: [], namedGraphs: [], text, ...place }).plan;
const body = "{ ?protein a <http://purl.uniprot.org/core/Protein> }";

describe("a SERVICE target that is written otherwise than in the catalogue plans as the entry's URL does:", () => {
  it.each([
    ["https://sparql.uniprot.org/sparql/", "uniprot"],
    ["https://sparql.uniprot.org/sparql//", "uniprot"],
    ["http://sparql.uniprot.org/sparql", "uniprot"],
    ["http://SPARQL.uniprot.org:80/sparql/", "uniprot"],
    [" https://sparql.uniprot.org/sparql ", "uniprot"],
    ["https://sparql.uniprot.org/sparql\n", "uniprot"],
    ["https://sparql.uniprot.org/sparql/%20", "uniprot"],
    ["https://sparql.rhea-db.org/sparql", "rhea"],
    ["http://sparql.rhea-db.org/sparql/", "rhea"],
    ["https://bgee.org/sparql/", "bgee"],
    ["http://sparql.nextprot.org/", "nextprot"],
    ["https://graphs.example/sparql", "chosen"],
    ["http://graphs.example/sparql/", "chosen"],
  ])("<%s>", (written, id) => {
    const url = catalog.byId(id)?.url ?? "";
    const plan = planOf(`SELECT * { SERVICE <${written}> ${body} }`);
    expect(summary(plan)).toBe(`${summary(planOf(`SELECT * { SERVICE <${url}> ${body} }`))} [SERVICE_NORMALISED]`);
    expect(plan).toMatchObject({ notes: [{ message: expect.stringContaining(`mean ${id}, which is <${url}>`) }] });
    const asData = `SELECT * { VALUES ?e { <${written}> } SERVICE ?e ${body} }`;
    expect(planOf(asData)).toMatchObject({ kind: "direct", endpoint: { id }, notes: [{ code: "SERVICE_NORMALISED" }] });
  });

  it("in a federated query, once for each way of writing it, on every route", () => {
    const text = `SELECT * {
      SERVICE <https://sparql.uniprot.org/sparql/> ${body}
      SERVICE <https://sparql.rhea-db.org/sparql> { ?reaction ?by ?protein }
      OPTIONAL { SERVICE <https://sparql.uniprot.org/sparql/> { ?protein ?has ?name } }
    }`;
    const codes = ["SERVICE_NORMALISED", "SERVICE_NORMALISED"];
    const plan = planOf(text);
    expect(summary(plan)).toMatch(/^fed uniprot\*2\+rhea: /);
    expect(plan.kind === "federated" && plan.notes.map(({ code }) => code)).toEqual(codes);
    expect(summary(planOf(text, { endpointId: "rhea" }))).toMatch(/^fed uniprot\*2\+rhea: /);
  });
});

describe("other URLs of an endpoint that others published", () => {
  const published = publishedFacts({
    format: 1,
    url: "https://sparql.uniprot.org/sparql",
    asOf: "2026-02-03",
    aliases: ["http://beta.uniprot.org/sparql"],
    parts: ["https://sparql.uniprot.org/sparql/taxa"],
    pages: ["https://www.uniprot.org/sparql"],
    sources: [],
  });
  const known = createCatalog(catalog.entries, [], { publicUrl: "http://fedway.example", published: [published] });
  const planned = (written: string, egress: "catalog" | "public") => {
    const text = `SELECT * { SERVICE <${written}> ${body} }`;
    const request = { strict: false, defaultGraphs: [], namedGraphs: [], text };
    return createPlanner({ catalog: known, egress, publicUrl: "http://fedway.example" }).plan(request).plan;
  };

  it.each([
    ["http://beta.uniprot.org/sparql", "another or a former URL"],
    ["https://beta.uniprot.org/sparql/", "uniprot, which is"],
    ["https://sparql.uniprot.org/sparql/taxa", "a part of its data (published, as of 2026-02-03)"],
    ["https://www.uniprot.org/sparql", "its query page"],
  ])("<%s> leads to the entry", (written, said) => {
    const notes = [{ code: "SERVICE_NORMALISED", message: expect.stringContaining(said) }];
    expect(planned(written, "catalog")).toMatchObject({ kind: "direct", endpoint: { id: "uniprot" }, notes });
  });
  it("a part is asked itself where every endpoint may be", () => {
    const url = "https://sparql.uniprot.org/sparql/taxa";
    expect(planned(url, "public")).toMatchObject({ kind: "direct", endpoint: { url }, notes: [] });
    expect(planned("https://www.uniprot.org/sparql", "public")).toMatchObject({ endpoint: { id: "uniprot" } });
  });
});

describe("it is refused as before", () => {
  const refusal = (iri: string) => {
    const plan = planOf(`SELECT * {\n  SERVICE <${iri}> ${body} }`);
    return plan.kind === "rejected" ? plan.reason.details : plan;
  };

  it.each([
    ["where two entries may be meant", "https://twin.example/sparql", ["twin-1", "twin-2"]],
    ["with another path", "https://sparql.uniprot.org/query/", ["uniprot"]],
    ["with another case of the path", "https://sparql.uniprot.org/SPARQL", ["uniprot"]],
    ["with a query", "https://sparql.uniprot.org/sparql?format=json", ["uniprot"]],
    ["at another port", "https://sparql.uniprot.org:8443/sparql", undefined],
  ])("%s", (_, iri, endpoints) => {
    expect(refusal(iri)).toMatchObject({ where: { line: 2, column: 3 }, ...(endpoints && { endpoints }) });
  });

  it("errors behind white space that was taken out keep their place", () => {
    const text = "SELECT * { SERVICE <https://sparql.uniprot.org/sparql \n > { ?s ?p } }";
    expect(() => planOf(text)).toThrow(
      expect.objectContaining({ details: expect.objectContaining({ where: { line: 2, column: 12 } }) }),
    );
  });
});
