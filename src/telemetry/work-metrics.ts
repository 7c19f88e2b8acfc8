import type { Instruments, Readings } from "./instruments.ts";

/** A handler of jobs. */
type Handler<Payload, Context, Result> = (payload: Payload, context: Context) => Promise<Result>;

/** Work under way and waiting, and how much may be under way. */
interface Places {
  readonly running: number;
  readonly waiting: number;
  readonly places: number;
}

const evaluatorEndsHelp = "Evaluator processes that ended without being asked to";
/** Why an evaluator process ended. */
const evaluatorEnds = ["memory", "stalled", "killed", "exit"] as const;
/** How a run of a job ended: `interrupted` ones were cancelled, or run again elsewhere. */
const jobOutcomes = ["done", "failed", "interrupted"] as const;
/** How a delivery of a webhook ended: `failed` ones are tried again, `dead` ones are given up. */
const webhookOutcomes = ["delivered", "failed", "dead"] as const;
const openStates = ["waiting", "running"] as const;

type JobLister = (state: (typeof openStates)[number]) => Promise<readonly { readonly kind: string }[]>;

/** The clock, and the longest wait for what is read at a scrape, in milliseconds. */
interface WorkTimes {
  readonly now: () => number;
  readonly patienceMs: number;
}

/** Work in the background. */
export function createWorkMetrics(instruments: Instruments, { now, patienceMs }: WorkTimes) {
  const { counts, timers, count } = instruments;
  const runs = counts("fedway_jobs_total", "Runs of jobs that ended", ["kind", "outcome"]);
  const durations = timers("fedway_jobs_seconds", "Duration of runs of jobs", ["kind"]);
  const webhooks = counts("fedway_webhooks_total", "Deliveries of webhooks", ["outcome"]);
  const storeFailures = count("fedway_store_failures_total", "Failures of the service's own storage");
  const ends = counts("fedway_evaluator_ends_total", evaluatorEndsHelp, ["reason"]);
  const waits = timers("fedway_calls_wait_seconds", "Wait of calls that were not let in at once", []);
  const busy = count("fedway_busy_total", "Queries and calls refused with SERVICE_BUSY");
  const slow = count("fedway_slow_queries_total", "Queries that took FEDWAY_SLOW_QUERY_MS or longer");
  // An increase can be seen only where there was a number before.
  for (const reason of evaluatorEnds) ends.of(reason).inc(0);
  for (const outcome of webhookOutcomes) webhooks.of(outcome).inc(0);
  return {
    /** The same handler, with its runs counted and timed under the name of its kind. */
    measureJob<Payload, Context extends { readonly signal: AbortSignal }, Result>(
      kind: string,
      run: Handler<Payload, Context, Result>,
    ): Handler<Payload, Context, Result> {
      for (const outcome of jobOutcomes) runs.of(kind, outcome).inc(0);
      return async (payload, context) => {
        const startedMs = now();
        let outcome: (typeof jobOutcomes)[number] = "failed";
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
    /** Reads the jobs that are not finished at scrape time; a read that takes too long is left out. */
    watchJobs(list: JobLister): void {
      const openIn = async (state: (typeof openStates)[number]): Promise<Readings> =>
        tally(await inTime(list(state), patienceMs), state);
      instruments.readings(["fedway_jobs_open", "Jobs that are not finished", ["kind", "state"]], async () =>
        (await Promise.all(openStates.map(openIn))).flat(),
      );
    },
    observeWebhook: (outcome: (typeof webhookOutcomes)[number]): void => webhooks.of(outcome).inc(),
    /** An evaluator process has ended without being asked to. */
    observeEvaluatorEnd: (reason: (typeof evaluatorEnds)[number]): void => ends.of(reason).inc(),
    /** A query or a call was refused because too much was under way. */
    observeBusy: (): void => busy.inc(),
    /** A query took longer than the log's limit. */
    observeSlow: (): void => slow.inc(),
    /** A call was let in after a wait. */
    observeWait: (ms: number): void => waits.of().observe(ms / 1000),
    /** Reads at scrape time how much of a kind of work is under way, how much waits, and how much there is room for. */
    watchPlaces(name: string, help: string, read: () => Places): void {
      instruments.readings([name, help, ["state"]], () =>
        (["running", "waiting"] as const).map((state) => ({ labels: [state], value: read()[state] })),
      );
      instruments.reading(`${name}_places`, `${help} that may run at once`, () => read().places);
    },
    /** The service's own storage has failed once. */
    observeStoreFailure: (): void => storeFailures.inc(),
    /** Reads at scrape time whether documents cannot be stored. */
    watchWrites: (areFailing: () => boolean): void =>
      instruments.reading("fedway_store_writes_failing", "1 while nothing can be stored", () => Number(areFailing())),
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

const failed = (error: unknown): boolean =>
  typeof error === "object" && error !== null && "code" in error && error.code === "STORE_FAILED";

/** The same port; `onFailure` is called for every call whose promise rejects with the code `STORE_FAILED`. */
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
