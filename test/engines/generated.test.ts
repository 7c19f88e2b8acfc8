import { sample } from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { answerDifference } from "../support/canonical-answer.ts";
import type { Engine } from "../support/engines/engine.ts";
import { startEmbedded } from "../support/engines/embedded.ts";
import { startFuseki } from "../support/engines/fuseki.ts";
import { startVirtuoso } from "../support/engines/virtuoso.ts";
import { isInformative } from "../support/oracle.ts";
import { generatedCases } from "../support/query-generator.ts";
import { generateSpelledData, nTriplesAt } from "../support/query-generator-data.ts";
import { type GeneratedQuery, printQuery } from "../support/query-generator-syntax.ts";
import { operatorsOf } from "../support/query-statistics.ts";
import { type SparqlTestServer, startSparqlTestServer } from "../support/sparql-test-server.ts";
import { type Fedway, startFedway } from "../interop/fedway.ts";
import { virtuosoGraph } from "./data.ts";
import { readAnswer } from "../interop/read-answer.ts";
import { type RecordedRequest, type Recorder, startRecorder } from "../interop/recorder.ts";

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
  pyoxigraph: () => startEmbedded("pyoxigraph", dataOf(1)),
  virtuoso: async () => {
    const engine = await startVirtuoso({ graphs: { [virtuosoGraph]: dataOf(1) } });
    // Its default graph is the union of all, with its own.
    return { ...engine, url: `${engine.url}?default-graph-uri=${encodeURIComponent(virtuosoGraph)}` };
  },
} as const;

/** The question of a request. */
function questionOf({ url, body }: RecordedRequest): string | null {
  const form = new URLSearchParams(body === "" ? new URL(url, "http://engine").search : body);
  return form.get("query") ?? body;
}

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
  /** In front of each endpoint, in the order of `urls`. */
  let recorders: readonly Recorder[];

  async function readBack(url: string): Promise<string> {
    const query = new URLSearchParams({ query: "CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o }" });
    const response = await fetch(`${url}${url.includes("?") ? "&" : "?"}${query.toString()}`, {
      headers: { accept: "application/n-triples" },
    });
    const text = await response.text();
    return text.replaceAll(/ \.$/gmu, ` <${url}> .`).replaceAll("_:", `_:g${urls.indexOf(url)}x`);
  }

  beforeAll(async () => {
    engines = await Promise.all([startFuseki({ data: dataOf(0) }), members[name]()]);
    values = await startSparqlTestServer(dataOf(2));
    const own = [...engines.map(({ url }) => url), values.url];
    recorders = await Promise.all(own.map((url) => startRecorder(url)));
    urls = recorders.map(({ url }, index) => url + new URL(own[index] ?? "").search);
    const quads = await Promise.all(urls.map((url) => readBack(url)));
    judge = await startFuseki({ data: quads.join("") });
    fedway = await startFedway(Object.fromEntries(urls.map((url, index) => [`e${index}`, url])));
  });

  afterAll(async () => {
    await fedway?.close();
    await Promise.all((recorders ?? []).map((recorder) => recorder.close()));
    await Promise.all([judge?.stop(), values?.close(), ...(engines ?? []).map((engine) => engine.stop())]);
  });

  const ask = async (url: string, query: string) =>
    readAnswer(await fetch(url, { method: "POST", headers: { accept }, body: new URLSearchParams({ query }) }));

  /**
   * A question that an engine, asked without Fedway, does not answer as its own data has it.
   * @param isRefused the query ended in an error
   */
  async function wronglyAnswered(isRefused: boolean): Promise<string | undefined> {
    const asked = recorders.map(({ requests }) => new Set(requests.flatMap((request) => questionOf(request) ?? [])));
    for (const [index, questions] of asked.entries()) {
      const url = urls[index] ?? "";
      const graph = `${judge.url}?default-graph-uri=${encodeURIComponent(url)}`;
      for (const question of questions) {
        // What is refused is asked in another form.
        const found = await ask(url, question).then(
          async (answer) => answerDifference(await ask(graph, question), answer),
          (error: unknown) => (isRefused ? String(error) : undefined),
        );
        if (found !== undefined) return `endpoint ${index}: ${question}\n${found}`;
      }
    }
    return undefined;
  }

  async function difference(query: GeneratedQuery) {
    const text = printQuery(query, { keyword: "SERVICE", endpoints: urls });
    const expected = await ask(judge.url, printQuery(query, { keyword: "GRAPH", endpoints: urls }));
    for (const recorder of recorders) recorder.clear();
    const found = await fedway
      .sparql("/sparql", { query: text, accept })
      .then(readAnswer)
      .then((answer) => answerDifference(expected, answer))
      .catch((error: unknown) => String(error));
    const excuse = found && (await wronglyAnswered(found.startsWith("Error")));
    return { found: found && `${text}\n${found}`, excuse, informative: isInformative(query, expected) };
  }

  it(`${runs} generated queries beside engines that store spellings and values`, { timeout: 1_200_000 }, async () => {
    const [{ data } = { data: { endpoints: 3, facts: [] } }] = made;
    const failures: string[] = [];
    const excuses: string[] = [];
    let informative = 0;
    let cases = 0;
    for (const { query } of sample(
      generatedCases(() => data),
      { seed, numRuns: runs },
    )) {
      if (!isJudged(query)) continue;
      const compared = await difference(query);
      if (compared.excuse !== undefined) excuses.push(compared.excuse);
      else if (compared.found !== undefined) failures.push(compared.found);
      if (compared.informative) informative++;
      cases++;
    }
    const told = `${failures.length} differences, ${excuses.length} with a question that an engine answers wrongly itself`;
    console.log(`${cases} cases, ${informative} informative, seed ${seed}, ${told}\n${excuses.join("\n\n")}`);
    expect(failures.slice(0, 5).join("\n\n")).toBe("");
    expect(failures).toHaveLength(0);
    expect(informative / cases).toBeGreaterThanOrEqual(0.6);
  });
});
