import { unknownId } from "../../errors/unknown-id.ts";
import type { Asker, WholeAnswer } from "../../outbound/whole-answer.ts";
import type { RdfDocument } from "../../outbound/documents.ts";
import { steadyClock } from "../../clock.ts";
import { FedwayError, toFedwayError } from "../../errors/fedway-error.ts";
import type { JobProgress } from "../../jobs/job-queue.ts";
import type { VoidDescription } from "../void/void-description.ts";
import { createVoidRetriever, type RetrievedVoid } from "../void/void-retriever.ts";
import { createDescriber, type DescribeBudget, type DescribeTarget, targetOf } from "./describer.ts";
import { emptyDescription } from "./todo.ts";
import { loadCatalog, type LoadCatalogOptions } from "../catalog/read-files.ts";
import { isCatalogId } from "../catalog/statements.ts";

/** Circumstances of a run without a service. */
export interface DescribeOnceOptions {
  /** Ends the run; what was found so far is the result. */
  readonly signal: AbortSignal;
  /** Budget of the whole run, the search for the publisher's description included; default: the describer's. */
  readonly budget?: DescribeBudget | undefined;
  /** Look for the publisher's description first; default true. */
  readonly retrieve?: boolean;
  readonly onProgress?: ((progress: JobProgress) => void) | undefined;
  /** Milliseconds between two queries; default the describer's. */
  readonly pauseMs?: number | undefined;
}

/** A description that was made without a service. */
export interface DescribedOnce {
  readonly description: VoidDescription;
  /** The search for the publisher's own description; absent when it was left out or not finished. */
  readonly retrieved?: RetrievedVoid | undefined;
  /** The signal ended the run. */
  readonly interrupted: boolean;
}

type Target = DescribeTarget & { readonly dataset: string };

/**
 * Describes one endpoint without a service: looks for its publisher's description, then computes what is missing. Keeps
 * nothing. When time, requests or the signal end the run, what was found so far is the result.
 * @throws FedwayError `ADDRESS_REFUSED`; when no query was answered, the error of the last one
 */
export async function describeTarget(
  asker: Asker,
  target: Target,
  options: DescribeOnceOptions,
): Promise<DescribedOnce> {
  const meter = new Meter(asker);
  const parts: Run = { meter, target, options, startedMs: steadyClock.now() };
  const start: Start = options.retrieve === false ? { known: emptyRun(parts) } : await retrieve(parts);
  const description = start.isOver === true ? start.known : await compute(parts, start.known);
  const interrupted = options.signal.aborted;
  if (!interrupted && description.source === "computed") refuseSilence(meter);
  return { description, retrieved: start.retrieved, interrupted };
}

interface Run {
  readonly meter: Meter;
  readonly target: Target;
  readonly options: DescribeOnceOptions;
  readonly startedMs: number;
}

/** An endpoint that answered nothing is a failure, not an empty dataset. */
function refuseSilence({ answered, failure }: Meter): void {
  if (answered === 0 && failure !== undefined) throw failure;
}

/** Where the describer begins. */
interface Start {
  readonly known: VoidDescription;
  /** Absent when the search was left out, or ended before its time. */
  readonly retrieved?: RetrievedVoid | undefined;
  /** The run ended already. */
  readonly isOver?: boolean;
}

/** The publisher's description, or an empty one with the attempts to find it. */
async function retrieve(parts: Run): Promise<Start> {
  const { meter, target, options } = parts;
  const { signal, budget = {}, onProgress } = options;
  const limited = new Meter(meter, budget.requests);
  const timeUp = new AbortController();
  const timer = budget.ms === undefined ? undefined : setTimeout(() => timeUp.abort(), budget.ms);
  const ended = AbortSignal.any([signal, timeUp.signal]);
  onProgress?.({ stage: "looking for the publisher's description", done: 0 });
  try {
    const retriever = createVoidRetriever({ asker: limited, clock: steadyClock });
    const retrieved = await retriever.retrieve(target, { signal: ended });
    const { description, records, cost } = retrieved;
    // The describer would wait a long time for a host that is not there.
    if (description === undefined && isGone(meter)) refuseSilence(meter);
    return { known: description ?? { ...emptyRun(parts), records, cost }, retrieved };
  } catch (thrown) {
    if (!ended.aborted && !limited.exhausted) throw toFedwayError(thrown);
    const cost = { ...meter.spent, ms: steadyClock.now() - parts.startedMs };
    return { known: { ...emptyRun(parts), cost }, isOver: true };
  } finally {
    clearTimeout(timer);
  }
}

const isGone = ({ failure }: Meter): boolean =>
  failure?.code === "ENDPOINT_UNREACHABLE" || failure?.code === "ADDRESS_REFUSED";

/** Goes on from what is known; an interrupted run gives its last checkpoint. */
async function compute({ meter, target, options, startedMs }: Run, known: VoidDescription): Promise<VoidDescription> {
  const { signal, onProgress, budget = {}, pauseMs } = options;
  const left = {
    ...budget,
    ...(budget.requests !== undefined && { requests: budget.requests - known.cost.requests }),
    ...(budget.ms !== undefined && { ms: budget.ms - (steadyClock.now() - startedMs) }),
  };
  const describer = createDescriber({ asker: meter, clock: steadyClock, pauseMs });
  let latest = known;
  const onCheckpoint = (checkpoint: VoidDescription): void => {
    latest = checkpoint;
  };
  try {
    return await describer.describe(target, {
      signal,
      known,
      budget: left,
      onCheckpoint,
      onProgress,
    });
  } catch (thrown) {
    if (!signal.aborted) throw toFedwayError(thrown);
    return { ...latest, unfinished: true };
  }
}

/** Nothing is known yet. */
const emptyRun = ({ target, startedMs }: Run): VoidDescription =>
  emptyDescription({
    ...target,
    startedAt: new Date(startedMs).toISOString(),
    finishedAt: new Date().toISOString(),
  });

/** An asker that counts what it is used for, and refuses requests beyond a limit with `CANCELLED`. */
class Meter implements Asker {
  /** Requests sent and decoded bytes received. */
  readonly spent = { requests: 0, bytes: 0 };
  /** Queries that were answered. */
  answered = 0;
  /** Why the last query that failed did; cancelled ones do not count. */
  failure: FedwayError | undefined;
  /** A request was refused because the limit was reached. */
  exhausted = false;
  readonly #asker: Asker;
  readonly #mostRequests: number;

  constructor(asker: Asker, mostRequests = Number.POSITIVE_INFINITY) {
    this.#asker = asker;
    this.#mostRequests = mostRequests;
  }

  fetchDocument(request: Parameters<Asker["fetchDocument"]>[0]): Promise<RdfDocument> {
    return this.#counted(() => this.#asker.fetchDocument(request));
  }

  async ask(asking: Parameters<Asker["ask"]>[0]): Promise<WholeAnswer> {
    try {
      const answer = await this.#counted(() => this.#asker.ask(asking));
      this.answered += 1;
      return answer;
    } catch (thrown) {
      const error = toFedwayError(thrown);
      if (error.code !== "CANCELLED") this.failure = error;
      throw error;
    }
  }

  async #counted<Answer extends WholeAnswer | RdfDocument>(send: () => Promise<Answer>): Promise<Answer> {
    if (this.spent.requests >= this.#mostRequests) {
      this.exhausted = true;
      throw new FedwayError("CANCELLED", "All requests that were allowed have been sent.");
    }
    this.spent.requests += 1;
    const answer = await send();
    if ("requests" in answer) this.spent.requests += Math.max(0, answer.requests - 1);
    this.spent.bytes += answer.bytes;
    return answer;
  }
}

/**
 * The endpoint that a person names by its URL, or by the id it has in the catalogue's files.
 * @throws FedwayError `REQUEST_INVALID` for a URL with credentials (never repeated) or an interface that cannot be asked,
 *   `ENDPOINT_UNKNOWN`, `CATALOG_INVALID`
 */
export async function findTarget(named: string, options: LoadCatalogOptions) {
  const url = URL.parse(named);
  if (url !== null && (url.username !== "" || url.password !== "")) {
    throw new FedwayError("REQUEST_INVALID", "The URL holds a user name or a password; such endpoints are not asked.");
  }
  if (url !== null && /^https?:$/.test(url.protocol)) {
    const catalog = await loadCatalog(options).catch(() => undefined);
    const entry = catalog?.byUrl(named);
    const [bare = named] = named.split("#", 1);
    return entry === undefined
      ? { endpoint: { url: bare }, dataset: `${bare}#dataset` }
      : targetOf(entry, options.baseUrl);
  }
  if (!isCatalogId(named)) {
    throw new FedwayError("REQUEST_INVALID", "This is neither an http(s) URL nor the id of a catalogue entry.", {
      next: "Give a URL such as https://example.org/sparql, or an id such as people.",
    });
  }
  const catalog = await loadCatalog(options);
  const entry = catalog.byId(named);
  if (entry !== undefined) return targetOf(entry, options.baseUrl);
  const next = "Give its URL; entries that were added to a running service are known to that service only.";
  throw unknownId("endpoint", named, { entries: catalog.entries, next });
}
