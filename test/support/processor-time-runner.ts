import { readdirSync, readFileSync } from "node:fs";
import { type RunnerTestFile, type RunnerTestSuite, type RunnerTask, TestRunner } from "vitest";

declare module "vitest" {
  interface TaskMeta {
    /** Milliseconds of processor time that a test or a test file took, its child processes included. */
    processorMs?: number;
    /** Of a file: the part of it before its first hook and test, which goes into imports. */
    importMs?: number;
  }
}

/** Of Linux: a hundredth of a second, whatever the kernel's own clock. */
const tickMs = 10;

/**
 * Processor time so far of a process, of its children that ended and of those that run, in milliseconds; 0 where Linux is
 * not. Only children are read: all of `/proc`, before and after each test, cost 3 ms each time, a tenth of a whole run.
 */
function processorMs(pid: string): number {
  const stat = read(`/proc/${pid}/stat`);
  // Counted behind the name, which may hold anything.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return childrenOf(pid).reduce((sum, child) => sum + processorMs(child), ticks * tickMs);
}

const childrenOf = (pid: string): readonly string[] =>
  list(`/proc/${pid}/task`).flatMap((thread) => read(`/proc/${pid}/task/${thread}/children`).match(/\d+/gu) ?? []);

/** Empty where the process or thread has ended, or this is not Linux. */
function read(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}

function list(path: string): readonly string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

const ownMs = (): number => processorMs(String(process.pid));

/** Of vitest (`runner`): notes the processor time of each test, and of each file from its import until all is closed. */
export default class MeasuringRunner extends TestRunner {
  #fileMs = 0;
  #testMs = 0;

  override onCollectStart(file: RunnerTestFile): void {
    super.onCollectStart(file);
    this.#fileMs = ownMs();
  }

  override async onBeforeRunSuite(suite: RunnerTestSuite): Promise<void> {
    await super.onBeforeRunSuite?.(suite);
    if (suite.file === suite) suite.meta.importMs = ownMs() - this.#fileMs;
  }

  override async onBeforeRunTask(test: RunnerTask): Promise<void> {
    await super.onBeforeRunTask(test);
    this.#testMs = ownMs();
  }

  override onAfterRunTask(test: RunnerTask): void {
    super.onAfterRunTask(test);
    test.meta.processorMs = ownMs() - this.#testMs;
  }

  override async onAfterRunSuite(suite: RunnerTestSuite): Promise<void> {
    await super.onAfterRunSuite(suite);
    if (suite.file === suite) suite.meta.processorMs = ownMs() - this.#fileMs;
  }
}
