import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Engine } from "../support/engines/engine.ts";
import { startFuseki } from "../support/engines/fuseki.ts";
import { startVirtuoso } from "../support/engines/virtuoso.ts";
import { prefixes, virtuosoGraph } from "./data.ts";
import { type Fedway, startFedway } from "../support/fedway.ts";

const XSD = "http://www.w3.org/2001/XMLSchema#";
const data = [
  ["a", "n", `"1"^^<${XSD}integer>`],
  ["b", "n", `"01"^^<${XSD}integer>`],
  ["c", "n", `"1"^^<${XSD}int>`],
  ["d", "n", `"2"^^<${XSD}integer>`],
  ["a", "w", `"1.50"^^<${XSD}double>`],
  ["b", "w", `"1.5"^^<${XSD}double>`],
  ["a", "k", `"k"`],
  ["d", "k", `"k"`],
  ["e", "k", `"k"`],
]
  .map(([s, p, o]) => `<http://example.org/${s}> <http://example.org/${p}> ${o} .\n`)
  .join("");
/** The other side of the joins, at an endpoint that keeps spellings. */
const spellings = [
  `"01"^^<${XSD}integer>`,
  `"1"^^<${XSD}int>`,
  ...["1", "2", "3"].map((n) => `"${n}"^^<${XSD}integer>`),
]
  .map((term, i) => `<http://example.org/left/${i}> <http://example.org/spelled> ${term} .\n`)
  .join("");
const weights = [`"1.50"^^<${XSD}double>`, `"1.5e0"^^<${XSD}double>`, `"1.5"^^<${XSD}double>`, `"1.5"^^<${XSD}decimal>`]
  .map((term, i) => `<http://example.org/left/${i}> <http://example.org/weighs> ${term} .\n`)
  .join("");
const addresses = Array.from(
  { length: 40 },
  (_, i) => `<http://example.org/${i}> <http://example.org/address> _:b${i % 3} .\n`,
).join("");

const engines = ["terms", "tdb2", "values", "virtuoso"] as const;
type Name = (typeof engines)[number];
let started: ReadonlyMap<Name, Engine>;
let left: Engine;
let fedway: Fedway;

beforeAll(async () => {
  const all = data + addresses;
  const start = (name: Name): Promise<Engine> =>
    name === "virtuoso" ? startVirtuoso({ graphs: { [virtuosoGraph]: all } }) : startFuseki({ data: all, store: name });
  started = new Map(await Promise.all(engines.map(async (name) => [name, await start(name)] as const)));
  left = await startFuseki({ data: spellings + weights + addresses });
  const urls = [...started].map(([name, { url }]) => [name, url] as const);
  fedway = await startFedway(Object.fromEntries([...urls, ["left", left.url]]));
});

afterAll(async () => {
  await fedway?.close();
  await Promise.all([left?.stop(), ...[...(started?.values() ?? [])].map((engine) => engine.stop())]);
});

const serviceOf = (name: Name, body: string): string => `SERVICE <${started.get(name)?.url}> { ${body} }`;

async function rows(query: string): Promise<string[]> {
  const response = await fedway.sparql("/sparql", {
    query: (prefixes + query).replaceAll("<left>", `<${left.url}>`),
    accept: "application/sparql-results+json",
  });
  if (response.status !== 200) throw new Error(await response.text());
  const { results } = (await response.json()) as { results: { bindings: readonly object[] } };
  return results.bindings.map((binding) => JSON.stringify(binding)).toSorted();
}

/** Asked by key, an endpoint gives what it gives when it is taken in whole, as a subselect is. */
const shouldEqualWhole = (query: (clause: string) => string, body: string, among: readonly Name[] = engines): void => {
  it.each(among)(`${query(body)} at %s`, async (name) => {
    const whole = await rows(query(`{ SELECT * { ${serviceOf(name, body)} } }`));
    expect(await rows(query(serviceOf(name, body)))).toEqual(whole);
    expect(whole.length).toBeGreaterThan(0);
  });
};

describe("keys in several spellings", () => {
  const spelled = "SERVICE <left> { ?left ex:spelled ?v }";
  const exact = ["terms", "tdb2", "virtuoso"] as const;
  shouldEqualWhole((clause) => `SELECT * { ${spelled} ${clause} }`, "?s ex:n ?v", exact);
  shouldEqualWhole((clause) => `SELECT * { ${spelled} OPTIONAL { ${clause} } }`, "?s ex:n ?v", exact);
  shouldEqualWhole((clause) => `SELECT * { ${spelled} MINUS { ${clause} } }`, "?s ex:n ?v", exact);
  shouldEqualWhole((clause) => `SELECT * { ${spelled} FILTER NOT EXISTS { ${clause} } }`, "?s ex:n ?v", exact);
  // Virtuoso joins VALUES with no solution that leaves the variable unbound.
  shouldEqualWhole((clause) => `SELECT * { ${spelled} ${clause} }`, "?s ex:k ?k OPTIONAL { ?s ex:n ?v }", [
    "terms",
    "tdb2",
    "values",
  ]);
  shouldEqualWhole((clause) => `SELECT * { SERVICE <left> { ?left ex:weighs ?v } ${clause} }`, "?s ex:w ?v", exact);

  it("are joined by value where an endpoint answers with the key's spelling", async () => {
    expect(await rows(`SELECT * { ${spelled} ${serviceOf("values", "?s ex:n ?v")} }`)).toHaveLength(10);
  });
});

describe("blank nodes in more answers than one", () => {
  it.each(engines)("are one node each at %s", async (name) => {
    const query = `SELECT (COUNT(DISTINCT ?b) AS ?nodes) (COUNT(*) AS ?rows) {
      SERVICE <left> { ?s ex:address ?there } ${serviceOf(name, "?s ex:address ?b")} }`;
    const [row] = await rows(query);
    expect(row).toContain('"nodes":{"type":"literal","value":"3"');
    expect(row).toContain('"rows":{"type":"literal","value":"40"');
  });
});
