import { Writer } from "n3";
import oxigraph from "oxigraph";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { canonicalRow, canonicalTerm } from "../../support/canonical-answer.ts";
import { type Comparison, compareWithTruth } from "../../support/compare-with-truth.ts";
import { describedText, describedUnits } from "../../support/described-data.ts";
import { createEndpointDescriber, type EndpointDescriber } from "../../support/endpoint-describer.ts";
import type { Engine } from "../../support/engines/engine.ts";
import { startFuseki } from "../../support/engines/fuseki.ts";
import { startVirtuoso } from "../../support/engines/virtuoso.ts";
import { createPlannedComunica, type PlannedSource } from "../../support/planned-comunica.ts";
import { viewQueries } from "../../support/view-queries.ts";
import { truthOf } from "../../support/void-truth.ts";
import { descriptionQuads, type VoidDescription } from "../../../src/registry/descriptions.ts";

const shape = { seed: 20_240_601, triples: 100_000, classes: 50, maxProperties: 20 };
const dataGraph = "http://data.example/graph";
const triples = [...describedUnits(shape)].flat();
const truth = truthOf(triples);
const described: VoidDescription[] = [];

let virtuoso: Engine;
let fuseki: Engine;
let describer: EndpointDescriber;

beforeAll(async () => {
  const text = describedText(shape);
  [virtuoso, fuseki] = await Promise.all([
    // Time enough to list its graphs on a slow machine: what is judged here is its cap of rows.
    startVirtuoso({ graphs: { [dataGraph]: text }, maxRows: 1_000, maxExecutionSeconds: 60 }),
    startFuseki({ data: text }),
  ]);
  describer = createEndpointDescriber();
});

afterAll(async () => {
  await describer?.close();
  await Promise.all([virtuoso?.stop(), fuseki?.stop()]);
});

/** Nothing is wrong; prints the numbers that the registry is judged by. */
function shouldBeTrue(name: string, description: VoidDescription): Comparison {
  const comparison = compareWithTruth(description, truth);
  const { wrongExact, wrongBounds, wrongComplete, invented, recall, exactShare, completeLists, lists } = comparison;
  const { requests, bytes, ms } = description.cost;
  described.push(description);
  process.stdout.write(
    `${name}: ${requests} requests, ${bytes} bytes, ${ms} ms; facts ${recall.toFixed(3)}, exact ` +
      `${exactShare.toFixed(3)}, complete lists ${completeLists} of ${lists}\n`,
  );
  expect({ wrongExact, wrongBounds, wrongComplete, invented }).toEqual({
    wrongExact: [],
    wrongBounds: [],
    wrongComplete: [],
    invented: [],
  });
  return comparison;
}

describe("a computed description", () => {
  it("of Fuseki is exact", async () => {
    const description = await describer.describe(fuseki.url);
    const { recall, exactShare } = shouldBeTrue("fuseki", description);
    expect(recall).toBeGreaterThanOrEqual(0.95);
    expect(exactShare).toBeGreaterThanOrEqual(0.9);
    expect(description.unfinished).toBe(false);
  });

  it("of a capped Virtuoso says nothing wrong of the data, and leaves the system graphs out", async () => {
    expect(await triplesOfAllGraphs(virtuoso.url)).toBeGreaterThan(truth.triples + 1_000);
    const description = await describer.describe(virtuoso.url);
    const { recall } = shouldBeTrue("virtuoso", description);
    expect(recall).toBeGreaterThanOrEqual(0.95);
  });
});

const service = "http://www.w3.org/ns/sparql-service-description#";

/** The data at Fuseki, which cuts nothing, under the planner's view of a description. */
function sourceOf(description: VoidDescription): PlannedSource {
  const url = "http://source.example/sparql";
  const view = [
    ...descriptionQuads(
      { ...description, endpoint: url, dataset: `${url}#dataset` },
      { view: "planner", variant: "extended" },
    ),
  ];
  const about = `<${url}> a <${service}Service> ; <${service}endpoint> <${url}> ;
    <${service}defaultDataset> [ a <${service}Dataset> ; <${service}defaultGraph> <${url}#dataset> ] .`;
  return { url, endpoint: fuseki.url, description: `${about}\n${new Writer().quadsToString([...view])}` };
}

describe("Comunica", () => {
  it("loses no answer when it plans by any of them", async () => {
    const oracle = new oxigraph.Store();
    oracle.load(describedText(shape), { format: "application/n-triples" });
    const expected = (query: string): readonly string[] => {
      const rows = oracle.query(query) as Map<string, oxigraph.Term>[];
      const canonical = rows.map((row) => canonicalRow([...row].map(([name, term]) => [name, canonicalTerm(term)])));
      return [...new Set(canonical)].toSorted();
    };
    const queries = viewQueries(triples, { seed: shape.seed, count: 20 });
    expect(queries.filter(({ text }) => expected(text).length > 0).length).toBeGreaterThanOrEqual(12);
    expect(described).toHaveLength(2);
    const comunica = createPlannedComunica();
    for (const description of described) {
      const source = sourceOf(description);
      for (const { text } of queries) expect(await comunica.select(text, [source]), text).toEqual(expected(text));
    }
  });
});

/** Virtuoso's default graph is the union of all graphs, its own included. */
async function triplesOfAllGraphs(url: string): Promise<number> {
  const query = encodeURIComponent("SELECT (COUNT(*) AS ?n) WHERE { ?s ?p ?o }");
  const response = await fetch(`${url}?query=${query}`, { headers: { accept: "text/csv" } });
  return Number((await response.text()).split("\n")[1]);
}
