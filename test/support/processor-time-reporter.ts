import { relative } from "node:path";
import type { Reporter, TestModule, Vitest } from "vitest/node";

interface Measured {
  readonly name: string;
  readonly ms: number;
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
    }));
    const [only, ...others] = modules;
    const tests = others.length > 0 ? [] : [...(only?.children.allTests() ?? [])];
    print(tests.map((test) => ({ name: test.fullName, ms: test.meta().processorMs ?? 0 })));
    print(files);
    print([{ name: `${files.length} files`, ms: files.reduce((sum, { ms }) => sum + ms, 0) }]);
  }
}

function print(measured: readonly Measured[]): void {
  for (const { name, ms } of measured.toSorted((one, other) => other.ms - one.ms)) {
    process.stdout.write(`${(ms / 1000).toFixed(1).padStart(7)} s  ${name}\n`);
  }
}
