import { performance } from "node:perf_hooks";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import { Threads } from "../../../src/workers/threads.ts";
import { afterProcessorMs } from "../processor-time.ts";
import type { AnswerSet, AnswerSetSolver, SolveEnd, SolveOptions, SolveResult } from "../rules/answer-set-solver.ts";
import type { ClingoBoot, ClingoEnd, ClingoProgress, ClingoRequest } from "./clingo-output.ts";

/** Limits of `createClingoSolver`. */
interface ClingoSolverOptions {
  /** Cap of clingo's own memory; 1 GiB by default. */
  readonly memoryBytes?: number;
  /** Largest program in UTF-8; an eighth of the memory by default, since clingo needs six times a program's bytes for its facts. */
  readonly programBytes?: number;
}

const defaultMemoryBytes = 2 ** 30;
/** JavaScript heap of the thread: the models as text until the search ends. */
const heapMb = 256;

type ClingoThread = Threads<ClingoRequest, ClingoEnd, ClingoProgress>;

function startThread(boot: ClingoBoot): ClingoThread {
  return new Threads({ script: new URL("./clingo-worker.ts", import.meta.url), data: boot, count: 1, heapMb });
}

/**
 * clingo (WebAssembly) in a worker thread. clingo-wasm ignores `--time-limit`, and nothing reaches a thread that
 * computes: whoever wants to stop it ends the thread, and the next program gets a new one.
 */
export function createClingoSolver(limits: ClingoSolverOptions = {}): AnswerSetSolver {
  const memoryBytes = limits.memoryBytes ?? defaultMemoryBytes;
  const { programBytes = memoryBytes / 8 } = limits;
  const closing = new AbortController();
  let thread: ClingoThread | undefined;
  let last: Promise<unknown> = Promise.resolve();

  const drop = async (): Promise<void> => {
    const lost = thread;
    thread = undefined;
    await lost?.close();
  };
  const solveNow = async (program: string, options: SolveOptions): Promise<SolveResult> => {
    if (closing.signal.aborted) throw closedError();
    const bytes = new TextEncoder().encode(program);
    if (bytes.length > programBytes) throw tooLarge(bytes.length, programBytes);
    thread ??= startThread({ memoryBytes });
    const { result, usable } = await startSearch(thread, bytes, { ...options, closing: closing.signal });
    if (!usable) await drop();
    if (closing.signal.aborted) throw closedError();
    if (result instanceof FedwayError) throw result;
    return result;
  };
  return {
    solve(program, options = {}) {
      const result = last.then(() => solveNow(program, options));
      last = result.catch(() => undefined);
      return result;
    },
    async close() {
      closing.abort();
      await last;
      await drop();
    },
  };
}

const closedError = (): FedwayError => new FedwayError("CANCELLED", "The answer-set solver is shutting down.");

const solverError = (words: string): FedwayError =>
  new FedwayError("SOLVER_FAILED", `The answer-set solver failed: ${words}`);

const tooLarge = (bytes: number, most: number): FedwayError =>
  solverError(`its program has ${bytes} bytes, ${Math.floor(most)} are allowed.`);

/** `usable`: the thread waits for the next program. */
type Outcome = { readonly result: SolveResult | FedwayError; readonly usable: boolean };

/** Messages received from a search so far. */
interface Heard {
  readonly models: AnswerSet[];
  lower: readonly number[] | undefined;
}

function startSearch(
  thread: ClingoThread,
  program: Uint8Array<ArrayBuffer>,
  options: SolveOptions & { readonly closing: AbortSignal },
): Promise<Outcome> {
  const startMs = performance.now();
  const heard: Heard = { models: [], lower: undefined };
  const seconds = (): number => (performance.now() - startMs) / 1000;
  const { promise, resolve } = Promise.withResolvers<Outcome>();
  const cut = (ended: SolveEnd) => (): void =>
    resolve({
      usable: false,
      result: summary(heard, {
        ended,
        satisfiable: undefined,
        seconds: seconds(),
      }),
    });
  const abort = cut("aborted");
  const stopWaiting =
    options.timeoutMs === undefined ? undefined : afterProcessorMs(options.timeoutMs, cut("deadline"));
  const signals = [options.signal, options.closing].filter((signal) => signal !== undefined);
  for (const signal of signals) signal.addEventListener("abort", abort, { once: true });

  const request = { program, options: options.options ?? [] };
  const keep = options.keepModels ?? 1;
  if (signals.some((signal) => signal.aborted)) abort();
  else {
    const onProgress = (progress: ClingoProgress): void => note(heard, progress, keep);
    const search = thread.run(request, { onProgress, transfer: [program.buffer] });
    void outcomeOf(search, heard, seconds).then(resolve);
  }
  return promise.finally(() => {
    stopWaiting?.();
    for (const signal of signals) signal.removeEventListener("abort", abort);
  });
}

async function outcomeOf(search: Promise<ClingoEnd>, heard: Heard, seconds: () => number): Promise<Outcome> {
  try {
    const { complete, result, clock } = await search;
    const ended = complete ? "complete" : "limit";
    const satisfiable = result !== "UNSATISFIABLE";
    return {
      usable: true,
      result: {
        ...summary(heard, { ended, satisfiable, seconds: seconds() }),
        clock,
      },
    };
  } catch (error) {
    // A failure may leave clingo's memory in pieces, or at its cap.
    return { usable: false, result: solverError(error instanceof Error ? error.message : String(error)) };
  }
}

function note(heard: Heard, progress: ClingoProgress, keep: number): void {
  const { models } = heard;
  const last = models.at(-1);
  if (progress.kind === "bound") heard.lower = progress.lower;
  else if (progress.kind === "costs") {
    if (last !== undefined) models[models.length - 1] = { ...last, costs: progress.costs };
  } else {
    models.push({ atoms: progress.atoms, costs: [] });
    if (models.length > keep) models.shift();
  }
}

function summary(
  { models, lower }: Heard,
  end: { readonly ended: SolveEnd; readonly satisfiable: boolean | undefined; readonly seconds: number },
): SolveResult {
  const costs = models.at(-1)?.costs ?? [];
  const complete = end.ended === "complete";
  const optimal = complete && costs.length > 0;
  const lowerBound = optimal ? costs : lower;
  return {
    models: [...models],
    ended: end.ended,
    optimal,
    unsatisfiable: complete && end.satisfiable === false,
    costs,
    lowerBound,
    seconds: end.seconds,
  };
}
