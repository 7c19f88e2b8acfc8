import { unknownId } from "../../errors/unknown-id.ts";
import type { Asker, WholeAnswer } from "../../outbound/whole-answer.ts";
import { steadyClock } from "../../clock.ts";
import { FedwayError, toFedwayError } from "../../errors/fedway-error.ts";
import type { JobProgress } from "../../jobs/job-queue.ts";
import type { VoidDescription } from "../void/void-description.ts";
import { createVoidRetriever, type RetrievedVoid } from "../void/void-retriever.ts";
import { createDescriber, type DescribeBudget, targetOf } from "./describer.ts";
import { runDescription, type RunTarget } from "./run-description.ts";
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
  /** The search for the publisher's own description; absent when it was left out. */
  readonly retrieved?: RetrievedVoid | undefined;
  /** The signal ended the run. */
  readonly interrupted: boolean;
}

/**
 * Describes one endpoint without a service: looks for its publisher's description, then computes what is missing. Keeps
 * nothing. When time, requests or the signal end the run, what was found so far is the result.
 * @throws FedwayError `ADDRESS_REFUSED`; when no query was answered, the error of the last one
 */
export async function describeTarget(
  asker: Asker,
  target: RunTarget,
  options: DescribeOnceOptions,
): Promise<DescribedOnce> {
  const { retrieve, pauseMs, ...circumstances } = options;
  const clock = steadyClock;
  const meter = new Meter(asker);
  const retriever = retrieve === false ? undefined : createVoidRetriever({ asker: meter, clock });
  const describer = createDescriber({ asker: meter, clock, pauseMs });
  const { description, retrieved, failure } = await runDescription(
    { retriever, describer, clock, target },
    {
      ...circumstances,
      onRetrieved(found) {
        // The describer would wait a long time for a host that is not there.
        if (found.description === undefined && meter.isGone) throw meter.failure;
      },
    },
  );
  const interrupted = options.signal.aborted;
  // An endpoint that answered nothing is a failure, not an empty dataset.
  const isSilent = description.source === "computed" && meter.answered === 0;
  const refusal = failure ?? (isSilent ? meter.failure : undefined);
  if (refusal !== undefined && !interrupted) throw toFedwayError(refusal);
  return { description, retrieved, interrupted };
}

/** An asker that notes whether its queries are answered. */
class Meter implements Asker {
  /** Queries that were answered. */
  answered = 0;
  /** Why the last query that failed did; cancelled ones do not count. */
  failure: FedwayError | undefined;
  readonly fetchDocument: Asker["fetchDocument"];
  readonly #asker: Asker;

  constructor(asker: Asker) {
    this.#asker = asker;
    this.fetchDocument = (request) => asker.fetchDocument(request);
  }

  get isGone(): boolean {
    const code = this.failure?.code;
    return this.answered === 0 && (code === "ENDPOINT_UNREACHABLE" || code === "ADDRESS_REFUSED");
  }

  async ask(asking: Parameters<Asker["ask"]>[0]): Promise<WholeAnswer> {
    try {
      const answer = await this.#asker.ask(asking);
      this.answered += 1;
      return answer;
    } catch (thrown) {
      const error = toFedwayError(thrown);
      if (error.code !== "CANCELLED") this.failure = error;
      throw error;
    }
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
