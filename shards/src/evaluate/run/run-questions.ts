import type { BenchmarkPackage, PackagedQuestion } from "../../package/open-package.ts";
import { isFailure, type QuestionOutcome, type QuestionRecord } from "../records.ts";
import type { RunFolder } from "./run-folder.ts";
import { sleep, steadyClock } from "../../../../src/clock.ts";

/** Record of a question, independent of the model asked. */
export type Asked = Omit<QuestionRecord, "question" | "setup" | "model" | "repeat">;

/** Asks one question. @throws what ends the run: the question is then asked by the next start */
export type Ask = (question: PackagedQuestion, signal: AbortSignal) => Promise<Asked>;

/** Most that something may use, in tokens and in the currency of the price. */
export interface Budget {
  readonly tokens: number;
  readonly cost: number;
}

/** A run over some questions of a package. */
interface QuestionRun {
  readonly folder: RunFolder;
  readonly questions: BenchmarkPackage["questions"];
  readonly repeats: number;
  readonly who: Pick<QuestionRecord, "setup" | "model">;
  readonly ask: Ask;
  readonly parallel: number;
  /** Of the whole run, with what earlier starts have used, and the most of one question. */
  readonly budget: Budget;
  readonly mostOfOne: Budget;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: RunProgress) => void;
}

interface RunProgress {
  readonly stage: "asking";
  readonly done: number;
  readonly total: number;
  readonly figures: Readonly<Partial<Record<QuestionOutcome, number>>>;
}

/**
 * Asks each question that has no record, or one of a failure, and writes its record. A question begins only where the budget has room
 * for all that it may use, so that no question is cut short by those before it, and the budget is never exceeded. Where the model or
 * the service failed at three questions in a row, no further one is asked.
 * @returns outcomes, how many questions were not asked, and why the first failed that the model failed at
 * @throws what `ask` throws, after the questions under way were given up
 */
export async function runQuestions(run: QuestionRun) {
  const { folder, questions, repeats, who, ask, budget, mostOfOne, onProgress } = run;
  const failed = new AbortController();
  const signal = AbortSignal.any([run.signal, failed.signal]);
  const answered = new Map(
    folder.records
      .filter((record) => !isFailure(record))
      .map((record) => [JSON.stringify([record.question, record.repeat]), record]),
  );
  const all = Array.from({ length: repeats }, (_, repeat) =>
    questions.map((question) => ({ question, repeat })),
  ).flat();
  const waiting = all.filter(({ question, repeat }) => !answered.has(JSON.stringify([question.id, repeat])));
  const total = answered.size + waiting.length;
  const used = { tokens: 0, cost: 0 };
  const outcomes: Partial<Record<QuestionOutcome, number>> = {};
  let running = 0;
  let failure: string | undefined;
  let failuresInRow = 0;
  const count = (asked: Asked): void => {
    const { outcome, why, tokens, cost } = asked;
    if (isFailure(asked)) failure ??= why ?? "It did not say why.";
    failuresInRow = isFailure(asked) ? failuresInRow + 1 : 0;
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    used.tokens += tokens.input + tokens.output;
    used.cost += cost ?? 0;
    onProgress({ stage: "asking", done: total - waiting.length - running, total, figures: outcomes });
  };
  for (const record of answered.values()) count(record);
  const isStopped = (): boolean => failuresInRow >= mostFailuresInRow;
  const hasRoom = (): boolean =>
    used.tokens + (running + 1) * mostOfOne.tokens <= budget.tokens &&
    used.cost + (running + 1) * mostOfOne.cost <= budget.cost;
  const work = async (): Promise<void> => {
    // One that finds no room ends: those under way go on when they have given back what they did not use.
    while (waiting.length > 0 && !isStopped() && hasRoom()) {
      signal.throwIfAborted();
      const [next] = waiting.splice(0, 1);
      if (next === undefined) return;
      running += 1;
      const asked = await ask(next.question, signal);
      signal.throwIfAborted();
      running -= 1;
      await folder.add({ question: next.question.id, ...who, repeat: next.repeat, ...asked });
      count(asked);
    }
  };
  const workers = Array.from({ length: run.parallel }, () =>
    work().catch((error: unknown) => {
      failed.abort(error);
      throw error;
    }),
  );
  await Promise.allSettled(workers);
  await Promise.all(workers);
  return { outcomes, failure, notAsked: waiting.length };
}

/** The model or the service is not there then. */
const mostFailuresInRow = 3;

/** Waits before another try. */
const retryMs = [1_000, 5_000] as const;

/** Does work again, at most twice, while what it finds is temporary. @throws the signal's reason, and what the work throws */
export async function withRetries<Found>(
  work: () => Promise<Found>,
  isTemporary: (found: Found) => boolean,
  signal: AbortSignal,
): Promise<Found> {
  for (const waitMs of retryMs) {
    const found = await work();
    if (!isTemporary(found)) return found;
    await sleep(waitMs, { clock: steadyClock, signal });
    signal.throwIfAborted();
  }
  return work();
}
