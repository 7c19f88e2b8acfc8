import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { ProcessReport } from "./describe-process.ts";

/** Describes an endpoint in a process of its own. @throws Error when that process fails */
export function describeInProcess(url: string): Promise<ProcessReport> {
  const script = fileURLToPath(new URL("describe-process.ts", import.meta.url));
  const child = fork(script, [url], { execArgv: [], serialization: "advanced" });
  return new Promise((resolve, reject) => {
    let report: ProcessReport | undefined;
    child.once("message", (message) => {
      report = message as ProcessReport;
    });
    child.once("error", reject);
    child.once("exit", (code) => {
      if (report !== undefined) resolve(report);
      else reject(new Error(`the describing process ended with code ${code}`));
    });
  });
}
