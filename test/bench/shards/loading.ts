import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rounded } from "../proxy/report.ts";
import { printRows } from "../void/print-rows.ts";
import { generateTriples } from "./generate-triples.ts";
import { type LoadReport, type LoadTask, runLoad } from "./run-load.ts";

/** One way through one dataset. */
export interface LoadMeasure extends LoadReport {
  readonly way: LoadTask["way"];
  readonly size: number;
  /** Speed, of the time that passed and of processor time, as a share of parse-only with N3.js on the same file. */
  readonly share: number;
  readonly cpuShare: number;
}

const ways = ["parse", "shard"] as const;
const rounds = 3;

/**
 * Loads and materialises generated datasets, beside parsing them with N3.js; of each way the best of a few rounds, which
 * take turns. @throws Error when triples are missing
 */
export async function measureLoading({ quick }: { readonly quick: boolean }): Promise<readonly LoadMeasure[]> {
  const measures: LoadMeasure[] = [];
  for (const size of quick ? [100_000] : [100_000, 1_000_000, 10_000_000]) {
    measures.push(...(await measureSize(size, quick || size > 1_000_000 ? 1 : rounds)));
  }
  print(measures);
  return measures;
}

async function measureSize(size: number, times: number): Promise<readonly LoadMeasure[]> {
  const folder = mkdtempSync(join(tmpdir(), "fedway-bench-"));
  try {
    const input = join(folder, "in.nt");
    generateTriples(input, size);
    const best = new Map<LoadTask["way"], LoadReport>();
    for (let round = 0; round < times; round += 1) {
      for (const way of ways) {
        process.stderr.write(`bench shards: ${way}, ${size} triples\n`);
        const report = await runLoad({ way, input, target: join(folder, "shards") });
        await rm(join(folder, "shards"), { recursive: true, force: true });
        if (report.triples !== size) throw new Error(`${way}: ${report.triples} triples of ${size}`);
        if (report.seconds < (best.get(way)?.seconds ?? Number.POSITIVE_INFINITY)) best.set(way, report);
      }
    }
    const parse = best.get("parse")!;
    return [...best].map(([way, report]) => measureOf(way, report, parse));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const measureOf = (way: LoadTask["way"], report: LoadReport, parse: LoadReport): LoadMeasure => ({
  way,
  size: report.triples,
  ...report,
  share: parse.seconds / report.seconds,
  cpuShare: parse.cpuSeconds / report.cpuSeconds,
});

const percent = (share: number): string => `${Math.round(share * 100)} %`;

function print(measures: readonly LoadMeasure[]): void {
  const heads = ["triples", "way", "seconds", "triples/s", "of parse-only", "of its CPU time", "peak (MB)"];
  const rows = measures.map(({ size, way, seconds, share, cpuShare, peakBytes }) => [
    String(size),
    way,
    rounded(seconds),
    String(Math.round(size / seconds)),
    percent(share),
    percent(cpuShare),
    rounded(peakBytes / 1e6),
  ]);
  printRows("Loading and materialising (targets: half of parse-only, under 600 MB)", [heads, ...rows]);
}
