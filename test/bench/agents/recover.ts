import { setTimeout as sleep } from "node:timers/promises";
import { createRandom } from "../../support/random.ts";
import { startService } from "../../support/running-service.ts";
import { writeReport } from "../proxy/report.ts";
import { buildShards, exampleQueries, type GoldQuery, publishedQueries } from "./recover/gold-queries.ts";
import { hasPublishedData } from "../../support/published-shards.ts";
import { mistakes } from "./recover/mistakes.ts";
import { followOffers, type OfferTallies } from "./recover/offers.ts";
import { readSchema, schemaMistakes } from "./recover/schema-mistakes.ts";
import { type Answer, type Desk, isDoubted, run as runQuery, work } from "./recover/scripted-agent.ts";

// Right queries are broken in the ways in which models break them. An agent without wit, which only follows what the check
// and the diagnosis say, has to come back to the right answer.

interface Tally {
  cases: number;
  /** Recovered after so many steps. */
  readonly after: [number, number, number];
  /** The mistake changed nothing in the answer. */
  harmless: number;
  readonly lost: string[];
}

/** Breaks queries and counts how many come back. */
export async function runRecoverBench({ quick }: { readonly quick: boolean }): Promise<void> {
  const withShards = hasPublishedData;
  if (!withShards) process.stdout.write("The nine datasets are not at ../shared/fkgqa: example queries only.\n");
  const folders = withShards ? await buildShards() : [];
  const service = await startService(
    {},
    {
      FEDWAY_EXAMPLES: "on",
      FEDWAY_HOSTED_TOTAL_MB: "4096",
      ...(withShards && { FEDWAY_SHARDS: folders.join(",") }),
    },
  );
  try {
    await describeAll(
      service.url,
      service.app.catalog.entries.map(({ id }) => id),
    );
    const all = [...exampleQueries, ...(withShards ? publishedQueries(quick ? 2 : 6) : [])];
    await measure(service, all);
  } finally {
    await service.close();
  }
}

/** Describes every endpoint, so that as much is known as can be. @throws Error when that takes more than five minutes */
async function describeAll(url: string, ids: readonly string[]): Promise<void> {
  for (const id of ids) await fetch(`${url}/api/endpoints/${id}/describe`, { method: "POST" });
  for (let round = 0; round < 600; round++) {
    await sleep(500);
    const { jobs } = (await (await fetch(`${url}/api/jobs?limit=500`)).json()) as {
      jobs: readonly { readonly state: string }[];
    };
    if (jobs.every(({ state }) => !["waiting", "running"].includes(state))) return;
  }
  throw new Error("The endpoints were not described within five minutes.");
}

async function measure(desk: Desk, all: readonly GoldQuery[]): Promise<void> {
  const doubted: string[] = [];
  const golds: { readonly gold: GoldQuery; readonly answer: Answer }[] = [];
  for (const gold of all) {
    const answer = await runQuery(desk, gold);
    if (answer.status !== "ok") throw new Error(`${gold.id} is ${answer.status}: ${answer.diagnosis?.detail}`);
    golds.push({ gold, answer });
    if (await isDoubted(desk, gold)) doubted.push(gold.id);
  }
  const startedMs = performance.now();
  const tallies = new Map<string, Tally>();
  const offers: OfferTallies = new Map();
  for (const [kind, mistake] of Object.entries(mistakes)) {
    const random = createRandom(16);
    const tally: Tally = { cases: 0, after: [0, 0, 0], harmless: 0, lost: [] };
    tallies.set(kind, tally);
    for (const { gold, answer } of golds) {
      const text = mistake(gold, random);
      if (text !== undefined && text !== gold.text) await oneCase({ desk, gold, text, answer, tally, offers });
    }
  }
  await followAll(desk, golds, offers);
  process.stdout.write(`right queries that the check would change: ${doubted.length} ${doubted.join(" ")}\n`);
  await print(tallies, golds.length, performance.now() - startedMs);
  printOffers(offers);
}

/** Breaks queries over a federation by means of its schema, and follows each offer. */
async function followAll(
  desk: Desk,
  golds: readonly { readonly gold: GoldQuery; readonly answer: Answer }[],
  tallies: OfferTallies,
): Promise<void> {
  const random = createRandom(16);
  for (const { gold, answer } of golds) {
    if (gold.federation === undefined) continue;
    const schema = await readSchema(desk, gold);
    for (const { kind, text, isRightEmpty } of schemaMistakes(gold, schema, random)) {
      const sent = { ...gold, text };
      if ((await runQuery(desk, sent)).rows.length > 0) continue;
      const isRight = (found: Answer): boolean => (isRightEmpty ? found.status === "empty" : isSame(found, answer));
      await followOffers(desk, { sent, isRight, tallies, name: `${kind} ${gold.id}` });
    }
  }
}

function printOffers(tallies: OfferTallies): void {
  process.stdout.write(`${"offers followed".padEnd(36)}right  wrong rows  no rows\n`);
  for (const [key, { right, wrong, empty }] of [...tallies].toSorted(([one], [other]) => (one < other ? -1 : 1))) {
    const counts = `${String(right).padStart(5)} ${String(wrong).padStart(11)} ${String(empty).padStart(8)}`;
    process.stdout.write(`${key.padEnd(36)}${counts}\n`);
  }
  if (process.env["BENCH_LOST"] === undefined) return;
  for (const { harmful } of tallies.values()) for (const each of harmful) process.stdout.write(`\nHARM ${each}\n`);
}

interface Case {
  readonly desk: Desk;
  readonly gold: GoldQuery;
  readonly text: string;
  readonly answer: Answer;
  readonly tally: Tally;
  readonly offers: OfferTallies;
}

async function oneCase({ desk, gold, text, answer, tally, offers }: Case): Promise<void> {
  const sent = { ...gold, text };
  if (isSame(await runQuery(desk, sent), answer)) {
    tally.harmless++;
    return;
  }
  tally.cases++;
  const isRight = (found: Answer): boolean => isSame(found, answer);
  await followOffers(desk, { sent, isRight, tallies: offers, name: gold.id });
  const { answer: found, steps, followed } = await work(desk, sent);
  if (isSame(found, answer)) tally.after[steps === 0 ? 0 : steps === 1 ? 1 : 2]++;
  else tally.lost.push(`${gold.id} [${followed.join(", ")}] ${found.status} ${found.rows.length} rows\n${text}`);
}

/** The same rows whatever their order, and the order of their columns. */
function isSame(found: Answer, gold: Answer): boolean {
  return found.status === "ok" && JSON.stringify(rowsOf(found)) === JSON.stringify(rowsOf(gold));
}

function rowsOf({ columns, rows }: Answer): readonly string[] {
  const order = columns.map((name, at) => ({ name, at })).toSorted((one, other) => (one.name < other.name ? -1 : 1));
  const shown = rows.map((row) => JSON.stringify(order.map(({ name, at }) => [name, row[at] ?? null])));
  // An update says nothing of how often a row is wanted.
  return [...new Set(shown)].toSorted();
}

async function print(tallies: ReadonlyMap<string, Tally>, golds: number, ms: number): Promise<void> {
  const lines = [...tallies].map(([kind, { cases, after, harmless }]) => {
    const recovered = after[0] + after[1] + after[2];
    const percent = cases === 0 ? "-" : `${((100 * recovered) / cases).toFixed(1)} %`;
    return { kind, cases, after, recovered, percent, harmless };
  });
  const cases = lines.reduce((sum, line) => sum + line.cases, 0);
  const recovered = lines.reduce((sum, line) => sum + line.recovered, 0);
  process.stdout.write(`${golds} queries, ${cases} broken ones, ${Math.round(ms / 1000)} s\n`);
  process.stdout.write(`${"kind".padEnd(28)}cases  0 steps  1 step  2 steps  recovered  harmless\n`);
  for (const line of lines) {
    const [none, one, two] = line.after.map(String);
    const counts = `${String(line.cases).padStart(5)} ${none?.padStart(8)} ${one?.padStart(7)} ${two?.padStart(8)}`;
    const ends = `${line.percent.padStart(10)} ${String(line.harmless).padStart(9)}`;
    process.stdout.write(`${line.kind.padEnd(28)}${counts} ${ends}\n`);
  }
  const share = (100 * recovered) / Math.max(1, cases);
  process.stdout.write(`recovered in two steps: ${share.toFixed(1)} % (target 95 %)\n`);
  if (process.env["BENCH_LOST"] !== undefined) {
    for (const [kind, { lost }] of tallies) for (const each of lost) process.stdout.write(`\nLOST ${kind}: ${each}\n`);
  }
  const kinds = Object.fromEntries(tallies);
  await writeReport("agents-recover", { golds, cases, recovered, share, kinds });
}
