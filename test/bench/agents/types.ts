import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import oxigraph from "oxigraph";
import { breaks, broken } from "../../support/broken-queries.ts";
import { publishedQuestions, triplesOf } from "../../support/published-questions.ts";
import { hasPublishedData, publishedDatasets } from "../../support/published-shards.ts";
import { createRandom } from "../../support/random.ts";
import { serviced } from "../../support/serviced-query.ts";
import { typedCheck } from "../../support/typed-registry.ts";
import { type DataTruth, truthOf } from "../../support/void-truth.ts";
import { writeReport } from "../proxy/report.ts";
import { buildShards, exampleQueries } from "./recover/gold-queries.ts";

// Right queries are broken so that the data contradict them. The check has to say so of each, and nothing of the right ones.

/** Endpoints, and right queries over them. */
interface Source {
  readonly name: string;
  readonly data: Readonly<Record<string, string>>;
  readonly queries: readonly { readonly id: string; readonly text: string }[];
}

interface Tally {
  cases: number;
  noticed: number;
  suggested: number;
  mended: number;
  harmless: number;
  readonly missed: string[];
}

/** Breaks queries, and counts how many of each kind are noticed. */
export async function runTypesBench({ quick }: { readonly quick: boolean }): Promise<void> {
  const sources = [exampleSource(), ...(hasPublishedData ? await publishedSources(quick) : [])];
  const tallies = new Map<string, Tally>();
  const alarms: string[] = [];
  let right = 0;
  for (const source of sources) {
    const { found, asked } = await measure(source, tallies);
    process.stdout.write(`${source.name}: ${asked} right queries\n`);
    alarms.push(...found);
    right += asked;
  }
  print(tallies, { right, alarms });
  await writeReport("agents-types", { right, alarms, kinds: Object.fromEntries(tallies) });
}

function exampleSource(): Source {
  const folder = new URL("../../../catalog/examples/data/", import.meta.url);
  const files = readdirSync(folder).filter((name) => name.endsWith(".nt.gz"));
  const data = files.map((name) => [
    name.replace(".nt.gz", ""),
    gunzipSync(readFileSync(new URL(name, folder))).toString(),
  ]);
  return {
    name: "examples",
    data: Object.fromEntries(data) as Source["data"],
    queries: exampleQueries.map(({ id, text }) => ({ id, text: withUrls(text) })),
  };
}

const withUrls = (text: string): string => text.replaceAll(/SERVICE <(\w+)>/g, "SERVICE <http://$1.example/sparql>");

async function publishedSources(quick: boolean): Promise<readonly Source[]> {
  const folders = process.env["BENCH_SHARDS"]?.split(",") ?? (await buildShards());
  const all = publishedQuestions().filter(({ rows, rewritten }) => rows > 0 && !rewritten);
  return publishedDatasets.map((dataset, at) => {
    const folder = join(folders[at] ?? "", "shards");
    const data = readdirSync(folder).map((name) => [
      `${dataset.replaceAll("_", "-")}-${name.replace(".nt", "")}`,
      readFileSync(join(folder, name), "utf8"),
    ]);
    const texts = new Map(
      all.filter((query) => query.dataset === dataset).map(({ sparql, id }) => [sparql.trim(), id]),
    );
    const queries = Array.from(texts, ([text, id]) => ({ id, text }));
    return {
      name: dataset,
      data: Object.fromEntries(data) as Source["data"],
      queries: quick ? queries.slice(0, 8) : queries,
    };
  });
}

async function measure({ name, data, queries }: Source, tallies: Map<string, Tally>) {
  const { check } = await typedCheck({ data, federations: { all: Object.keys(data) } });
  const truths = new Map(Object.entries(data).map(([id, text]) => [id, truthOf(triplesOf(text))]));
  const truth = truthOf(triplesOf(Object.values(data).join("\n")));
  const oracle = oracleOf(data);
  const random = createRandom(27);
  const found: string[] = [];
  let asked = 0;
  const notices = async (text: string) => {
    const { contradictions, suggested, unknown } = await check(text, hasService(text) ? {} : { federation: "all" });
    const isNoticed = contradictions.length + unknown.length > 0 || suggested !== undefined;
    return { contradictions, suggested, isNoticed };
  };
  for (const { id, text } of queries) {
    const rows = oracle(text);
    if (rows === undefined || rows === "[]") continue;
    for (const { text: each } of formsOf(text, truths)) {
      asked++;
      const { isNoticed, contradictions } = await notices(each);
      if (isNoticed) found.push(`${name}/${id} ${contradictions.map(({ message }) => message).join(" ")}\n${each}`);
    }
    for (const kind of Object.keys(breaks)) {
      const wrong = broken(text, kind, { truth, random });
      for (const form of wrong === undefined ? [] : formsOf(wrong, truths)) {
        const key = `${kind}, ${form.form}`;
        const tally = tallies.get(key) ?? { cases: 0, noticed: 0, suggested: 0, mended: 0, harmless: 0, missed: [] };
        tallies.set(key, tally);
        if (oracle(form.text) === rows) tally.harmless++;
        else
          count(tally, {
            ...(await notices(form.text)),
            isRight: (each) => oracle(each) === rows,
            text: `${name}/${id}\n${form.text}`,
          });
      }
    }
  }
  return { found, asked };
}

interface Noticed {
  readonly text: string;
  readonly isNoticed: boolean;
  readonly suggested: string | undefined;
  readonly isRight: (text: string) => boolean;
}

function count(tally: Tally, { text, isNoticed, suggested, isRight }: Noticed): void {
  tally.cases++;
  if (isNoticed) tally.noticed++;
  else tally.missed.push(text);
  if (suggested === undefined) return;
  tally.suggested++;
  if (isRight(suggested)) tally.mended++;
}

const hasService = (text: string): boolean => /\bSERVICE\b/i.test(text);

function formsOf(text: string, endpoints: ReadonlyMap<string, DataTruth>) {
  if (hasService(text)) return [{ form: "SERVICE", text }];
  const across = serviced(text, endpoints);
  return [{ form: "federation", text }, ...(across === undefined ? [] : [{ form: "SERVICE", text: across }])];
}

/** The rows of a query, in no order; a SERVICE is the graph of its endpoint, the default graph all data together. */
function oracleOf(data: Source["data"]) {
  const store = new oxigraph.Store();
  for (const [id, text] of Object.entries(data)) {
    store.load(text, { format: "nt" });
    store.load(text, { format: "nt", to_graph_name: oxigraph.namedNode(`http://${id}.example/sparql`) });
  }
  return (text: string): string | undefined => {
    const asGraphs = text.replaceAll(/\bSERVICE\s+</gi, "GRAPH <");
    try {
      const rows = store.query(asGraphs) as readonly Map<string, oxigraph.Term>[];
      if (!Array.isArray(rows)) return JSON.stringify(rows);
      // A count of nothing: that no row matches is no false alarm.
      if (rows.length === 1 && rows.every((row) => [...row.values()].every(({ value }) => value === "0"))) return "[]";
      return JSON.stringify(
        rows
          .map((row) => JSON.stringify([...row].map(([key, term]) => `${key} ${String(term)}`).toSorted()))
          .toSorted(),
      );
    } catch {
      return undefined;
    }
  };
}

function print(
  tallies: ReadonlyMap<string, Tally>,
  { right, alarms }: { right: number; alarms: readonly string[] },
): void {
  process.stdout.write(`${"kind".padEnd(36)}cases noticed suggested mended harmless\n`);
  for (const [kind, { cases, noticed, suggested, mended, harmless }] of tallies) {
    const share = cases === 0 ? "-" : `${((100 * noticed) / cases).toFixed(1)} %`;
    const counts = [suggested, mended, harmless].map((each) => String(each).padStart(9)).join("");
    process.stdout.write(`${kind.padEnd(36)}${String(cases).padStart(5)} ${share.padStart(7)} ${counts}
`);
  }
  process.stdout.write(`right queries with an alarm: ${alarms.length} of ${right}\n`);
  for (const each of alarms) process.stdout.write(`ALARM ${each}\n`);
  if (process.env["BENCH_LOST"] === undefined) return;
  for (const [kind, { missed }] of tallies)
    for (const each of missed) process.stdout.write(`\nMISSED ${kind}: ${each}\n`);
}
