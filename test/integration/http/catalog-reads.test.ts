import { rm } from "node:fs/promises";
import type * as RDF from "@rdfjs/types";
import { Parser } from "n3";
import { describe, expect, it } from "vitest";
import { canonicalNTriples } from "../../../src/rdf/canonical.ts";
import { openCatalog } from "../../../src/registry/catalog/open-catalog.ts";
import { openSqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";
import { createCatalogFolder, endpointTurtle } from "../../support/catalog-folder.ts";
import { sampleDescription } from "../../support/sample-description.ts";
import { start, type Started } from "./http-fixture.ts";

async function get(app: Pick<Started, "url">, path: string, headers: Record<string, string> = {}) {
  const response = await fetch(app.url + path, { headers });
  const text = await response.text();
  const type = response.headers.get("content-type") ?? "";
  return { status: response.status, type, text, headers: response.headers };
}

const shouldList = (query: string, found: object): void =>
  it(`GET /api/endpoints?${query}`, async () => {
    const { text } = await get(await start(), `/api/endpoints?${query}`);
    expect(JSON.parse(text)).toMatchObject(found);
  });

describe("the list of endpoints", () => {
  shouldList("q=greek", {
    total: 1,
    undecided: 0,
    endpoints: [{ id: "alpha", origin: "file", status: "unknown", why: [{ field: "text", matched: "greek" }] }],
  });
  shouldList("keyword=TEST", { total: 1, endpoints: [{ id: "beta", why: [{ field: "keyword", matched: "test" }] }] });
  shouldList("interface=tpf", { total: 0, endpoints: [] });
  shouldList("status=unknown&limit=1", { total: 3, next: "1", endpoints: [{ id: "alpha" }] });
  shouldList("class=http://xmlns.com/foaf/0.1/Person", { total: 0, undecided: 3, endpoints: [] });
  shouldList("status=fine", { status: 400, code: "REQUEST_INVALID" });

  it("knows the classes of descriptions, and makes a sentence of one where the operator gave none", async () => {
    const app = await start({
      descriptions: {
        get: async (id) => (id === "beta" ? sampleDescription : undefined),
        begun: async () => undefined,
        freshness: async () => ({ state: "fresh" }),
        request: async () => Promise.reject(new Error("not here")),
      },
    });
    app.models.setDescription("beta", sampleDescription);
    const iri = "http://xmlns.com/foaf/0.1/Person";
    const found: unknown = JSON.parse((await get(app, `/api/endpoints?class=${iri}`)).text);
    const sentence = {
      id: "beta",
      description: expect.stringMatching(/^Who knows whom: 10 people.*\.$/),
      descriptionGenerated: true,
    };
    expect(found).toMatchObject({ total: 1, class: iri, endpoints: [{ ...sentence, why: [{ field: "class" }] }] });
    expect(JSON.parse((await get(app, "/api/endpoints/beta")).text)).toMatchObject(sentence);
    expect(JSON.parse((await get(app, "/api/endpoints/alpha")).text)).not.toHaveProperty("descriptionGenerated");
  });
});

const json = "application/json; charset=utf-8";
const shouldGive = (accept: string, type: string): void =>
  it(`gives ${type} for ${accept}`, async () => {
    const found = await get(await start(), "/api/endpoints/alpha", { Accept: accept });
    expect({ status: found.status, type: found.type }).toStrictEqual({ status: 200, type });
    expect(found.headers.get("etag")).toMatch(/^"[\w-]{22}"$/);
    expect(found.headers.get("vary")).toBe("Accept");
  });

const turtle = "text/turtle; charset=utf-8";

describe("one endpoint", () => {
  shouldGive("*/*", json);
  shouldGive("text/html, application/xhtml+xml, */*;q=0.8", json);
  shouldGive("text/turtle", turtle);
  shouldGive("application/json;q=0.5, text/turtle", turtle);
  shouldGive("text/turtle;q=0, application/json", json);
  shouldGive("application/n-triples", "application/n-triples");
  shouldGive("application/ld+json", "application/ld+json");

  it("gives no format that it has not", async () => {
    const app = await start();
    const byHeader = await get(app, "/api/endpoints/alpha", { Accept: "text/html" });
    const byName = await get(app, "/api/endpoints/alpha?format=pdf");
    expect([byHeader, byName].map(({ status }) => status)).toStrictEqual([406, 406]);
  });

  it("has the same triples in every format, and its language tags", async () => {
    const app = await start();
    const graph = async (format: string): Promise<readonly string[]> => {
      const { text } = await get(app, `/api/endpoints/alpha?format=${format}`);
      const quads: RDF.Quad[] = new Parser().parse(text);
      return canonicalNTriples(quads);
    };
    const triples = await graph("turtle");
    expect(triples).toStrictEqual(await graph("ntriples"));
    expect(triples.join("\n")).toContain('"Das Alpha"@de');
    expect(triples).toHaveLength(9);
  });

  it("names itself where the reader would not know the base", async () => {
    const app = await start();
    const body = JSON.stringify({ id: "own", title: "Own", url: "http://127.0.0.1:0/hosted/own/sparql" });
    await fetch(`${app.url}/api/endpoints`, { method: "POST", headers: { "Content-Type": "application/json" }, body });
    const { text } = await get(app, "/api/endpoints/own?format=turtle");
    const url = new Parser({ baseIRI: "http://elsewhere.example/x" })
      .parse(text)
      .find(({ predicate }) => predicate.value === "http://www.w3.org/ns/dcat#endpointURL");
    expect(url?.object.value).toBe("http://127.0.0.1:0/hosted/own/sparql");
  });
});

describe("problems of the catalogue", () => {
  it("are shown with file and line, without the folder", async () => {
    const folder = await createCatalogFolder();
    await folder.write({ "broken.ttl": "<a> <b>", "good.ttl": endpointTurtle("good", "https://good.example/") });
    const store = openSqliteStore({ path: ":memory:" });
    const catalog = await openCatalog({ dirs: [folder], baseUrl: "http://x.example", store, now: () => 0 });
    await rm(folder.path, { recursive: true });
    await catalog.remove("endpoint", "good");
    const { text } = await get(await start({ catalog }), "/api/catalog/problems");
    expect(JSON.parse(text)).toStrictEqual({
      problems: [{ file: "broken.ttl", line: 1, reason: expect.stringContaining("not valid Turtle") }],
      drift: [{ id: "good", kind: "endpoint", how: "file-hidden-by-deletion", file: "good.ttl" }],
    });
  });
});

describe("the whole catalogue", () => {
  it("is one graph with every document", async () => {
    const { type, text } = await get(await start(), "/api/catalog");
    expect(type).toBe(turtle);
    const triples = new Parser().parse(text);
    const ids = triples.filter(({ predicate }) => predicate.value === "http://purl.org/dc/terms/identifier");
    expect(ids.map(({ object }) => object.value)).toStrictEqual(["alpha", "beta", "evil"]);
    expect(triples).toHaveLength(18);
  });

  it("can be JSON-LD", async () => {
    const { type, text } = await get(await start(), "/api/catalog", { Accept: "application/ld+json" });
    expect(type).toBe("application/ld+json");
    expect(text).toContain("http://beta.example/sparql");
    expect(() => JSON.parse(text)).not.toThrow();
  });
});
