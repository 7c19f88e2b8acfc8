import { readFileSync } from "node:fs";

/** Clock ticks a second in /proc (USER_HZ, 100 on every Linux that Node runs on). */
const ticksPerSecond = 100;

/** CPU seconds, user and system, that a process has used. */
export function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The name in parentheses may hold spaces; the fields after it do not.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

/** Processor time of the machine so far, in ticks: all of it, and what the host of a virtual machine gave to others. */
export interface MachineTicks {
  readonly all: number;
  readonly stolen: number;
}

/** Read at two moments it tells how quiet the machine was; nothing is known where there is no /proc. */
export function machineTicks(): MachineTicks | undefined {
  let text: string;
  try {
    text = readFileSync("/proc/stat", "utf8");
  } catch {
    return undefined;
  }
  const ticks = text.slice(0, text.indexOf("\n")).trim().split(/\s+/u).slice(1, 9).map(Number);
  return { all: ticks.reduce((sum, each) => sum + each, 0), stolen: ticks[7] ?? 0 };
}

/** The share of processor time that others had since then; undefined where that is not known. */
export function stolenShare(since: MachineTicks | undefined): number | undefined {
  const now = machineTicks();
  if (since === undefined || now === undefined || now.all === since.all) return undefined;
  return (now.stolen - since.stolen) / (now.all - since.all);
}
