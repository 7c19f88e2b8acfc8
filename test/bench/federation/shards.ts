import { readFileSync } from "node:fs";
import { join } from "node:path";
import oxigraph from "oxigraph";
import { readManifest } from "../../../shards/src/materialise/manifest.ts";
import { entryIdOf } from "../../../shards/src/shard-entry.ts";
import { type BuiltService, startBuiltService } from "../../support/built-program.ts";
import { type PublishedQuestion, publishedQuestions } from "../../support/published-questions.ts";
import { buildPublishedShards, hasPublishedData, publishedDatasets } from "../../support/published-shards.ts";
import { newFolder } from "../../support/scratch-folder.ts";
import { median, rounded, writeReport } from "../proxy/report.ts";
import { difference } from "./compare.ts";
import type { FederationOptions } from "./options.ts";
import { untilNoJobs } from "./peers/fedway.ts";
import { askOverHttp, rowsOfStore } from "./peers/peer.ts";
import { type Rewritten, rewriteFor } from "./shards/rewrite.ts";

// The questions of the nine published datasets over their shards, which Fedway has built and hosts itself. Shards are
// asked within the process, so that there is no latency; requests are those of the service's own metrics.

const ways = ["plain", "pattern by pattern", "whole query"] as const;
type Way = (typeof ways)[number];

interface Asked {
  readonly dataset: string;
  readonly question: string;
  readonly way: Way;
  readonly outcome: "right" | "wrong" | "failed" | "unstable";
  readonly detail?: string;
  readonly requests: number;
  /** Shards with a match of one of its patterns. */
  readonly needed: number;
  readonly ms: number;
}

/** Asks all questions in three ways. @throws Error when an answer is wrong */
export async function runShardsFederationBench({ quick, queries }: FederationOptions): Promise<void> {
  if (!hasPublishedData) {
    process.stdout.write("The nine datasets are not at ../shared/fkgqa: nothing is measured.\n");
    return;
  }
  const root = newFolder();
  const wanted = publishedDatasets.filter((dataset) => queries.length === 0 || queries.includes(dataset));
  for (const dataset of wanted)
    await buildPublishedShards(dataset, { mode: "guaranteed", output: join(root, dataset) });
  const service = await startBuiltService({
    FEDWAY_CATALOG: newFolder(),
    FEDWAY_EXAMPLES: "off",
    FEDWAY_HOSTED_TOTAL_MB: "4096",
    FEDWAY_LOG_LEVEL: "error",
    FEDWAY_SHARDS: wanted.map((dataset) => join(root, dataset)).join(","),
  });
  const asked: Asked[] = [];
  try {
    await untilNoJobs(service);
    for (const dataset of wanted) {
      asked.push(...(await askAll(service, await openDataset(join(root, dataset), dataset), quick ? 8 : undefined)));
      process.stderr.write(`bench: ${dataset}, ${asked.length} questions asked\n`);
    }
  } finally {
    await service.stop();
  }
  await report(asked);
}

interface Dataset {
  readonly name: string;
  /** Catalogue ids of the shards. */
  readonly shards: readonly string[];
  /** Each shard a named graph, `urn:shard:ID`. */
  readonly store: oxigraph.Store;
  /** All of it as one graph. */
  readonly whole: oxigraph.Store;
}

async function openDataset(folder: string, name: string): Promise<Dataset> {
  const { shards } = await readManifest(folder);
  const store = new oxigraph.Store();
  const whole = new oxigraph.Store();
  const ids: string[] = [];
  for (const { id, file } of shards) {
    const text = readFileSync(join(folder, file), "utf8");
    const entry = entryIdOf(name, id);
    ids.push(entry);
    store.load(text, { format: "nt", to_graph_name: oxigraph.namedNode(`urn:shard:${entry}`) });
    whole.load(text, { format: "nt" });
  }
  return { name, shards: ids, store, whole };
}

/** Each text once: many questions have the same query. Those that take minutes in most stores are left out. */
function questionsOf(dataset: string, most: number | undefined): readonly PublishedQuestion[] {
  const own = publishedQuestions().filter((each) => each.dataset === dataset && each.rewritten !== true);
  const distinct = [...new Map(own.map((each) => [each.sparql, each])).values()];
  const step = most === undefined ? 1 : Math.max(1, Math.floor(distinct.length / most));
  return distinct.filter((_, index) => index % step === 0);
}

async function askAll(service: BuiltService, dataset: Dataset, most: number | undefined): Promise<readonly Asked[]> {
  const asked: Asked[] = [];
  for (const question of questionsOf(dataset.name, most)) {
    const rewritten = rewriteFor(question.sparql, dataset.shards);
    const needed = neededBy(rewritten, dataset);
    for (const way of ways) asked.push({ ...(await ask(service, { dataset, question, rewritten, way })), needed });
  }
  return asked;
}

/** How many shards have a match of one of the patterns at least. */
const neededBy = ({ patterns }: Rewritten, { shards, store }: Dataset): number =>
  shards.filter((shard) =>
    patterns.some((pattern) =>
      store.query(`ASK { ${pattern} }`, { default_graph: oxigraph.namedNode(`urn:shard:${shard}`) }),
    ),
  ).length;

interface Question {
  readonly dataset: Dataset;
  readonly question: PublishedQuestion;
  readonly rewritten: Rewritten;
  readonly way: Way;
}

async function ask(service: BuiltService, asked: Question): Promise<Omit<Asked, "needed">> {
  const { dataset, question, rewritten, way } = asked;
  const path = way === "plain" ? `/federations/${dataset.name}/sparql` : "/sparql";
  const text = way === "plain" ? question.sparql : rewritten[way];
  const before = await requestsSoFar(service);
  const startedMs = performance.now();
  const result = { dataset: dataset.name, question: question.id, way };
  try {
    const rows = await askOverHttp(service.url + path, text, AbortSignal.timeout(60_000));
    const ms = performance.now() - startedMs;
    const requests = (await requestsSoFar(service)) - before;
    const detail = problemOf(rows, asked);
    if (detail === undefined) return { ...result, outcome: "right", requests, ms };
    // Which rows a LIMIT takes among equals is nobody's fault, nor how doubles are added up.
    const isFree = question.unstable === true || /\blimit\b/iu.test(question.sparql);
    return { ...result, outcome: isFree ? "unstable" : "wrong", detail, requests, ms };
  } catch (error) {
    const detail = error instanceof Error ? error.message.slice(0, 300) : String(error);
    const requests = (await requestsSoFar(service)) - before;
    return { ...result, outcome: "failed", detail, requests, ms: performance.now() - startedMs };
  }
}

/** A query with SERVICE means what it means with GRAPH over the shards. */
function problemOf(rows: readonly string[], { dataset, question, rewritten, way }: Question): string | undefined {
  if (way === "whole query") return difference(rowsOfStore(dataset.store, asGraphs(rewritten[way])), rows);
  return difference(rowsOfStore(dataset.whole, question.sparql), rows);
}

const asGraphs = (text: string): string => text.replaceAll(/SERVICE\s+<([^>]*)>/gu, "GRAPH <urn:shard:$1>");

async function requestsSoFar({ url }: BuiltService): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return text
    .matchAll(/^fedway_upstream_requests_total\{[^}]*\} (\d+)$/gmu)
    .reduce((sum, [, count = "0"]) => sum + Number(count), 0);
}

async function report(asked: readonly Asked[]): Promise<void> {
  const figures = ways.map((way) =>
    figuresOf(
      way,
      asked.filter((each) => each.way === way),
    ),
  );
  for (const {
    way,
    questions,
    right,
    unstable,
    meanRequests,
    meanNeeded,
    mostRequests,
    above30,
    medianMs,
  } of figures) {
    process.stdout.write(
      `${way}: ${questions} queries, ${right} right, ${unstable} with rows of free choice; requests ${rounded(meanRequests)} on average ` +
        `for ${rounded(meanNeeded)} shards that have matches: ${rounded(meanRequests / meanNeeded)} (aim 1.5); ` +
        `most ${mostRequests} (aim 30), above that ${above30}; ${rounded(medianMs)} ms at the median\n`,
    );
  }
  const worst = asked.toSorted((one, other) => other.requests - one.requests).slice(0, 12);
  for (const { way, dataset, question, requests, needed, ms } of worst) {
    process.stdout.write(
      `  ${requests} requests for ${needed} shards, ${rounded(ms)} ms: ${dataset} ${question}, ${way}\n`,
    );
  }
  process.stdout.write(`\nwritten to ${await writeReport("federation-shards", { figures, asked })}\n`);
  const wrong = asked.filter(({ outcome }) => outcome === "wrong" || outcome === "failed");
  if (wrong.length === 0) return;
  const lines = wrong.map(({ dataset, question, way, detail = "" }) => `  ${dataset} ${question}, ${way}: ${detail}`);
  throw new Error(`${wrong.length} answers are not right:\n${lines.join("\n")}`);
}

function figuresOf(way: Way, asked: readonly Asked[]) {
  const mean = (of: (each: Asked) => number): number => asked.reduce((sum, each) => sum + of(each), 0) / asked.length;
  return {
    way,
    questions: asked.length,
    right: asked.filter(({ outcome }) => outcome === "right").length,
    unstable: asked.filter(({ outcome }) => outcome === "unstable").length,
    meanRequests: mean(({ requests }) => requests),
    meanNeeded: mean(({ needed }) => needed),
    mostRequests: Math.max(...asked.map(({ requests }) => requests)),
    above30: asked.filter(({ requests }) => requests > 30).length,
    medianMs: median(asked.map(({ ms }) => ms)),
  };
}
