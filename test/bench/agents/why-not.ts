import { tableOf } from "../../support/table-rows.ts";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import oxigraph from "oxigraph";
import type { Problem } from "../../../src/errors/fedway-error.ts";
import { createRandom } from "../../support/random.ts";
import { startEndpoints } from "../../support/federation-harness.ts";
import { startService, type RunningService } from "../../support/running-service.ts";
import { generateLibrary, type LibraryData } from "./why-not/generated-library.ts";
import { libraryCases, type PlantedCase } from "./why-not/library-cases.ts";
import { openShardFederations, shardCases } from "./why-not/shard-cases.ts";

interface Table {
  readonly run: string;
  readonly status: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | null)[])[];
  readonly diagnosis: Problem | null;
}

/** What became of one planted mistake. */
interface Judged {
  readonly planted: PlantedCase;
  readonly problem: Problem | null;
  /** The pattern or filter is the planted one. */
  readonly pattern: boolean;
  /** The endpoint is one that the pattern is about. */
  readonly endpoint: boolean;
  /** The first repair gives the rows of the query as it was. */
  readonly mended: boolean;
  /** Named right within the second that an answer may take. */
  readonly soon: boolean;
  readonly answerMs: number;
  readonly questions: number;
  readonly requests: number;
  readonly explainMs: number;
}

/** Cases in all; half of them over the shards where their data are there. */
const wanted = { all: 500, quick: 80 };

/**
 * Plants one mistake each in queries that have answers, and asks the service why they are empty: by `explain_result` and in
 * the answer of `/api/query` itself. Throws when a query with rows is given a cause.
 */
export async function runWhyNotBench({ quick }: { readonly quick: boolean }): Promise<void> {
  const count = quick ? wanted.quick : wanted.all;
  const shards = await openShardFederations();
  const judged = [
    ...(await judgeLibrary(shards ? count / 2 : count)),
    ...(shards ? await judgeAll(shards.service, shardCases(shards, createRandom(11)), count / 2) : []),
  ];
  await shards?.close();
  print(judged);
  const folder = join(".artifacts", "bench");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "agents-why-not.json"), JSON.stringify(judged, null, 1));
}

async function judgeLibrary(count: number): Promise<readonly Judged[]> {
  const data = generateLibrary(createRandom(7));
  const { library, reviews, shops } = data;
  const endpoints = await startEndpoints({ library, reviews, shops });
  const service = await startService(endpoints.urls, { FEDWAY_EVALUATORS: "1" });
  try {
    // More than are wanted: some are not empty by chance.
    return await judgeAll(service, libraryCases(createRandom(8), 2 * count), count, data);
  } finally {
    await service.close();
    await endpoints.close();
  }
}

async function judgeAll(
  service: RunningService,
  cases: readonly PlantedCase[],
  count: number,
  data?: LibraryData,
): Promise<readonly Judged[]> {
  const whole = new oxigraph.Store();
  for (const text of data ? [data.library, data.shops, data.truth] : [])
    whole.load(text, { format: "application/n-triples" });
  const judged: Judged[] = [];
  for (const planted of cases) {
    if (judged.length >= count) break;
    const gold = await goldRows(service, planted, whole);
    if (gold.length === 0) continue;
    const result = await judge(service, planted, gold);
    if (result) judged.push(result);
  }
  return judged;
}

async function goldRows(
  service: RunningService,
  planted: PlantedCase,
  whole: oxigraph.Store,
): Promise<readonly string[]> {
  const { query, over } = planted.gold;
  if (over === "place") {
    const table = await ask(service, planted, query);
    if (table.diagnosis) throw new Error(`a query with rows is given a cause: ${query}`);
    return rowsOf(table);
  }
  const answer = JSON.parse(whole.query(query, { results_format: "json" }) as unknown as string) as {
    readonly head: { readonly vars: readonly string[] };
    readonly results: { readonly bindings: readonly Readonly<Record<string, { readonly value: string }>>[] };
  };
  return answer.results.bindings
    .map((row) => answer.head.vars.map((name) => row[name]?.value ?? "").join(" | "))
    .toSorted();
}

/** Values without language and datatype, in any order. */
const rowsOf = ({ rows = [] }: Partial<Table>): readonly string[] =>
  rows
    .map((row) =>
      row.map((cell) => (cell ?? "").replace(/^<(.*)>$/s, "$1").replace(/^"(.*)"[^"]*$/s, "$1")).join(" | "),
    )
    .toSorted();

async function ask(service: RunningService, { endpoint, federation }: PlantedCase, query: string): Promise<Table> {
  const answer = await post<object>(service, "/api/query", { query, endpoint, federation, terms: "ntriples" });
  return tableOf(JSON.stringify(answer));
}

async function post<T>(service: RunningService, path: string, body: unknown): Promise<T> {
  const response = await fetch(service.url + path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  return (await response.json()) as T;
}

/** Undefined for a mistake that does not make the query empty. */
async function judge(
  service: RunningService,
  planted: PlantedCase,
  gold: readonly string[],
): Promise<Judged | undefined> {
  const askedAt = performance.now();
  const table = await ask(service, planted, planted.broken);
  const answerMs = performance.now() - askedAt;
  if (table.status !== "empty") return undefined;
  const startedAt = performance.now();
  const told = await post<{
    readonly data: { readonly diagnosis: Problem | null; readonly questions: number; readonly requests: number };
  }>(service, "/api/tools/explain_result", { run_id: table.run });
  const explainMs = performance.now() - startedAt;
  const { diagnosis: problem, questions, requests } = told.data;
  const soon = isBlamed(planted, table.diagnosis);
  const pattern = isBlamed(planted, problem);
  const [repair] = problem?.repairs ?? [];
  const mended = repair
    ? await ask(
        service,
        planted,
        planted.broken.replace(repair.before, () => repair.after),
      )
    : undefined;
  const isGold = mended !== undefined && rowsOf(mended).join("\n") === gold.join("\n");
  return {
    planted,
    problem,
    pattern,
    endpoint: isAt(planted, problem),
    mended: isGold,
    soon,
    answerMs,
    questions,
    requests,
    explainMs,
  };
}

const plain = (text: string): string => text.replaceAll(/\s+/g, " ").trim();

const isBlamed = ({ blamed }: PlantedCase, problem: Problem | null): boolean =>
  blamed.some((pattern) => plain(pattern) === plain(problem?.where?.pattern ?? ""));

/** A filter is evaluated over all members, so none of them is to blame. */
function isAt({ endpoints }: PlantedCase, problem: Problem | null): boolean {
  if (endpoints.length === 0) return true;
  const told = problem?.where?.endpoint === undefined ? (problem?.endpoints ?? []) : [problem.where.endpoint];
  return told.some((id) => endpoints.includes(id));
}

function print(judged: readonly Judged[]): void {
  const byCause = [...Map.groupBy(judged, ({ planted }) => planted.cause)].toSorted(([a], [b]) =>
    a.localeCompare(b, "en"),
  );
  const head = [
    "cause",
    "cases",
    "named right",
    "mended",
    "in 1 s",
    "questions p50/p95/max",
    "requests p50/max",
    "ms p50/p95",
  ];
  const lines = [...byCause, ["all", judged] as const].map(([cause, own]) => {
    const part = (right: (one: Judged) => boolean): string =>
      `${((100 * own.filter(right).length) / own.length).toFixed(1)} %`;
    const of = (figure: (one: Judged) => number): ((share: number) => number) => quantile(own.map(figure));
    const [questions, requests, ms] = [
      of((one) => one.questions),
      of((one) => one.requests),
      of((one) => one.explainMs),
    ];
    return [
      cause,
      String(own.length),
      part(({ pattern, endpoint }) => pattern && endpoint),
      part(({ mended }) => mended),
      part(({ soon }) => soon),
      `${questions(0.5)}/${questions(0.95)}/${questions(1)}`,
      `${requests(0.5)}/${requests(1)}`,
      `${Math.round(ms(0.5))}/${Math.round(ms(0.95))}`,
    ];
  });
  const widths = head.map((title, at) => Math.max(title.length, ...lines.map((line) => line[at]?.length ?? 0)));
  for (const line of [head, ...lines]) {
    process.stdout.write(
      `${line
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join("  ")
        .trimEnd()}\n`,
    );
  }
  const offered = judged.filter(({ problem }) => (problem?.repairs ?? []).length > 0);
  const right = offered.filter(({ mended }) => mended).length;
  process.stdout.write(
    `${offered.length} repairs were offered; ${((100 * right) / offered.length).toFixed(1)} % give the rows of the query as it was\n`,
  );
  const answer = quantile(judged.map(({ answerMs }) => answerMs));
  process.stdout.write(
    `answers of /api/query with their diagnosis: ${Math.round(answer(0.5))} ms at the median, ${Math.round(answer(0.95))} ms at p95\n`,
  );
  process.stdout.write("targets: named right 95 %, mended 80 %, 20 questions\n");
}

const quantile =
  (values: readonly number[]) =>
  (share: number): number =>
    values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(share * values.length))] ?? 0;
