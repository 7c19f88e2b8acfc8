import { cpus } from "node:os";
import { type Comparison, compareWithTruth } from "../support/compare-with-truth.ts";
import { type DataShape, describedUnits, type Triple } from "../support/described-data.ts";
import { createEndpointDescriber } from "../support/endpoint-describer.ts";
import { enginePolicies } from "../support/simulated-engine/policy.ts";
import {
  type SimulatedEngine,
  type SimulatedEngines,
  startSimulatedEngines,
} from "../support/simulated-engine/start-engines.ts";
import { type DataTruth, truthOf } from "../support/void-truth.ts";
import { rounded, writeReport } from "./proxy/report.ts";
import { describeInProcess } from "./void/describe-in-process.ts";
import { printRows } from "./void/print-rows.ts";
import type { VoidDescription } from "../../src/registry/descriptions.ts";

/** One description of an endpoint without limits. */
interface SizeMeasure {
  readonly triples: number;
  readonly classes: number;
  readonly classProperties: number;
  readonly queries: number;
  readonly bytes: number;
  readonly seconds: number;
  readonly startBytes: number;
  readonly peakBytes: number;
  readonly quality: Quality;
}

/** One description of a simulated engine. */
interface EngineMeasure {
  readonly engine: string;
  readonly queries: number;
  readonly bytes: number;
  /** On the clock that the engines' answers take their time on. */
  readonly virtualSeconds: number;
  readonly quality: Quality;
}

/** Of a `Comparison`, the numbers. */
interface Quality {
  readonly exactShare: number;
  readonly recall: number;
  readonly precision: number;
  readonly completeShare: number;
  readonly wrong: number;
  readonly unfinished: boolean;
}

const seed = 20_240_601;
const budget = { requests: 5_000 };

/**
 * Measures how endpoints are described: what it costs on Oxigraph over data of several sizes, and how much of the truth
 * is found, and how little is made up, on simulated engines with limits.
 * @throws Error when a description says something that is not true
 */
export async function runVoidBench(options: { readonly quick: boolean }): Promise<void> {
  const sizes: SizeMeasure[] = [];
  for (const triples of options.quick ? [10_000] : [10_000, 100_000, 1_000_000])
    for (const classes of [5, 50, 500]) sizes.push(await measureSize({ seed, triples, classes }));
  const engines = await measureEngines({ seed, triples: options.quick ? 10_000 : 100_000, classes: 50 });
  printSizes(sizes);
  printEngines(engines);
  const machine = { node: process.version, processors: cpus().length, model: cpus()[0]?.model ?? "unknown" };
  process.stdout.write(`\nwritten to ${await writeReport("void", { machine, seed, sizes, engines })}\n`);
  const wrong = [...sizes, ...engines].reduce((sum, { quality }) => sum + quality.wrong, 0);
  if (wrong > 0) throw new Error(`${wrong} statements are wrong`);
}

const step = (text: string): void => {
  process.stderr.write(`bench void: ${text}\n`);
};

function* triplesOf(shape: DataShape): Generator<Triple> {
  for (const unit of describedUnits(shape)) yield* unit;
}

async function measureSize(shape: DataShape): Promise<SizeMeasure> {
  step(`${shape.triples} triples, ${shape.classes} classes`);
  const simulated = await startSimulatedEngines(shape, [{ name: "plain" }]);
  try {
    const { description, seconds, startBytes, peakBytes } = await describeInProcess(urlOf(simulated));
    const truth = truthOf(triplesOf(shape));
    return {
      triples: truth.triples,
      classes: truth.classes,
      classProperties: [...truth.classPartitions.values()].reduce((sum, { properties }) => sum + properties.size, 0),
      queries: description.cost.requests,
      bytes: description.cost.bytes,
      seconds,
      startBytes,
      peakBytes,
      quality: qualityOf(description, truth),
    };
  } finally {
    await simulated.close();
  }
}

function urlOf({ engines: [engine] }: SimulatedEngines): string {
  if (engine === undefined) throw new Error("no engine");
  return engine.url;
}

async function measureEngines(shape: DataShape): Promise<readonly EngineMeasure[]> {
  const truth = truthOf(triplesOf(shape));
  const simulated = await startSimulatedEngines(shape, enginePolicies(shape.triples));
  const measures: EngineMeasure[] = [];
  try {
    for (const engine of simulated.engines) {
      step(`engine ${engine.policy.name}, ${shape.triples} triples`);
      const startedMs = simulated.clock.describer.now();
      const description = await describeEngine(simulated, engine);
      measures.push({
        engine: engine.policy.name,
        queries: description.cost.requests,
        bytes: description.cost.bytes,
        virtualSeconds: (simulated.clock.describer.now() - startedMs) / 1_000,
        quality: qualityOf(description, truth),
      });
    }
  } finally {
    await simulated.close();
  }
  return measures;
}

/** An engine that dies is brought back, and the description goes on where it stopped. */
async function describeEngine(
  simulated: SimulatedEngines,
  { url, policy, revive }: SimulatedEngine,
): Promise<VoidDescription> {
  const describer = createEndpointDescriber(simulated.clock);
  let alive = policy.diesAfter === undefined;
  try {
    const { description } = await describer.describeToTheEnd(url, {
      budget,
      async betweenRuns() {
        if (!alive) await revive();
        alive = true;
      },
    });
    return description;
  } finally {
    await describer.close();
  }
}

function qualityOf(description: VoidDescription, truth: DataTruth): Quality {
  const comparison = compareWithTruth(description, truth);
  const { exactShare, recall, precision, completeLists, lists } = comparison;
  const wrong = wrongStatements(comparison);
  for (const statement of wrong.slice(0, 10)) process.stderr.write(`  wrong: ${statement}\n`);
  const completeShare = completeLists / lists;
  return { exactShare, recall, precision, completeShare, wrong: wrong.length, unfinished: description.unfinished };
}

const wrongStatements = ({ wrongExact, wrongBounds, wrongComplete, invented }: Comparison): readonly string[] => [
  ...wrongExact,
  ...wrongBounds,
  ...wrongComplete,
  ...invented,
];

const percent = (share: number): string => `${rounded(Math.floor(share * 1_000) / 10)} %`;

const qualityCells = ({ exactShare, recall, completeShare, wrong, unfinished }: Quality): readonly string[] => [
  percent(exactShare),
  percent(completeShare),
  percent(recall),
  String(wrong),
  unfinished ? "unfinished" : "",
];
const qualityHeads = ["exact", "complete lists", "class-property facts", "wrong", ""];

function printSizes(sizes: readonly SizeMeasure[]): void {
  const heads = ["triples", "classes", "class-properties", "queries", "MB", "seconds", "memory at start, peak (MB)"];
  printRows("Oxigraph without limits", [
    [...heads, ...qualityHeads],
    ...sizes.map((size) => [
      String(size.triples),
      String(size.classes),
      String(size.classProperties),
      String(size.queries),
      rounded(size.bytes / 1e6),
      rounded(size.seconds),
      `${rounded(size.startBytes / 1e6)}, ${rounded(size.peakBytes / 1e6)}`,
      ...qualityCells(size.quality),
    ]),
  ]);
}

function printEngines(engines: readonly EngineMeasure[]): void {
  printRows("Simulated engines", [
    ["engine", "queries", "MB", "simulated seconds", ...qualityHeads],
    ...engines.map(({ engine, queries, bytes, virtualSeconds, quality }) => [
      engine,
      String(queries),
      rounded(bytes / 1e6),
      rounded(virtualSeconds),
      ...qualityCells(quality),
    ]),
  ]);
}
