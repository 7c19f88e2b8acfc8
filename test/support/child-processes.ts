import { readdirSync, readFileSync } from "node:fs";

/** The processes that a process has started and that are still there (Linux). */
export function childrenOf(pid: number): readonly number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8").split(" ").filter(Boolean).map(Number),
  );
}

/** Those of them that evaluate queries. */
export const evaluatorsOf = (pid: number): readonly number[] =>
  childrenOf(pid).filter((child) => commandOf(child).includes("evaluators/evaluator."));

/** Resident memory in bytes; 0 for a process that is gone. */
export function residentBytes(pid: number): number {
  try {
    const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/mu.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return Number(kilobytes ?? 0) * 1024;
  } catch {
    return 0;
  }
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}

/** Processor time that the main thread of a process has used, in milliseconds (Linux with scheduler statistics). */
export const mainThreadMs = (pid: number): number =>
  Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8").split(" ")[0]) / 1e6;
