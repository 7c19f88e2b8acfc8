import { fileURLToPath } from "node:url";
import type { DescribedOnce, DescribeOnceOptions } from "../cli/cli-io.ts";
import type { Config } from "../config/config.ts";
import { FedwayError, toFedwayError } from "../errors/fedway-error.ts";
import { createExampleFederation, type ExampleFederation } from "../hosting/examples/example-federation.ts";
import type { AskedEndpoint, Catalog, CatalogEntry } from "../registry/catalog/catalog.ts";
import { createDescriber, type DescribeTarget } from "../registry/compute/describer.ts";
import { loadCatalog } from "../registry/catalog/read-files.ts";
import { emptyDescription } from "../registry/compute/todo.ts";
import type { VoidDescription } from "../registry/void/void-description.ts";
import { createVoidRetriever, type RetrievedVoid } from "../registry/void/void-retriever.ts";
import { createAddressGuard } from "../outbound/address-guard.ts";
import type { LocalDispatch } from "../outbound/sparql-client.ts";
import { steadyClock } from "../clock.ts";
import { createMeter, type Meter } from "./meter.ts";
import { openClients, openHosting } from "./open-clients.ts";

type Target = DescribeTarget & { readonly dataset: string };

const exampleCatalog = fileURLToPath(new URL("../../catalog/examples/", import.meta.url));
const idPattern = /^[a-z0-9][a-z0-9._-]{0,63}$/u;

/**
 * Describes one endpoint without a service: looks for its publisher's description, then computes what is missing, with
 * the limits of the configuration. Keeps nothing. When time, requests or the signal end the run, what was found so far
 * is the result.
 * @throws FedwayError `REQUEST_INVALID` for a URL with credentials or an interface that cannot be asked,
 *   `ENDPOINT_UNKNOWN`, `ADDRESS_REFUSED`; when no query was answered, the error of the last one
 */
export async function describeOnce(
  config: Config,
  endpoint: string,
  options: DescribeOnceOptions,
): Promise<DescribedOnce> {
  const target = await findTarget(config, endpoint);
  const hosted = hostedId(config, target.endpoint.url);
  const refused = hosted === undefined ? guardOf(config).refuseUrl(target.endpoint.url) : undefined;
  if (refused !== undefined) throw refused;
  const pool = openHosting(config);
  const examples = hosted === undefined ? undefined : createExampleFederation(pool, config.limits.hostedMemoryMb);
  const clients = openClients(config, localDispatch(config, examples));
  const meter = createMeter(clients.asker);
  try {
    const pauseMs = options.pauseMs ?? (hosted === undefined ? undefined : 0);
    return await run({ meter, target, options, pauseMs, startedMs: steadyClock.now() });
  } finally {
    await Promise.all([clients.close(), pool.close()]);
  }
}

const guardOf = ({ allowAddresses }: Config) => createAddressGuard(allowAddresses);

interface Run {
  readonly meter: Meter;
  readonly target: Target;
  readonly options: DescribeOnceOptions;
  readonly pauseMs: number | undefined;
  readonly startedMs: number;
}

async function run(parts: Run): Promise<DescribedOnce> {
  const { meter, options } = parts;
  const start: Start = options.retrieve === false ? { known: emptyRun(parts) } : await retrieve(parts);
  const description = start.isOver === true ? start.known : await compute(parts, start.known);
  const interrupted = options.signal.aborted;
  if (!interrupted && description.source === "computed") refuseSilence(meter);
  return { description, ...(start.retrieved && { retrieved: start.retrieved }), interrupted };
}

/** An endpoint that answered nothing is a failure, not an empty dataset. */
function refuseSilence({ answered, failure }: Meter): void {
  if (answered === 0 && failure !== undefined) throw failure;
}

/** Where the describer begins. */
interface Start {
  readonly known: VoidDescription;
  /** Absent when the search was left out, or ended before its time. */
  readonly retrieved?: RetrievedVoid;
  /** The run ended already. */
  readonly isOver?: boolean;
}

/** The publisher's description, or an empty one with the attempts to find it. */
async function retrieve(parts: Run): Promise<Start> {
  const { meter, target, options } = parts;
  const { signal, budget = {}, onProgress } = options;
  const limited = createMeter(meter, budget.requests);
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
async function compute({ meter, target, options, ...parts }: Run, known: VoidDescription): Promise<VoidDescription> {
  const { signal, onProgress, budget = {} } = options;
  const { pauseMs, startedMs } = parts;
  const left = {
    ...budget,
    ...(budget.requests !== undefined && { requests: budget.requests - known.cost.requests }),
    ...(budget.ms !== undefined && { ms: budget.ms - (steadyClock.now() - startedMs) }),
  };
  const describer = createDescriber({ asker: meter, clock: steadyClock, ...(pauseMs !== undefined && { pauseMs }) });
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
      ...(onProgress && { onProgress }),
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

/** @throws FedwayError that never repeats what could be a password */
async function findTarget(config: Config, endpoint: string): Promise<Target> {
  const url = URL.parse(endpoint);
  if (url !== null && (url.username !== "" || url.password !== "")) {
    throw new FedwayError("REQUEST_INVALID", "The URL holds a user name or a password; such endpoints are not asked.");
  }
  if (url !== null && /^https?:$/.test(url.protocol)) {
    const catalog = await readCatalog(config).catch(() => undefined);
    return targetOf(config, endpoint.split("#", 1)[0] ?? endpoint, catalog?.byUrl(endpoint));
  }
  if (!idPattern.test(endpoint)) {
    throw new FedwayError("REQUEST_INVALID", "This is neither an http(s) URL nor the id of a catalogue entry.", {
      next: "Give a URL such as https://example.org/sparql, or an id such as people.",
    });
  }
  const catalog = await readCatalog(config);
  const entry = catalog.byId(endpoint);
  if (entry === undefined) throw unknownId(endpoint, catalog);
  return targetOf(config, entry.url, entry);
}

const readCatalog = ({ catalogDir, examples, publicUrl }: Config): Promise<Catalog> =>
  loadCatalog({ dirs: [{ path: catalogDir }, ...(examples ? [{ path: exampleCatalog }] : [])], baseUrl: publicUrl });

function unknownId(id: string, { entries }: Catalog): FedwayError {
  return new FedwayError("ENDPOINT_UNKNOWN", `The files of the catalogue have no endpoint "${id}".`, {
    endpoints: entries.slice(0, 20).map((entry) => entry.id),
    next: "Give its URL; entries that were added to a running service are known to that service only.",
  });
}

function targetOf({ publicUrl }: Config, url: string, entry: CatalogEntry | undefined): Target {
  if (entry === undefined) return { endpoint: { url }, dataset: `${url}#dataset` };
  const { id, method, engine, rowCap } = entry;
  if (entry.interface !== "sparql") {
    const what = `"${id}" has the interface ${entry.interface}; it cannot be asked for a description.`;
    throw new FedwayError("REQUEST_INVALID", what);
  }
  const endpoint: AskedEndpoint = { id, url: entry.url, ...(method !== undefined && { method }) };
  return {
    endpoint,
    dataset: `${publicUrl}/endpoints/${id}#dataset`,
    ...(engine !== undefined && { engine }),
    ...(rowCap !== undefined && { rowCap }),
  };
}

/** The example that this service would host under a URL. */
function hostedId({ examples, publicUrl }: Config, url: string): string | undefined {
  const prefix = `${publicUrl}/hosted/`;
  if (!examples || !url.startsWith(prefix) || !url.endsWith("/sparql")) return undefined;
  return url.slice(prefix.length, -"/sparql".length);
}

const localDispatch =
  (config: Config, examples: ExampleFederation | undefined): LocalDispatch =>
  (url) => {
    const endpoint = examples?.get(hostedId(config, url) ?? "");
    return endpoint && ((query) => endpoint.query(query));
  };
