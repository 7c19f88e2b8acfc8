import { readdirSync, readFileSync } from "node:fs";
import { type RunnerTestFile, type RunnerTestSuite, type RunnerTask, TestRunner } from "vitest";

declare module "vitest" {
  interface TaskMeta {
    /** Milliseconds of processor time that a test or a test file took, its child processes included. */
    processorMs?: number;
  }
}

/** Of Linux: a hundredth of a second, whatever the kernel's own clock. */
const tickMs = 10;

/** The time of a process and of its children that ended (`/proc/<pid>/stat`, counted behind the name). */
function readProcess(pid: string): { readonly pid: string; readonly parent: string; readonly ms: number } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
    return { pid, parent: fields[1] ?? "", ms: ticks * tickMs };
  } catch {
    // It has ended, or this is not Linux.
    return undefined;
  }
}

/** Processor time so far of this process and of all that it started, in milliseconds; 0 where Linux is not. */
function processorMs(): number {
  const own = readProcess(String(process.pid));
  if (own === undefined) return 0;
  const all = readdirSync("/proc").flatMap((name) => (/^\d+$/u.test(name) ? (readProcess(name) ?? []) : []));
  const of = (one: typeof own): number =>
    all.filter(({ parent }) => parent === one.pid).reduce((sum, child) => sum + of(child), one.ms);
  return of(own);
}

/** Of vitest (`runner`): notes the processor time of each test, and of each file from its import until all is closed. */
export default class MeasuringRunner extends TestRunner {
  #fileMs = 0;
  #testMs = 0;

  override onCollectStart(file: RunnerTestFile): void {
    super.onCollectStart(file);
    this.#fileMs = processorMs();
  }

  override async onBeforeRunTask(test: RunnerTask): Promise<void> {
    await super.onBeforeRunTask(test);
    this.#testMs = processorMs();
  }

  override onAfterRunTask(test: RunnerTask): void {
    super.onAfterRunTask(test);
    test.meta.processorMs = processorMs() - this.#testMs;
  }

  override async onAfterRunSuite(suite: RunnerTestSuite): Promise<void> {
    await super.onAfterRunSuite(suite);
    if (suite.file === suite) suite.meta.processorMs = processorMs() - this.#fileMs;
  }
}
