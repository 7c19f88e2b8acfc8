import type { Instruments, Readings } from "./instruments.ts";

/** How a run of a job ended: `interrupted` ones were cancelled, or run again elsewhere. */
type JobOutcome = "done" | "failed" | "interrupted";

/** How a delivery of a webhook ended: `failed` ones are tried again, `dead` ones are given up. */
type WebhookOutcome = "delivered" | "failed" | "dead";

/** A handler of jobs. */
type Handler<Payload, Context, Result> = (payload: Payload, context: Context) => Promise<Result>;

/** Work in the background. */
export interface WorkMetrics {
  /** The same handler, with its runs counted and timed under the name of its kind. */
  measureJob<Payload, Context extends { readonly signal: AbortSignal }, Result>(
    kind: string,
    run: Handler<Payload, Context, Result>,
  ): Handler<Payload, Context, Result>;
  /** Reads the jobs that are not finished at scrape time; what takes too long is not told. */
  watchJobs(list: (state: "waiting" | "running") => Promise<readonly { readonly kind: string }[]>): void;
  observeWebhook(outcome: WebhookOutcome): void;
  /** An evaluator process has ended without being asked to. */
  observeEvaluatorEnd(reason: EvaluatorEndReason): void;
  /** Reads what the evaluators are doing at scrape time. */
  watchEvaluators(usage: () => EvaluatorUsage): void;
  /** The service's own storage has failed once. */
  observeStoreFailure(): void;
}

/** Why an evaluator process ended. */
type EvaluatorEndReason = "memory" | "stalled" | "killed" | "exit";

/** Evaluations under way and waiting, and what all processes have in memory. */
interface EvaluatorUsage {
  readonly running: number;
  readonly waiting: number;
  readonly residentBytes: number;
}

const evaluatorEnds: readonly EvaluatorEndReason[] = ["memory", "stalled", "killed", "exit"];
const jobOutcomes: readonly JobOutcome[] = ["done", "failed", "interrupted"];
const webhookOutcomes: readonly WebhookOutcome[] = ["delivered", "failed", "dead"];
const openStates = ["waiting", "running"] as const;

/** The clock, and the longest wait for what is read at a scrape, in milliseconds. */
interface WorkTimes {
  readonly now: () => number;
  readonly patienceMs: number;
}

/** The instruments of background work. */
export function createWorkMetrics(instruments: Instruments, { now, patienceMs }: WorkTimes): WorkMetrics {
  const { counts, timers, count } = instruments;
  const runs = counts({ name: "fedway_jobs_total", help: "Runs of jobs that ended", labels: ["kind", "outcome"] });
  const durations = timers({ name: "fedway_jobs_seconds", help: "Duration of runs of jobs", labels: ["kind"] });
  const webhooks = counts({ name: "fedway_webhooks_total", help: "Deliveries of webhooks", labels: ["outcome"] });
  const storeFailures = count({ name: "fedway_store_failures_total", help: "Failures of the service's own storage" });
  const ends = counts({
    name: "fedway_evaluator_ends_total",
    help: "Evaluator processes that ended without being asked to",
    labels: ["reason"],
  });
  // An increase can be seen only where there was a number before.
  for (const reason of evaluatorEnds) ends.of(reason).inc(0);
  for (const outcome of webhookOutcomes) webhooks.of(outcome).inc(0);
  return {
    measureJob(kind, run) {
      for (const outcome of jobOutcomes) runs.of(kind, outcome).inc(0);
      return async (payload, context) => {
        const startedMs = now();
        let outcome: JobOutcome = "failed";
        try {
          const result = await run(payload, context);
          outcome = "done";
          return result;
        } finally {
          runs.of(kind, context.signal.aborted ? "interrupted" : outcome).inc();
          durations.of(kind).observe((now() - startedMs) / 1000);
        }
      };
    },
    watchJobs: (list) =>
      instruments.readings(
        { name: "fedway_jobs_open", help: "Jobs that are not finished", labels: ["kind", "state"] },
        async () =>
          (
            await Promise.all(openStates.map(async (state) => tally(await inTime(list(state), patienceMs), state)))
          ).flat(),
      ),
    observeWebhook: (outcome) => webhooks.of(outcome).inc(),
    observeEvaluatorEnd: (reason) => ends.of(reason).inc(),
    watchEvaluators(usage) {
      instruments.readings(
        { name: "fedway_evaluations", help: "Evaluations of federated queries", labels: ["state"] },
        () => {
          const { running, waiting } = usage();
          return [
            { labels: ["running"], value: running },
            { labels: ["waiting"], value: waiting },
          ];
        },
      );
      instruments.reading(
        { name: "fedway_evaluators_resident_bytes", help: "Memory of all evaluator processes" },
        () => usage().residentBytes,
      );
    },
    observeStoreFailure: () => storeFailures.inc(),
  };
}

function tally(jobs: readonly { readonly kind: string }[], state: string): Readings {
  const byKind = new Map<string, number>();
  for (const { kind } of jobs) byKind.set(kind, (byKind.get(kind) ?? 0) + 1);
  return [...byKind].map(([kind, value]) => ({ labels: [kind, state], value }));
}

async function inTime<T>(promise: Promise<T>, patienceMs: number): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error("too late for this scrape")), patienceMs);
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Codes of errors that mean the storage failed. */
const failed = (error: unknown): boolean =>
  typeof error === "object" && error !== null && "code" in error && error.code === "STORE_FAILED";

/** The same port; `onFailure` hears of every call whose promise rejects with the code `STORE_FAILED`. */
export function countFailures<Port extends object>(port: Port, onFailure: () => void): Port {
  const wrapped = new Map<string | symbol, unknown>();
  const count = (error: unknown): never => {
    if (failed(error)) onFailure();
    throw error;
  };
  const wrap =
    (method: (...args: unknown[]) => unknown) =>
    (...args: unknown[]): unknown => {
      const result = Reflect.apply(method, port, args);
      return result instanceof Promise ? result.catch(count) : result;
    };
  return new Proxy(port, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target);
      if (!isMethod(value)) return value;
      if (!wrapped.has(key)) wrapped.set(key, wrap(value));
      return wrapped.get(key);
    },
  });
}

const isMethod = (value: unknown): value is (...args: unknown[]) => unknown => typeof value === "function";
