import { closeSync, openSync, readSync, writeSync } from "node:fs";

/** What a run does, one after the other; `failed` ones may be tried again, `held` ones go no further. */
export type RunStep = "begun" | "effect" | "received" | "answered" | "ended" | "failed" | "held";

/** One line of a ledger. */
export interface LedgerEntry {
  /** Name of the process it is about. */
  readonly worker: string;
  readonly step: RunStep | "enqueued" | "killed" | "fault";
  readonly job?: string;
  readonly attempt?: number;
  /** Of a fault: its code and what it says. */
  readonly text?: string;
}

/** What several processes did, in one order that survives each of them. */
export interface Ledger {
  note(entry: LedgerEntry): void;
  /** All that was noted so far, by any process. */
  entries(): readonly LedgerEntry[];
  close(): void;
}

/** A ledger in a file, which is created where it is missing; each note is one write at its end. */
export function openLedger(path: string): Ledger {
  const descriptor = openSync(path, "a+");
  const entries: LedgerEntry[] = [];
  const chunk = Buffer.alloc(65_536);
  let position = 0;
  let rest = Buffer.alloc(0);
  return {
    note: (entry) => void writeSync(descriptor, `${JSON.stringify(entry)}\n`),
    entries() {
      for (;;) {
        const length = readSync(descriptor, chunk, 0, chunk.length, position);
        if (length === 0) return entries;
        position += length;
        const text = Buffer.concat([rest, chunk.subarray(0, length)]);
        const end = text.lastIndexOf("\n") + 1;
        rest = text.subarray(end);
        for (const line of text.subarray(0, end).toString().split("\n")) {
          if (line !== "") entries.push(JSON.parse(line) as LedgerEntry);
        }
      }
    },
    close: () => closeSync(descriptor),
  };
}

/** One run of one job, as far as it came. */
export interface Run {
  readonly job: string;
  readonly attempt: number;
  readonly worker: string;
  /** Where in the ledger it began. */
  readonly begunAt: number;
  readonly steps: ReadonlySet<RunStep>;
}

/** Where a run was when nothing more was heard of it. */
export type Phase =
  | "before the effect"
  | "after the effect"
  | "before delivering"
  | "while delivering"
  | "after delivering"
  | "at the outcome"
  | "failed";

/** Names of webhook jobs, which are delivery ids, end with the receiver. */
export const isDelivery = (job: string): boolean => job.includes(".opened.");

const runSteps: ReadonlySet<string> = new Set<RunStep>([
  "begun",
  "effect",
  "received",
  "answered",
  "ended",
  "failed",
  "held",
]);

/** All runs that began, in that order. */
export function runsOf(entries: readonly LedgerEntry[]): readonly Run[] {
  const runs: (Run & { readonly steps: Set<RunStep> })[] = [];
  const latest = new Map<string, Set<RunStep>>();
  for (const [begunAt, { worker, step, job = "", attempt = 0 }] of entries.entries()) {
    if (!runSteps.has(step)) continue;
    const key = `${worker} ${job}`;
    if (step === "begun") {
      const run = { job, attempt, worker, begunAt, steps: new Set<RunStep>() };
      runs.push(run);
      latest.set(key, run.steps);
    }
    const steps = latest.get(key);
    if (steps === undefined) throw new Error(`${worker} took the step ${step} of ${job}, which it had not begun`);
    steps.add(step as RunStep);
  }
  return runs;
}

/** Where the run was last. */
export function phaseOf({ job, steps }: Run): Phase {
  if (steps.has("failed")) return "failed";
  if (steps.has("ended")) return "at the outcome";
  if (!isDelivery(job)) return steps.has("effect") ? "after the effect" : "before the effect";
  if (steps.has("answered")) return "after delivering";
  return steps.has("received") ? "while delivering" : "before delivering";
}

/** How many there are of each. */
export function tally<Name extends string>(names: Iterable<Name>): Readonly<Partial<Record<Name, number>>> {
  const counts: Partial<Record<Name, number>> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}
