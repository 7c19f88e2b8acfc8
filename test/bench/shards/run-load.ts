import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";

/** What a process goes through a file for. */
export interface LoadTask {
  readonly way: "parse" | "shard";
  readonly input: string;
  /** Where shards go. */
  readonly target: string;
}

/** What it took. */
export interface LoadReport {
  readonly triples: number;
  readonly seconds: number;
  /** Of all threads, the start of the process included. */
  readonly cpuSeconds: number;
  readonly peakBytes: number;
}

/** Does a task in a process of its own. @throws Error when that fails */
export function runLoad(task: LoadTask): Promise<LoadReport> {
  const script = fileURLToPath(new URL("load-process.ts", import.meta.url));
  // As builds run.
  const child = fork(script, [JSON.stringify(task)], { execArgv: ["--max-semi-space-size=4"] });
  return new Promise((resolve, reject) => {
    let report: LoadReport | undefined;
    child.once("message", (message) => {
      report = message as LoadReport;
    });
    child.once("error", reject);
    child.once("exit", (code) => {
      if (report !== undefined) resolve(report);
      else reject(new Error(`the process that was to ${task.way} ended with code ${code}`));
    });
  });
}
