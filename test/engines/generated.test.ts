import { sample } from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { answerDifference } from "../support/canonical-answer.ts";
import type { Engine } from "../support/engines/engine.ts";
import { startEmbedded } from "../support/engines/embedded.ts";
import { startFuseki } from "../support/engines/fuseki.ts";
import { isInformative } from "../support/oracle.ts";
import { generatedCases } from "../support/query-generator.ts";
import { generateSpelledData, nTriplesAt } from "../support/query-generator-data.ts";
import { type GeneratedQuery, printQuery } from "../support/query-generator-syntax.ts";
import { operatorsOf } from "../support/query-statistics.ts";
import { type SparqlTestServer, startSparqlTestServer } from "../support/sparql-test-server.ts";
import { type Fedway, startFedway } from "../interop/fedway.ts";
import { readAnswer } from "../interop/read-answer.ts";

const seed = Number(process.env["FEDWAY_DIFFERENTIAL_SEED"] ?? 20_261_123);
const runs = Math.max(100, Number(process.env["FEDWAY_DIFFERENTIAL_CASES"] ?? 100));
const made = sample(
  generatedCases((draw) => generateSpelledData(draw, 3, 90)),
  { seed, numRuns: 1 },
);

const dataOf = (index: number): string => (made[0] ? nTriplesAt(made[0].data, index) : "");

/** Engines beside Fuseki, which holds terms as they are spelled, and Oxigraph, which holds values. */
const members = {
  tdb2: () => startFuseki({ data: dataOf(1), store: "tdb2" }),
  rdf4j: () => startEmbedded("rdf4j", dataOf(1)),
  blazegraph: () => startEmbedded("blazegraph", dataOf(1)),
} as const;

const accept = "application/sparql-results+json";

/** Fuseki constructs triples with literals as predicates, and lets values from outside into subselects within GRAPH. */
const isJudged = (query: GeneratedQuery): boolean =>
  query.form !== "construct" && !operatorsOf(query).has("subselect-inside");

describe.each(Object.keys(members) as readonly (keyof typeof members)[])("%s", (name) => {
  let engines: readonly Engine[];
  let values: SparqlTestServer;
  let urls: readonly string[];
  /** Holds terms as they are spelled: what each endpoint says of its data, in a graph of its own. */
  let judge: Engine;
  let fedway: Fedway;

  async function readBack(url: string): Promise<string> {
    const query = new URLSearchParams({ query: "CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o }" });
    const response = await fetch(`${url}?${query.toString()}`, { headers: { accept: "application/n-triples" } });
    const text = await response.text();
    return text.replaceAll(/ \.$/gmu, ` <${url}> .`).replaceAll("_:", `_:g${urls.indexOf(url)}x`);
  }

  beforeAll(async () => {
    engines = await Promise.all([startFuseki({ data: dataOf(0) }), members[name]()]);
    values = await startSparqlTestServer(dataOf(2));
    urls = [...engines.map(({ url }) => url), values.url];
    const quads = await Promise.all(urls.map((url) => readBack(url)));
    judge = await startFuseki({ data: quads.join("") });
    fedway = await startFedway(Object.fromEntries(urls.map((url, index) => [`e${index}`, url])));
  });

  afterAll(async () => {
    await fedway?.close();
    await Promise.all([judge?.stop(), values?.close(), ...(engines ?? []).map((engine) => engine.stop())]);
  });

  async function judged(query: string) {
    const headers = { accept, "content-type": "application/sparql-query" };
    return readAnswer(await fetch(judge.url, { method: "POST", headers, body: query }));
  }

  async function difference(query: GeneratedQuery): Promise<{ found: string | undefined; informative: boolean }> {
    const text = printQuery(query, { keyword: "SERVICE", endpoints: urls });
    const expected = await judged(printQuery(query, { keyword: "GRAPH", endpoints: urls }));
    const found = await fedway
      .sparql("/sparql", { query: text, accept })
      .then(readAnswer)
      .then((answer) => answerDifference(expected, answer))
      .catch((error: unknown) => String(error));
    return { found: found && `${text}\n${found}`, informative: isInformative(query, expected) };
  }

  it(`${runs} generated queries beside engines that store spellings and values`, { timeout: 1_200_000 }, async () => {
    const [{ data } = { data: { endpoints: 3, facts: [] } }] = made;
    const failures: string[] = [];
    let informative = 0;
    let asked = 0;
    for (const { query } of sample(
      generatedCases(() => data),
      { seed, numRuns: runs },
    )) {
      if (!isJudged(query)) continue;
      const compared = await difference(query);
      if (compared.found !== undefined) failures.push(compared.found);
      if (compared.informative) informative++;
      asked++;
    }
    console.log(`${asked} cases, ${informative} informative, seed ${seed}, ${failures.length} differences`);
    expect(failures.slice(0, 5).join("\n\n")).toBe("");
    expect(failures).toHaveLength(0);
    expect(informative / asked).toBeGreaterThanOrEqual(0.6);
  });
});
