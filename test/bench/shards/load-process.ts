import { createReadStream, readFileSync } from "node:fs";
import { Parser } from "n3";
import { learn } from "../../../shards/src/load/learn.ts";
import { materialise } from "../../../shards/src/materialise/materialise.ts";
import { requestFor } from "../../support/shard-build.ts";
import { vocabulary } from "./generate-triples.ts";
import type { LoadReport, LoadTask } from "./run-load.ts";

// One way to go through a file, alone in this process: nothing else counts into its time and memory.

const task = JSON.parse(process.argv[2] ?? "") as LoadTask;

/** Parses only: N3.js, with its callback, as its README advises for speed. */
const parse = ({ input }: LoadTask): Promise<number> =>
  new Promise((resolve, reject) => {
    let triples = 0;
    new Parser({ format: "N-Triples" }).parse(createReadStream(input), (error, quad) => {
      if (error) reject(error);
      else if (quad) triples += 1;
      else resolve(triples);
    });
  });

const rules = [
  { kind: "horizontal", class: vocabulary("Class1"), buckets: 2 },
  { kind: "horizontal", class: vocabulary("Class2"), buckets: 2 },
  { kind: "vertical", predicates: [vocabulary("property0"), vocabulary("property1")] },
  { kind: "class", classes: [vocabulary("Class3"), vocabulary("Class4")] },
] as const;

/** The whole pipeline but for the solver: learns the classes, tells cells apart, writes the shards. */
async function shard({ input, target }: LoadTask): Promise<number> {
  const learned = await learn([{ path: input }]);
  const patterns = [[{ predicate: `<${vocabulary("property0")}>` }, { object: `<${vocabulary("Class1")}>` }]];
  const gather = { learned, buckets: 2, patterns };
  return (await materialise({ ...requestFor(learned, target, { rules }), gather })).triples;
}

const ways = { parse, shard };

const startedMs = performance.now();
const triples = await ways[task.way](task);
const seconds = (performance.now() - startedMs) / 1_000;
const { user, system } = process.cpuUsage();
const peakKilobytes = /^VmHWM:\s+(\d+) kB$/mu.exec(readFileSync("/proc/self/status", "utf8"))?.[1];
const report: LoadReport = {
  triples,
  seconds,
  cpuSeconds: (user + system) / 1e6,
  peakBytes: Number(peakKilobytes ?? Number.NaN) * 1_024,
};
process.send?.(report, () => process.disconnect());
