import { afterEach, expect, it } from "vitest";
import { documentQuads } from "../../../src/dataset/endpoint-graphs.ts";
import { vocabularyQuads } from "../../../src/dataset/vocabulary.ts";
import { dcterms, fedway, rdfs } from "../../../src/rdf/vocabularies.ts";
import { createShapeCheck } from "../../../src/registry/catalog/check-catalog.ts";
import { openAskedRegistry } from "../../support/asked-registry.ts";
import { fakeSettings } from "../../support/fake-query-service.ts";
import { shapesFile } from "../../support/catalog-folder.ts";
import { probedConstructs } from "../../../src/registry/capabilities.ts";

type Registry = Awaited<ReturnType<typeof openAskedRegistry>>;

const open: Registry[] = [];
afterEach(async () => {
  for (const registry of open.splice(0)) await registry.close();
});

async function start(settings: Parameters<typeof openAskedRegistry>[0] = {}): Promise<Registry> {
  const registry = await openAskedRegistry(settings);
  open.push(registry);
  return registry;
}

/** The first column. */
async function ask({ deps }: Registry, query: string, graphs: { readonly defaultGraphs?: readonly string[] } = {}) {
  const answer = await deps.dataset?.endpoint.query({
    ...graphs,
    query: `PREFIX dcterms: <http://purl.org/dc/terms/> PREFIX fedway: <https://w3id.org/fedway/ns#>
      PREFIX void: <http://rdfs.org/ns/void#> PREFIX dcat: <http://www.w3.org/ns/dcat#> ${query}`,
    kind: "bindings",
    accept: "text/csv",
    signal: new AbortController().signal,
    timeoutMs: 60_000,
  });
  return answer?.body.toString().trim().split(/\r?\n/u).slice(1).toSorted() ?? [];
}

const names = async (registry: Registry): Promise<readonly string[]> => {
  const updates: string[] = [];
  for await (const { graph } of registry.source.updates(false)) updates.push(graph);
  return updates.toSorted();
};
const base = fakeSettings.publicUrl;

it("writes only the graphs whose content is another one", async () => {
  const registry = await start();
  await ask(registry, "SELECT * {}");
  expect(await names(registry)).toEqual([]);
  registry.clock.nowMs += 59_000;
  expect(await names(registry)).toEqual([]);
  registry.clock.nowMs += 2_000;
  // Nothing was probed and nothing happened meanwhile.
  expect(await names(registry)).toEqual([`${base}/registry`]);
  const { alpha } = Object.fromEntries(registry.descriptions);
  if (alpha === undefined) throw new Error("alpha is described");
  const renewed = { ...alpha, title: "Alpha, again" };
  registry.descriptions.set("alpha", renewed);
  registry.models.setDescription("alpha", renewed);
  expect(await names(registry)).toEqual([`${base}/api/endpoints/alpha/void`, `${base}/registry`]);
});

it("takes measurements back that are older than their windows, also where nothing is probed any more", async () => {
  const registry = await start();
  const measured = "SELECT ?m { ?m a <http://www.w3.org/ns/dqv#QualityMeasurement> ; fedway:probes ?n }";
  expect((await ask(registry, measured)).length).toBeGreaterThan(20);
  registry.monitor.availability = async (id) => {
    const health = registry.monitor.health(id);
    return health && { health, windows: [], days: [] };
  };
  registry.clock.nowMs += 3_600_000;
  expect(await ask(registry, measured)).toEqual([]);
});

it("forgets an endpoint that leaves the catalogue with all of its graphs, and takes in one that is added", async () => {
  const registry = await start();
  const graphs = "SELECT ?g { GRAPH ?g { ?s ?p ?o } FILTER(CONTAINS(STR(?g), '/beta')) } GROUP BY ?g";
  expect(await ask(registry, graphs)).toHaveLength(4);
  await registry.catalog.remove("endpoint", "beta");
  await new Promise(setImmediate);
  expect(await ask(registry, graphs)).toEqual([]);
  expect(
    await ask(registry, 'SELECT ?id { ?f dcterms:identifier "f-mixed" ; dcterms:hasPart/dcterms:identifier ?id }'),
  ).toEqual(["alpha", "gamma"]);
  expect(
    await ask(registry, "SELECT ?m { ?m <http://www.w3.org/ns/dqv#computedOn> <" + base + "/endpoints/beta> }"),
  ).toEqual([]);
});

it("fills a store anew whose thread was lost", async () => {
  const registry = await start();
  const count = "SELECT (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } }";
  const before = await ask(registry, count);
  const heavy = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l }";
  const lost = registry.deps.dataset?.endpoint.query({
    query: heavy,
    kind: "bindings",
    accept: "text/csv",
    signal: new AbortController().signal,
    timeoutMs: 50,
  });
  await expect(lost).rejects.toMatchObject({ code: "ENDPOINT_TIMEOUT" });
  expect(await ask(registry, count)).toEqual(before);
});

it("cuts a large description to its aggregates, says so and where the whole is", async () => {
  const registry = await start({ moreClasses: 1_500 });
  const rows = "SELECT ?what { ?d dcterms:identifier 'alpha' ; fedway:leftOut ?what }";
  const [what = ""] = await ask(registry, rows);
  expect(what).toMatch(/properties of classes, .*not among the 454 largest classes/u);
  expect(
    await ask(
      registry,
      "SELECT ?whole { ?d fedway:leftOut ?w ; <http://www.w3.org/2000/01/rdf-schema#seeAlso> ?whole ; dcterms:identifier 'alpha' }",
    ),
  ).toEqual([`${base}/api/endpoints/alpha/void?variant=extended`]);
  expect(
    await ask(registry, "SELECT (COUNT(?c) AS ?n) { ?d dcterms:identifier 'alpha' ; void:classPartition ?c }"),
  ).toEqual(["454"]);
  expect(await ask(registry, "SELECT ?x { ?d dcterms:identifier 'alpha' ; fedway:classesComplete ?x }")).toEqual([
    "false",
  ]);
});

it("leaves graphs out that find no room, descriptions first, and says how many", async () => {
  const registry = await start({ mostTriples: 900, moreClasses: 100 });
  const [triples = ""] = await ask(registry, "SELECT (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } }");
  expect(Number(triples)).toBeLessThan(920);
  expect(await ask(registry, "SELECT ?id { ?s a dcat:DataService ; dcterms:identifier ?id }")).toHaveLength(7);
  expect((await ask(registry, "SELECT ?what { ?x fedway:leftOut ?what }")).length).toBeGreaterThan(0);
});

it("answers of one named graph where the protocol names it, and of none that it does not have", async () => {
  const registry = await start();
  const query = "SELECT DISTINCT ?p { ?s ?p ?o }";
  const one = await ask(registry, query, { defaultGraphs: [`${base}/api/endpoints/delta/published`] });
  expect(one).toContain("http://rdfs.org/ns/void#classPartition");
  expect(one).not.toContain("http://www.w3.org/ns/dcat#endpointURL");
  expect(await ask(registry, query, { defaultGraphs: [`${base}/runs`] })).toEqual([]);
});

it("has documents that pass the shapes of the catalogue, under the IRIs of their pages", async () => {
  const { catalog } = await start();
  const check = createShapeCheck(shapesFile);
  for (const document of catalog.documents()) {
    const quads = documentQuads(document, { publicUrl: base });
    expect(quads.map(({ subject }) => subject.value)).toContain(`${base}/${document.kind}s/${document.id}`);
    expect((await check(quads)).filter(({ severity }) => severity === "violation")).toEqual([]);
  }
});

it("explains each of Fedway's own terms with a label and a sentence", () => {
  const { namespace, ...terms } = fedway;
  const own = [...Object.values(terms), ...probedConstructs.map((name) => namespace + name)];
  for (const predicate of [rdfs.label, rdfs.comment]) {
    const explained = new Set(
      vocabularyQuads().flatMap((quad) => (quad.predicate.value === predicate ? quad.subject.value : [])),
    );
    expect(own.filter((term) => !explained.has(term))).toEqual([]);
  }
  expect(vocabularyQuads().some(({ predicate }) => predicate.value === dcterms.title)).toBe(true);
});
