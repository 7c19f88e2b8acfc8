import { relative } from "node:path";
import type { Reporter, TestModule, Vitest } from "vitest/node";

interface Measured {
  readonly name: string;
  readonly ms: number;
  readonly importMs?: number;
}

const SHOWN_OF_A_SUITE = 20;

/** Prints the processor time of the 20 dearest files of each suite; of a single file that of its 20 dearest tests, too. */
export default class ProcessorTimeReporter implements Reporter {
  #root = "";

  onInit(vitest: Vitest): void {
    this.#root = vitest.config.root;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const [only, ...others] = modules;
    const tests = others.length > 0 ? [] : [...(only?.children.allTests() ?? [])];
    print(tests.map((test) => ({ name: test.fullName, ms: test.meta().processorMs ?? 0 })));
    for (const [suite, files] of Map.groupBy(modules, ({ project }) => project.name)) this.#printSuite(suite, files);
  }

  #printSuite(suite: string, modules: readonly TestModule[]): void {
    const files = modules.map((module) => ({
      name: relative(this.#root, module.moduleId),
      ms: module.meta().processorMs ?? 0,
      importMs: module.meta().importMs ?? 0,
    }));
    process.stdout.write(`\nProcessor time of ${suite}, child processes included\n`);
    print(files);
    print([{ name: `${files.length} files`, ...sumOf(files) }]);
  }
}

const sumOf = (files: readonly Measured[]): Omit<Measured, "name"> => ({
  ms: files.reduce((sum, { ms }) => sum + ms, 0),
  importMs: files.reduce((sum, { importMs = 0 }) => sum + importMs, 0),
});

function print(measured: readonly Measured[]): void {
  const dearest = measured.toSorted((one, other) => other.ms - one.ms).slice(0, SHOWN_OF_A_SUITE);
  for (const { name, ms, importMs } of dearest) {
    const imports = importMs === undefined ? "" : ` (imports ${seconds(importMs)} s)`;
    process.stdout.write(`${seconds(ms).padStart(7)} s  ${name}${imports}\n`);
  }
}

const seconds = (ms: number): string => (ms / 1000).toFixed(1);
