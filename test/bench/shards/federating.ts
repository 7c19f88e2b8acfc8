import { mkdtempSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { interpretationOf } from "../../../shards/src/build-problem.ts";
import { learnCells } from "../../../shards/src/load/cells.ts";
import { learn } from "../../../shards/src/load/learn.ts";
import { loadQueries } from "../../../shards/src/load/load-queries.ts";
import { hashOf, placementOf } from "../../../shards/src/rules/placement.ts";
import { type Cell, type RuleKind, ruleKinds } from "../../../shards/src/rules/problem.ts";
import { openQueryAnswers } from "../../../shards/src/rules/query-answers.ts";
import { featuresOf, readQueries } from "../../../shards/src/rules/query-features.ts";
import { readShardSpec } from "../../../shards/src/spec.ts";
import { rdf } from "../../../src/rdf/vocabularies.ts";
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
  /** Of the queries, those that rules of each kind cover. */
  readonly kinds: Readonly<Record<RuleKind, number>>;
  /** Of the triples, those that rules of each kind claim. */
  readonly claims: Readonly<Record<RuleKind, number>>;
  /** Of the queries, those whose answer differs without the shard that most of them need. */
  readonly neediest: number;
  /** The same of a layout that knows no query. */
  readonly hashed: { readonly answeredAlone: number; readonly neediest: number };
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
    const cpuSeconds = (processorMs() - startMs) / 1000;
    const used = built.report.readings.find((each) => each.used);
    const ask = await openLayouts(folder);
    const place = placementOf(used?.rules ?? [], built.report.precedence, built.report.groups);
    return {
      ...size,
      cpuSeconds,
      ...figuresOf(built.report),
      neediest: (await ask(({ types, predicate, bucket }) => place(types, predicate, bucket))).neediest,
      hashed: await ask(hashedKey),
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Types by a hash of their subjects, all else by a hash of its predicate: six shards. */
const hashedKey = ({ predicate, bucket }: Cell): string =>
  predicate === rdf.type ? `types ${bucket}` : `rest ${hashOf(predicate) % 4}`;

/** Asks the queries of a dataset over layouts, which say of each cell in which shard it is. */
async function openLayouts(folder: string) {
  const { signal } = new AbortController();
  const reading = interpretationOf(readShardSpec(JSON.parse(readFileSync(join(folder, "spec.json"), "utf8"))));
  const { queries: loaded } = await loadQueries(join(folder, "queries.json"));
  const queries = (await readQueries(loaded)).map((query) => featuresOf(query, reading));
  const learned = await learn([{ path: join(folder, "data.nt") }]);
  const { buckets } = reading;
  const cells = await learnCells({ learned, buckets, patterns: queries.map(({ patterns }) => patterns) });
  const openStore = storeOpener({ timeoutMs: 20_000, memoryMb: 768, maxAnswerBytes: 64 * 1024 * 1024 });
  return async (keyOf: (cell: Cell) => string) => {
    const shards = [...new Set(cells.cells.map(keyOf))];
    const parts = cells.cells.map((cell) => shards.indexOf(keyOf(cell)));
    const data = { learned, buckets, queries, cells, parts };
    const answers = await openQueryAnswers(data, { openStore, signal, totalMs: 600_000 });
    const needed = (await answers?.neededCells()) ?? [];
    const sources = (await answers?.sources(shards)) ?? [];
    await answers?.close();
    return {
      answeredAlone: sources.filter(({ source }) => source === "one-shard").length,
      neediest: Math.max(...shards.map((_, shard) => needed.filter((own) => own?.includes(shard)).length)),
    };
  };
}

const letters = { vertical: "v/", class: "c/", horizontal: "h/" } as const;

function figuresOf({ rules, shards, queries }: ShardReport) {
  const triples = shards.reduce((sum, shard) => sum + shard.triples, 0);
  const count = (source: (typeof queries)[number]["source"]): number =>
    queries.filter((query) => query.source === source).length;
  const byKind = (of: (kind: RuleKind) => number) => ({
    vertical: of("vertical"),
    class: of("class"),
    horizontal: of("horizontal"),
  });
  const covering = (kind: RuleKind) => new Set(rules.flatMap((rule) => (rule.kind === kind ? rule.covers : []))).size;
  const claimed = (kind: RuleKind): number =>
    shards.reduce((sum, shard) => sum + (shard.key.startsWith(letters[kind]) ? shard.triples : 0), 0);
  return {
    kinds: byKind((kind) => covering(kind) / queries.length),
    claims: byKind((kind) => claimed(kind) / triples),
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

const shares = (each: FederatingMeasure["kinds"]): string =>
  ruleKinds.map((kind) => `${Math.round(each[kind] * 100)} %`).join(" ");

function print(measures: readonly FederatingMeasure[]): void {
  const heads =
    "triples,queries,CPU (s),rules,shards,largest,covered,answered alone,empty,unknown,V C H cover,V C H claim,shard needed by most,hashed: alone,needed by most".split(
      ",",
    );
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
    shares(each.kinds),
    shares(each.claims),
    String(each.neediest),
    String(each.hashed.answeredAlone),
    String(each.hashed.neediest),
  ]);
  printRows("Choosing rules in the default mode (aims: 40,000 triples in 100 s, 100,000 in 60 s)", [heads, ...rows]);
}
