import { relative } from "node:path";
import type { Reporter, TestModule, Vitest } from "vitest/node";

interface Measured {
  readonly name: string;
  readonly ms: number;
  readonly importMs?: number;
}

/** Prints the processor time of each test file, the dearest first; of one file that of its tests, too. */
export default class ProcessorTimeReporter implements Reporter {
  #root = "";

  onInit(vitest: Vitest): void {
    this.#root = vitest.config.root;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const files = modules.map((module) => ({
      name: relative(this.#root, module.moduleId),
      ms: module.meta().processorMs ?? 0,
      importMs: module.meta().importMs ?? 0,
    }));
    const [only, ...others] = modules;
    const tests = others.length > 0 ? [] : [...(only?.children.allTests() ?? [])];
    print(tests.map((test) => ({ name: test.fullName, ms: test.meta().processorMs ?? 0 })));
    print(files);
    print([{ name: `${files.length} files`, ...sumOf(files) }]);
  }
}

const sumOf = (files: readonly Measured[]): Omit<Measured, "name"> => ({
  ms: files.reduce((sum, { ms }) => sum + ms, 0),
  importMs: files.reduce((sum, { importMs = 0 }) => sum + importMs, 0),
});

function print(measured: readonly Measured[]): void {
  for (const { name, ms, importMs } of measured.toSorted((one, other) => other.ms - one.ms)) {
    const imports = importMs === undefined ? "" : ` (imports ${seconds(importMs)} s)`;
    process.stdout.write(`${seconds(ms).padStart(7)} s  ${name}${imports}\n`);
  }
}

const seconds = (ms: number): string => (ms / 1000).toFixed(1);
