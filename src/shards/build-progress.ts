import type { Progress } from "./load/read-statements.ts";

/** How far a build or a check has come. */
export interface BuildProgress {
  /** What is being done, a few words. */
  readonly stage: string;
  /** Units done, of `total` where that is known. */
  readonly done: number;
  readonly total?: number;
  /** Such as `triples/s` and `s left`. */
  readonly figures?: Readonly<Record<string, number>>;
}

type PassProgress = Omit<Progress, "phase"> & { readonly phase: string };

const stages: Readonly<Record<string, string>> = {
  learn: "learning the classes",
  cells: "counting what the rules can tell apart",
  split: "splitting, and counting what the rules can tell apart",
  sort: "sorting",
  compress: "compressing",
};

const mebibyte = 1_048_576;

/** Before that much time has passed a rate says nothing. */
const leastMs = 500;

/**
 * Turns the progress of passes over the data, in triples and bytes, into that of a build, in MiB with triples per second
 * and the time that is left of the pass at its pace so far.
 */
export function passProgress(
  now: () => number,
  report: (progress: BuildProgress) => void,
): (pass: PassProgress) => void {
  let phase = "";
  let startedMs = 0;
  return (pass) => {
    if (pass.phase !== phase) {
      phase = pass.phase;
      startedMs = now();
    }
    const ms = now() - startedMs;
    const { triples, bytes, totalBytes } = pass;
    const total = Math.ceil(totalBytes / mebibyte);
    report({
      stage: stages[phase] ?? phase,
      done: Math.min(total, Math.floor(bytes / mebibyte)),
      total,
      figures: { triples, ...(ms >= leastMs && rates(pass, ms)) },
    });
  };
}

function rates({ triples, bytes, totalBytes }: PassProgress, ms: number): Readonly<Record<string, number>> {
  const perSecond = Math.round((triples * 1000) / ms);
  if (bytes === 0) return { "triples/s": perSecond };
  const left = (ms / bytes) * Math.max(0, totalBytes - bytes);
  return { "triples/s": perSecond, "s left": Math.ceil(left / 1000) };
}
