import { FedwayError, toFedwayError } from "../../errors/fedway-error.ts";
import type { SparqlClient } from "../../transport/sparql-client.ts";
import { channelTo } from "../../workers/channels.ts";
import { type ChildEnd, childEnd, forkScript, scriptBeside } from "../../workers/fork-script.ts";
import { createPeer, type Handled, type HandlerContext, type Reply } from "../../workers/peer.ts";
import type { ExecutionBounds } from "../federation-engine.ts";
import { bytesOf } from "../../results/gathered-body.ts";
import type {
  DocumentParams,
  EvaluatorLimits,
  Pong,
  QueryHead,
  QueryParams,
  RunEnd,
  RunNote,
  RunParams,
} from "./protocol.ts";

/** What evaluators reach the outside world with. */
export interface OutsideWorld {
  readonly client: Pick<SparqlClient, "query">;
  readonly documents: DocumentReader;
  /** The clock of `deadlineMs`. */
  readonly now: () => number;
}

/** What is needed of the transport's document client. */
export interface DocumentReader {
  read<T>(
    request: Omit<DocumentParams, "run"> & { readonly signal: AbortSignal; readonly trace?: unknown },
    read: (document: ArrivingDocument) => Promise<T>,
  ): Promise<T>;
}

interface ArrivingDocument {
  readonly url: string;
  readonly mediaType: string;
  readonly pieces: AsyncIterable<Uint8Array>;
}

/** How one evaluator process is started. */
export interface EvaluatorProcessOptions {
  readonly memoryMb: number;
  /** A process whose event loop stands still for this long is killed. */
  readonly stallMs: number;
  readonly limits: EvaluatorLimits;
  readonly world: OutsideWorld;
}

/** Why the process is gone: by itself, or killed because it stood still. */
export type EvaluatorEnd = Omit<ChildEnd, "reason"> & { readonly reason: ChildEnd["reason"] | "stalled" };

/** The cause of `EVALUATION_LOST`. */
export class EvaluatorEnded extends Error {
  override readonly name = "EvaluatorEnded";
  readonly end: EvaluatorEnd;

  constructor(end: EvaluatorEnd) {
    super(`${end.reason}: ${end.detail}`);
    this.end = end;
  }

  /** It needed more memory or time than it may. */
  get wasTooMuch(): boolean {
    return this.end.reason === "memory" || this.end.reason === "stalled";
  }
}

/** A run, as its process needs it. */
export interface ProcessRun {
  readonly params: Omit<RunParams, "run">;
  readonly bounds: ExecutionBounds;
  /** The process has done with the run; after a cancellation that is later than the run's end here. */
  readonly onSettled: () => void;
}

/** The answer of a run: its body is in the wanted format. */
export type RunReply = Reply<undefined, RunEnd>;

/** One evaluator process. */
export interface EvaluatorProcess {
  /** Settles when it can take runs (true), or has ended before (false). */
  readonly started: Promise<boolean>;
  /** It can take runs. */
  readonly alive: boolean;
  readonly ended: Promise<EvaluatorEnd>;
  /** As of the last sign of life; 0 before. */
  readonly residentBytes: number;
  /** @throws FedwayError `EVALUATION_LOST` when the process ends */
  run(run: ProcessRun): Promise<RunReply>;
  /** Lets it end; it is killed when it does not within a second. */
  close(): Promise<void>;
}

const PING_EVERY_MS = 1_000;
const CLOSE_MS = 1_000;

/** Forks an evaluator. */
export function startEvaluatorProcess(options: EvaluatorProcessOptions): EvaluatorProcess {
  const { memoryMb, limits, world } = options;
  const child = forkScript(scriptBeside(import.meta.url, "evaluator"), { memoryMb, args: [JSON.stringify(limits)] });
  const runs = new Map<number, ExecutionBounds>();
  const started = Promise.withResolvers<boolean>();
  let alive = false;
  const peer = createPeer(channelTo(child), {
    ready: {
      async answer() {
        alive = true;
        started.resolve(true);
        return { head: undefined };
      },
    },
    query: { answer: (params: QueryParams, context) => query(world, params, { context, runs }) },
    document: { answer: (params: DocumentParams, context) => document(world, params, { context, runs }) },
  });
  let stalled = false;
  let residentBytes = 0;
  let nextRun = 0;

  const watch = setInterval(() => {
    if (stalled) return;
    // A call that is not answered in time is one that the loop over there has not come to.
    peer.call<Pong, unknown>("ping", undefined, { signal: AbortSignal.timeout(options.stallMs) }).then(
      ({ head }) => (residentBytes = head.residentBytes),
      () => {
        stalled = child.exitCode === null && child.signalCode === null;
        child.kill("SIGKILL");
      },
    );
  }, PING_EVERY_MS);
  const ended = childEnd(child).then((end): EvaluatorEnd => {
    // Before the runs in it hear of its end: they look for another place at once.
    alive = false;
    clearInterval(watch);
    started.resolve(false);
    const how: EvaluatorEnd = stalled ? { ...end, reason: "stalled" } : end;
    peer.close(evaluationLost(new EvaluatorEnded(how)));
    return how;
  });
  return {
    started: started.promise,
    ended,
    get alive() {
      return alive;
    },
    get residentBytes() {
      return residentBytes;
    },
    run({ params, bounds, onSettled }) {
      const run = nextRun++;
      runs.set(run, bounds);
      const settled = (): void => {
        runs.delete(run);
        onSettled();
      };
      return peer.call("run", { ...params, run } satisfies RunParams, {
        signal: bounds.signal,
        onNote: (note: RunNote) => takeReports(bounds, note),
        onSettled: settled,
      });
    },
    async close() {
      if (child.connected) child.disconnect();
      const killer = setTimeout(() => child.kill("SIGKILL"), CLOSE_MS);
      await ended;
      clearTimeout(killer);
    },
  };
}

function evaluationLost(cause: EvaluatorEnded): FedwayError {
  const why = {
    memory: "its process ran out of memory",
    stalled: "its process stood still",
    killed: "its process was killed",
    exit: "its process ended",
  } as const;
  return new FedwayError("EVALUATION_LOST", `The evaluation was cut off: ${why[cause.end.reason]}.`, {
    next: "Send the query again.",
    cause,
  });
}

/** Reports are what the execution's map holds; entries are replaced by what the process says of them now. */
function takeReports({ sources }: ExecutionBounds, reports: RunNote): void {
  for (const report of reports) sources.set(report.endpoint, { ...report });
}

interface Asked {
  readonly context: HandlerContext;
  readonly runs: ReadonlyMap<number, ExecutionBounds>;
}

async function query({ client, now }: OutsideWorld, params: QueryParams, { context, runs }: Asked): Promise<Handled> {
  const { run, timeoutMs, ...request } = params;
  const { signal } = context;
  const trace = runs.get(run)?.trace;
  const answer = await client.query({ ...request, signal, trace, deadlineMs: now() + timeoutMs });
  const { body, end, whole, status, mediaType, contentEncoding, partial, firstByteMs, requests } = answer;
  const head: QueryHead = { status, mediaType, contentEncoding, partial, firstByteMs, requests };
  // Whoever reads the body hears of its failure there.
  end.catch(() => {});
  return { head, body: bytesOf(body), end: () => whole ?? end };
}

async function document(
  { documents }: OutsideWorld,
  params: DocumentParams,
  { context: { signal }, runs }: Asked,
): Promise<Handled> {
  const { run, ...request } = params;
  const arrived = Promise.withResolvers<ArrivingDocument>();
  const passedOn = Promise.withResolvers<void>();
  const over = documents.read({ ...request, signal, trace: runs.get(run)?.trace }, async (arriving) => {
    arrived.resolve(arriving);
    await passedOn.promise;
  });
  over.catch(arrived.reject);
  const { url, mediaType, pieces } = await arrived.promise;
  async function* body(): AsyncIterable<Uint8Array> {
    try {
      yield* pieces;
      passedOn.resolve();
    } catch (error) {
      passedOn.reject(toFedwayError(error));
      throw error;
    } finally {
      // Left early: nothing more is wanted of the request.
      passedOn.resolve();
    }
  }
  return { head: { url, mediaType }, body: body(), end: () => over };
}
