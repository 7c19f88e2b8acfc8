import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { gunzipSync } from "node:zlib";
import type { Problem, Repair } from "../../../src/errors/fedway-error.ts";
import type { ToolAnswer } from "../../../src/agent/tool.ts";
import type { Toolbox } from "../../../src/agent/toolbox.ts";
import { rdf } from "../../../src/rdf/vocabularies.ts";
import { publishedData, publishedQuestions, triplesOf } from "../../support/published-questions.ts";
import { hasPublishedData, publishedDatasets } from "../../support/published-shards.ts";
import { createRandom, type Random } from "../../support/random.ts";
import { startService } from "../../support/running-service.ts";
import { serviced } from "../../support/serviced-query.ts";
import { type DataTruth, truthOf } from "../../support/void-truth.ts";
import { writeReport } from "../proxy/report.ts";
import { printRows } from "../void/print-rows.ts";
import { type BrokenQuery, brokenList } from "./breaks/broken-list.ts";
import { buildShards, exampleQueries } from "./recover/gold-queries.ts";

// Mistakes of which an answer with rows says nothing by itself, and those whose repairs were wrong. `run_query` alone is asked.

/** A broken query with the place that it is sent to. */
interface Case extends BrokenQuery {
  readonly endpoint?: string | undefined;
}

interface Tally {
  cases: number;
  /** Of those, with a word on the mistake. */
  noticed: number;
  mended: number;
  /** A suggestion that gives other rows than the right ones. */
  wrong: number;
  /** A suggestion without rows, or that does not run. */
  useless: number;
  /** The answer is the right one. */
  harmless: number;
}

/** Seeds of the list that advice was tuned on, and of the one that it was not. */
const seeds = { tuned: 23, "held out": 71 };

/** Sends broken queries by `run_query` and counts how many are noticed, mended, and given a wrong suggestion. */
export async function runBreaksBench({ quick }: { readonly quick: boolean }): Promise<void> {
  const folders = process.env["BENCH_SHARDS"]?.split(",") ?? (hasPublishedData ? await buildShards() : []);
  const service = await startService(
    {},
    {
      FEDWAY_EXAMPLES: "on",
      FEDWAY_HOSTED_TOTAL_MB: "4096",
      FEDWAY_FACTS: "on",
      ...(folders.length > 0 && { FEDWAY_SHARDS: folders.join(",") }),
    },
  );
  try {
    const box = service.app.toolbox("full");
    await allDescribed(
      box,
      service.app.catalog.entries.map(({ id }) => id),
    );
    const datasets = publishedDatasets.filter((name) => folders.some((folder) => folder.endsWith(name)));
    for (const [name, seed] of Object.entries(seeds).slice(0, quick ? 1 : 2)) {
      const random = createRandom(seed);
      const cases = [
        ...exampleCases(random),
        ...datasets.flatMap((dataset) => publishedCases(dataset, folders, random)),
      ];
      await measure(box, name, cases);
    }
  } finally {
    await service.close();
  }
}

const caller = { signal: new AbortController().signal, owner: "bench" };

/** @throws Error when that takes more than five minutes */
async function allDescribed(box: Toolbox, ids: readonly string[]): Promise<void> {
  const left = new Set(ids);
  for (let waits = 0; left.size > 0; waits++) {
    if (waits === 600) throw new Error(`not described within five minutes: ${[...left].join(", ")}`);
    for (const endpoint of left) {
      const { problem } = await box.call("describe_endpoint", { endpoint }, caller);
      if (problem === undefined) left.delete(endpoint);
    }
    await sleep(500);
  }
}

function exampleCases(random: Random): readonly Case[] {
  const folder = new URL("../../../catalog/examples/data/", import.meta.url);
  const files = readdirSync(folder).filter((name) => name.endsWith(".nt.gz"));
  const ids = files.map((name) => name.replace(".nt.gz", ""));
  const broken = files.flatMap((name, at) =>
    brokenList(gunzipSync(readFileSync(new URL(name, folder))).toString(), 4, random).map((each) =>
      Object.assign(each, { endpoint: ids[at] }),
    ),
  );
  return [
    ...broken,
    ...swapped(
      exampleQueries.map(({ text }) => text),
      ids,
      random,
    ),
  ];
}

function publishedCases(dataset: string, folders: readonly string[], random: Random): readonly Case[] {
  const broken = brokenList(publishedData(dataset), 4, random).map((each) =>
    Object.assign(each, { endpoint: dataset }),
  );
  const shards = join(folders.find((folder) => folder.endsWith(dataset)) ?? "", "shards");
  const idOf = (name: string): string => `${dataset.replaceAll("_", "-")}-${name.replace(".nt", "")}`;
  const truths = new Map(
    readdirSync(shards).map((name) => [idOf(name), truthOf(triplesOf(readFileSync(join(shards, name), "utf8")))]),
  );
  const texts = publishedQuestions().filter((each) => each.dataset === dataset && each.rows > 0 && !each.rewritten);
  const across = [...new Set(texts.map(({ sparql }) => sparql))].flatMap((sparql) => serviced(sparql, truths) ?? []);
  const halves = wholes(truths, random);
  const byId = across.map((text) => text.replaceAll(/SERVICE <http:\/\/([\w-]+)\.example\/sparql>/g, "SERVICE <$1>"));
  return [...broken, ...swapped([...byId.slice(0, 12), ...halves], [...truths.keys()], random)];
}

/** Queries over all parts of a class, each in a branch of its own. */
function wholes(truths: ReadonlyMap<string, DataTruth>, random: Random): readonly string[] {
  const holders = new Map<string, string[]>();
  for (const [id, { propertyPartitions }] of truths)
    for (const property of propertyPartitions.keys()) {
      const key = `?s <${property}> ?v`;
      if (property !== rdf.type) holders.set(key, [...(holders.get(key) ?? []), id]);
    }
  const several = [...holders].filter(([, ids]) => ids.length > 1);
  if (several.length === 0) return [];
  return Array.from({ length: 8 }, () => {
    const [group, ids] = random.pick(several);
    return `SELECT ?s ?v { ${ids.map((id) => `{ SERVICE <${id}> { ${group} } }`).join(" UNION ")} }`;
  });
}

/** One of several SERVICEs sent to another endpoint: of the query, or of its data set. */
function swapped(queries: readonly string[], ids: readonly string[], random: Random): readonly Case[] {
  return queries.flatMap((right) => {
    const targets = [...right.matchAll(/SERVICE <([\w-]+)>/g)];
    if (targets.length < 2) return [];
    const target = random.pick(targets);
    const [, own = ""] = target;
    const inQuery = targets.flatMap(([, id = ""]) => (id === own ? [] : [id]));
    const from = inQuery.length > 0 && random.below(2) === 0 ? inQuery : ids.filter((id) => id !== own);
    if (from.length === 0) return [];
    const other = `SERVICE <${random.pick(from)}>`;
    const wrong = right.slice(0, target.index) + other + right.slice(target.index + target[0].length);
    return [{ kind: right.includes(" UNION ") ? "SERVICE swapped in UNION" : "SERVICE swapped", right, wrong }];
  });
}

async function measure(box: Toolbox, name: string, cases: readonly Case[]): Promise<void> {
  const tallies = new Map<string, Tally>();
  const alarms: string[] = [];
  const told: string[] = [];
  let right = 0;
  for (const { kind, right: meant, wrong, endpoint } of cases) {
    const gold = await run(box, meant, endpoint);
    if (gold.status !== "ok") continue;
    right++;
    if (gold.isDoubted) alarms.push(`${endpoint} ${meant}\n${gold.text}`);
    const tally = tallies.get(kind) ?? { cases: 0, noticed: 0, mended: 0, wrong: 0, useless: 0, harmless: 0 };
    tallies.set(kind, tally);
    const found = await run(box, wrong, endpoint);
    if (found.rows === gold.rows) {
      tally.harmless++;
      continue;
    }
    tally.cases++;
    if (found.isDoubted || found.status !== "ok") tally.noticed++;
    const end = await endOf(box, { found, wrong, gold, endpoint });
    if (end !== undefined) tally[end]++;
    told.push(
      `${end?.toUpperCase() ?? "NO OFFER"} ${kind} at ${endpoint}\nRIGHT ${meant}\nSENT ${wrong}\n${found.text}`,
    );
  }
  print(name, tallies, { right, alarms });
  if (process.env["BENCH_LOST"] !== undefined) process.stdout.write(`${told.join("\n\n")}\n`);
  await writeReport(`agents-breaks-${name.replace(" ", "-")}`, { right, alarms, kinds: Object.fromEntries(tallies) });
}

/** The best of what the offers for a broken query give. */
async function endOf(
  box: Toolbox,
  {
    found,
    wrong,
    gold,
    endpoint,
  }: { readonly found: Run; readonly wrong: string; readonly gold: Run; readonly endpoint: string | undefined },
) {
  const ends = new Set<string>();
  for (const offer of offersIn(found, wrong)) {
    const { rows, status } = await run(box, offer, endpoint);
    ends.add(rows === gold.rows ? "mended" : status === "ok" ? "wrong" : "useless");
  }
  return (["mended", "wrong", "useless"] as const).find((each) => ends.has(each));
}

type Run = Awaited<ReturnType<typeof run>>;

async function run(box: Toolbox, query: string, endpoint: string | undefined) {
  const answer = await box.call("run_query", { query, endpoint, format: "json", max_rows: 500 }, caller);
  const { data, text } = answer;
  const rows = (data["rows"] ?? []) as readonly object[];
  const suggested = suggestedIn(answer);
  const { repairs: diagnosed = [] } = (data["diagnosis"] ?? {}) as Pick<Problem, "repairs">;
  return {
    status: String(data["status"]),
    rows: JSON.stringify([data["status"], data["rows_total"], rows.map((row) => JSON.stringify(row)).toSorted()]),
    suggested,
    repairs: [...((data["repairs"] ?? []) as readonly Repair[]), ...diagnosed],
    isDoubted: (suggested !== undefined && !isPart.test(text)) || /^(?:note: doubtful|repair: )/m.test(text),
    text: text.replace(/^data, not instructions:[^]*?(?=^(?:note|repair|query|suggested|next): |$(?![^]))/m, ""),
  };
}

/** The whole query that is suggested, and those with one of the repairs that a reply shows. */
function offersIn(found: Run, query: string): readonly string[] {
  const shown = found.repairs.filter(({ applied, before }) => !applied && before !== "" && query.includes(before));
  const repaired = shown.slice(0, 2).map(({ before, after }) => query.replaceAll(before, () => after));
  return [...(found.suggested === undefined ? [] : [found.suggested]), ...repaired];
}

/** That another endpoint has a part of the data is no doubt about the query. */
const isPart = /^note: .* is not the only one with |^note: .* has \d+ of \d+ parts of /m;

/** The suggestion stands last but for the next step. */
const suggestedIn = ({ text }: ToolAnswer): string | undefined =>
  /^suggested:\n([^]*?)(?:\nnext: [^\n]*)?$(?![^])/m.exec(text)?.[1];

function print(
  name: string,
  tallies: ReadonlyMap<string, Tally>,
  { right, alarms }: { readonly right: number; readonly alarms: readonly string[] },
): void {
  const columns = ["cases", "noticed", "mended", "wrong", "useless", "harmless"] as const;
  const sums = [...tallies.values()].reduce(
    (all, each) => columns.map((column, at) => (all[at] ?? 0) + each[column]),
    columns.map(() => 0),
  );
  const rows = [...tallies]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([kind, tally]) => [kind].concat(columns.map((column) => String(tally[column]))));
  printRows(`Broken queries by run_query, ${name}`, [["kind", ...columns], ...rows, ["all", ...sums.map(String)]]);
  process.stdout.write(`right queries with an alarm: ${alarms.length} of ${right}\n`);
  for (const each of alarms) process.stdout.write(`ALARM ${each}\n`);
}
