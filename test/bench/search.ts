import { describedModels } from "../support/described-models.ts";
import { syntheticDescription, syntheticEntries } from "../support/synthetic-catalog.ts";
import { measureDataset } from "./registry-dataset.ts";
import { type Measure, printTable, writeReport } from "./proxy/report.ts";
import type { CatalogEntry } from "../../src/registry/catalog.ts";
import type { Finder } from "../../src/registry/find.ts";

const queries = [
  "protein",
  "prot",
  "protien",
  "ancient coins museum",
  "weather stations of cities",
  "Which endpoints have genes and diseases of model organisms?",
  "hasPart",
  "http://vocab7.example/core/Protein12",
  "dataset 4711",
  "geography",
];

interface Timed {
  readonly p50: number;
  readonly p95: number;
}

/** Times, in processor time, search and list over a catalogue of 5,000 entries, described and not. @throws Error when a search finds nothing */
export async function runSearchBench(options: { readonly quick: boolean }): Promise<void> {
  const entries = syntheticEntries(5_000);
  const measures: Measure[] = [];
  const add = (name: string, value: number, target?: number): void => {
    const met = target !== undefined && { target: `< ${target} ms`, met: value < target };
    measures.push({ name, fedway: "", value, unit: "ms", ...met });
  };
  const build = timed(() => built(entries, 0));
  add("build, 5,000 entries", build.ms, 1_500);
  timeAll(build.result.finder, { entries, label: "plain", rounds: options.quick ? 5 : 30, add });

  const described = timed(() => built(entries, 500));
  const { terms, uses } = described.result.models.size;
  add(`build, 500 of them described (${terms} terms, ${uses} uses)`, described.ms);
  timeAll(described.result.finder, { entries, label: "described", rounds: options.quick ? 5 : 30, add });

  await measureDataset(options, (measure) => measures.push(measure));
  printTable(measures);
  process.stdout.write(`\nwritten to ${await writeReport("search", { node: process.version, measures })}\n`);
}

function built(entries: readonly CatalogEntry[], described: number) {
  const known = describedModels({ entries });
  for (const [number, { id }] of entries.slice(0, described).entries()) {
    known.models.setDescription(id, syntheticDescription(number, { classes: 40, properties: 120 }));
  }
  return known;
}

interface Timing {
  readonly entries: readonly CatalogEntry[];
  readonly label: string;
  readonly rounds: number;
  readonly add: (name: string, value: number, target?: number) => void;
}

function timeAll(index: Finder, { entries, label, rounds, add }: Timing): void {
  let found = 0;
  const search = percentiles(rounds, (q) => {
    found += index.search({ q, limit: 20, offset: 0 }).total;
  });
  const filter = percentiles(rounds, (q) => {
    found += index.filterEntries(entries, { q, limit: 100, offset: 0 }).total;
  });
  const list = percentiles(rounds, () => {
    found += index.filterEntries(entries, { keyword: "geography", limit: 100, offset: 0 }).total;
  });
  if (found === 0) throw new Error("nothing was found");
  for (const [name, { p50, p95 }] of Object.entries({ search, "filter by text": filter, "list by keyword": list })) {
    add(`${label}: ${name}, p50`, p50);
    add(`${label}: ${name}, p95`, p95, 50);
  }
}

function percentiles(rounds: number, run: (q: string) => void): Timed {
  const times: number[] = [];
  for (let round = -1; round < rounds; round++) {
    for (const q of queries) {
      const { ms } = timed(() => run(q));
      // The first round warms up.
      if (round >= 0) times.push(ms);
    }
  }
  const sorted = times.toSorted((left, right) => left - right);
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
  return { p50: at(0.5), p95: at(0.95) };
}

function timed<Result>(run: () => Result): { readonly result: Result; readonly ms: number } {
  // Processor time of this thread: other programs on the machine do not count.
  const before = process.threadCpuUsage();
  const result = run();
  const { user, system } = process.threadCpuUsage(before);
  return { result, ms: (user + system) / 1_000 };
}
