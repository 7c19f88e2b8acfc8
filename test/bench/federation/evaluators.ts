import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { childrenOf, residentBytes } from "../../support/child-processes.ts";
import { median, rounded, writeReport } from "../proxy/report.ts";

// What it costs, and what it gains, that federated queries are evaluated in processes of their own.

interface Peer {
  readonly name: string;
  readonly origin: string;
  readonly process: ChildProcess;
}

interface Sample {
  readonly seconds: number;
  readonly firstByteMs: number;
  readonly bytes: number;
}

interface Case {
  readonly name: string;
  readonly query: string;
  readonly rows: number;
  /** Sent at once. */
  readonly atOnce: number;
  /** Repetitions in one round. */
  readonly times: number;
}

const script = (name: string): string => new URL(`./${name}.ts`, import.meta.url).pathname;

async function start(name: string, file: string, args: readonly string[] = []): Promise<Peer> {
  const child = spawn(process.execPath, [script(file), ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line]: Buffer[] = await once(child.stdout, "data");
  return { name, origin: String(line).trim(), process: child };
}

const ask = async ({ origin }: Peer, query: string): Promise<Sample> => {
  const startedMs = performance.now();
  const response = await fetch(origin, { method: "POST", body: query });
  if (!response.ok || !response.body) throw new Error(`${response.status} ${await response.text()}`);
  let firstByteMs = 0;
  let bytes = 0;
  for await (const piece of response.body) {
    firstByteMs ||= performance.now() - startedMs;
    bytes += piece.length;
  }
  return { seconds: (performance.now() - startedMs) / 1_000, firstByteMs, bytes };
};

interface Round {
  readonly rowsPerSecond: number;
  readonly firstByteMs: number;
  readonly healthMs: number;
}

/** One round of a case, with a request for /health every 10 ms beside it. */
async function round(peer: Peer, { query, rows, atOnce, times }: Case): Promise<Round> {
  const samples: Sample[] = [];
  const health: number[] = [];
  const over = new AbortController();
  const watch = (async () => {
    while (!over.signal.aborted) {
      const startedMs = performance.now();
      await (await fetch(`${peer.origin}/health`)).text();
      health.push(performance.now() - startedMs);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  })();
  const startedMs = performance.now();
  for (let time = 0; time < times; time++) {
    samples.push(...(await Promise.all(Array.from({ length: atOnce }, () => ask(peer, query)))));
  }
  const seconds = (performance.now() - startedMs) / 1_000;
  over.abort();
  await watch;
  const sizes = new Set(samples.map(({ bytes }) => bytes));
  if (sizes.size !== 1) throw new Error(`answers of ${[...sizes].join(", ")} bytes`);
  return {
    rowsPerSecond: (rows * samples.length) / seconds,
    firstByteMs: median(samples.map((sample) => sample.firstByteMs)),
    healthMs: Math.max(...health),
  };
}

/** Compares evaluation in the server's own process with evaluators. @throws Error when an answer fails or differs */
export async function benchEvaluators({ quick }: { readonly quick: boolean }): Promise<void> {
  const endpoints = await start("endpoints", "endpoints");
  const peers: Peer[] = [];
  try {
    peers.push(await start("in-process", "executor-server", ["in-process"]));
    peers.push(await start("evaluators", "executor-server", ["evaluators", "2"]));
    const join = (rows: number): string =>
      `SELECT * { SERVICE <${endpoints.origin}/left/${rows}/sparql> { ?s <urn:left> ?left }
        SERVICE <${endpoints.origin}/right/sparql> { ?s <urn:right> ?right } }`;
    const union = (rows: number): string =>
      `SELECT * { { SERVICE <${endpoints.origin}/left/${rows}/sparql> { ?s <urn:left> ?left } }
        UNION { SERVICE <${endpoints.origin}/left/${rows + 1}/sparql> { ?s <urn:left> ?left } } }`;
    const cases: Case[] = [
      { name: "join, 10 rows", query: join(10), rows: 10, atOnce: 1, times: 50 },
      { name: "join, 10 rows, 16 at once", query: join(10), rows: 10, atOnce: 16, times: 10 },
      { name: "join, 20,000 rows", query: join(20_000), rows: 20_000, atOnce: 1, times: 2 },
      { name: "join, 20,000 rows, 4 at once", query: join(20_000), rows: 20_000, atOnce: 4, times: 1 },
      { name: "union, 100,001 rows", query: union(50_000), rows: 100_001, atOnce: 1, times: 2 },
    ];
    for (const peer of peers) for (const one of cases) await round(peer, { ...one, times: 1 });
    const results = await measure(peers, cases, quick ? 3 : 9);
    const memory = peers.map((peer) => ({ name: peer.name, megabytes: memoryOf(peer) / 1e6 }));
    print(results, memory);
    process.stdout.write(
      `\nwritten to ${await writeReport("federation-evaluators", { node: process.version, results, memory })}\n`,
    );
  } finally {
    for (const { process: child } of [...peers, endpoints]) child.kill();
  }
}

type Results = readonly { readonly name: string; readonly peers: readonly (readonly Round[])[] }[];

async function measure(peers: readonly Peer[], cases: readonly Case[], rounds: number): Promise<Results> {
  const results = cases.map(({ name }) => ({ name, peers: peers.map((): Round[] => []) }));
  for (let turn = 0; turn < rounds; turn++) {
    process.stderr.write(`bench federation: round ${turn + 1} of ${rounds}\n`);
    for (const [index, one] of cases.entries()) {
      for (const [place, peer] of peers.entries()) results[index]?.peers[place]?.push(await round(peer, one));
    }
  }
  return results;
}

const memoryOf = ({ process: { pid = 0 } }: Peer): number =>
  [pid, ...childrenOf(pid)].reduce((sum, each) => sum + residentBytes(each), 0);

function print(results: Results, memory: readonly { readonly name: string; readonly megabytes: number }[]): void {
  const head = [
    "",
    "rows/s here",
    "evaluators",
    "ratio",
    "first byte here, ms",
    "evaluators",
    "/health held, ms",
    "evaluators",
  ];
  const lines = results.map(({ name, peers }) => {
    const of = (key: keyof Round): readonly number[] => peers.map((rounds) => median(rounds.map((each) => each[key])));
    const [here = 0, there = 0] = of("rowsPerSecond");
    const cells = [here, there, there / here, ...of("firstByteMs"), ...of("healthMs")];
    return [name, ...cells.map((cell) => rounded(cell))];
  });
  const table = [head, ...lines];
  const widths = head.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  for (const row of table) {
    process.stdout.write(
      `${row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd()}\n`,
    );
  }
  for (const { name, megabytes } of memory)
    process.stdout.write(`memory afterwards, ${name}: ${rounded(megabytes)} MB\n`);
}
