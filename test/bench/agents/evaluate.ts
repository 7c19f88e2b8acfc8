import { join } from "node:path";
import {
  evaluateRun,
  examplePackage,
  modelledService,
  perfectAgent,
  recordsIn,
} from "../../support/evaluated-package.ts";
import { newFolder } from "../../support/scratch-folder.ts";
import { startScriptedModel } from "../../support/scripted-model.ts";
import { printRows } from "../void/print-rows.ts";

/** What `fedway evaluate run` adds to each question, beside what the service takes to answer it; the command's start is apart. */
export async function runEvaluateBench({ quick }: { readonly quick: boolean }): Promise<void> {
  const benchmark = await examplePackage();
  const model = await startScriptedModel();
  const service = await modelledService(benchmark, model.url);
  try {
    model.answer(perfectAgent(benchmark));
    const rows = [["", "questions", "ms a question", "asking", "added (mean)", "added (median)", "added (most)"]];
    for (const parallel of quick ? [1] : [1, 4]) {
      const out = join(newFolder(), "run");
      const words = ["--service", service.url, "--token", "off", "--model-name", "scripted", "--setup", "baseline"];
      const startedMs = performance.now();
      const repeats = quick ? "1" : "20";
      const { code, err } = await evaluateRun([
        benchmark.folder,
        ...words,
        "--out",
        out,
        "--repeats",
        repeats,
        "--parallel",
        `${parallel}`,
      ]);
      if (code !== 0) throw new Error(err);
      const records = await recordsIn(out);
      const tookMs = ((performance.now() - startedMs) * parallel) / records.length;
      const inside = records.map(({ calls = [] }) => Math.max(...calls.map(({ atMs, ms }) => atMs + ms)));
      const added = records.map(({ ms }, at) => ms - (inside[at] ?? 0)).toSorted((one, other) => one - other);
      const mean = (numbers: readonly number[]): number =>
        numbers.reduce((sum, each) => sum + each, 0) / numbers.length;
      const figures = [tookMs, mean(inside), mean(added), added[added.length >> 1] ?? 0, added.at(-1) ?? 0];
      rows.push([`${parallel} at once`, `${records.length}`, ...figures.map((figure) => figure.toFixed(1))]);
    }
    printRows("fedway evaluate run over the example, a model that answers at once", rows);
  } finally {
    await service.close();
    await model.close();
  }
}
