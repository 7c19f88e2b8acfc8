import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { processorMs } from "../../../shards/src/processor-time.ts";
import type { ShardReport } from "../../../shards/src/report/shard-report.ts";
import { createShardCommands } from "../../../shards/src/service/commands.ts";
import { storeOpener } from "../../../src/hosting/file-store.ts";
import { rounded } from "../proxy/report.ts";
import { printRows } from "../void/print-rows.ts";
import { type SkewedSize, writeSkewedDataset } from "./skewed-dataset.ts";

/** The default mode over one generated dataset; nothing is written. */
export interface FederatingMeasure extends SkewedSize {
  readonly triples: number;
  /** Of processors, all threads together. */
  readonly cpuSeconds: number;
  readonly rules: number;
  readonly shards: number;
  /** Share of the triples in the largest shard. */
  readonly largest: number;
  /** Queries that a rule covers, whose answer one shard has, that have no answer, and of which that is unknown. */
  readonly covered: number;
  readonly answeredAlone: number;
  readonly empty: number;
  readonly unknown: number;
}

const quickSizes: readonly SkewedSize[] = [{ classes: 60, subjects: 1_000, queries: 60 }];
const sizes: readonly SkewedSize[] = [
  ...quickSizes,
  { classes: 300, subjects: 4_950, queries: 500 },
  { classes: 300, subjects: 12_120, queries: 100 },
  { classes: 300, subjects: 121_200, queries: 408 },
];

/** Chooses rules for generated datasets in the default mode. @throws FedwayError as a build */
export async function measureFederating({ quick }: { readonly quick: boolean }): Promise<readonly FederatingMeasure[]> {
  const measures: FederatingMeasure[] = [];
  for (const size of quick ? quickSizes : sizes) {
    process.stderr.write(`bench shards: rules for ${size.classes} classes, ${size.queries} queries\n`);
    measures.push(await measureSize(size));
  }
  print(measures);
  return measures;
}

async function measureSize(size: SkewedSize): Promise<FederatingMeasure> {
  const folder = mkdtempSync(join(tmpdir(), "fedway-bench-"));
  try {
    const spec = await writeSkewedDataset(folder, size);
    const commands = createShardCommands(folder, storeOpener);
    const { signal } = new AbortController();
    const startMs = processorMs();
    const [built] = await commands.build(spec, {
      dryRun: true,
      allow: [],
      signal,
      onProgress: () => {},
    });
    if (built === undefined) throw new Error("nothing was built");
    return {
      ...size,
      cpuSeconds: (processorMs() - startMs) / 1000,
      ...figuresOf(built.report),
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function figuresOf({ rules, shards, queries }: ShardReport) {
  const triples = shards.reduce((sum, shard) => sum + shard.triples, 0);
  const count = (source: (typeof queries)[number]["source"]): number =>
    queries.filter((query) => query.source === source).length;
  return {
    triples,
    rules: rules.length,
    shards: shards.length,
    largest: Math.max(...shards.map((shard) => shard.triples)) / triples,
    covered: queries.filter((query) => query.rules.length > 0).length,
    answeredAlone: count("one-shard"),
    empty: count("none"),
    unknown: count(undefined),
  };
}

function print(measures: readonly FederatingMeasure[]): void {
  const heads = "triples,queries,CPU (s),rules,shards,largest,covered,answered alone,empty,unknown".split(",");
  const rows = measures.map((each) => [
    String(each.triples),
    String(each.queries),
    rounded(each.cpuSeconds),
    String(each.rules),
    String(each.shards),
    `${Math.round(each.largest * 100)} %`,
    String(each.covered),
    String(each.answeredAlone),
    String(each.empty),
    String(each.unknown),
  ]);
  printRows("Choosing rules in the default mode (aims: 40,000 triples in 100 s, 100,000 in 60 s)", [heads, ...rows]);
}
