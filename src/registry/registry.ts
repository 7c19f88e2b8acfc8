import { every, steadyClock, systemClock } from "../clock.ts";
import type { Embedder } from "../embeddings/embedder.ts";
import type { JobQueue } from "../jobs/job-queue.ts";
import { isOwnHost } from "../outbound/address-guard.ts";
import type { LocalDispatch } from "../outbound/local-answer.ts";
import type { Asker } from "../outbound/whole-answer.ts";
import type { Store } from "../store/store.ts";
import { createCapabilityStore } from "./capabilities/capabilities.ts";
import { CapabilityService } from "./capabilities/capability-service.ts";
import { documentCanary, probeCapabilities } from "./capabilities/prober.ts";
import type { EditableCatalog } from "./catalog/catalog.ts";
import { followRemovals } from "./catalog/follow-removals.ts";
import { openCatalog } from "./catalog/open-catalog.ts";
import { createDescriber } from "./descriptions/compute/describer.ts";
import { createDescriptionService, type DescriptionService } from "./descriptions/description-service.ts";
import { createDescriptionStore } from "./descriptions/description-store.ts";
import { type DescribedEndpoints, DueDescriptions } from "./descriptions/due-descriptions.ts";
import { createLinksetFinder, createLinksetService } from "./descriptions/linkset-finder.ts";
import { createVoidRetriever } from "./descriptions/void-retriever.ts";
import type { EndpointStatus } from "./find/answers.ts";
import { Finder } from "./find/finder.ts";
import { createEngineSearch } from "./find/read/engine-search.ts";
import { createExampleStore, type ReadTargets } from "./find/read/example.ts";
import { ExampleService } from "./find/read/example-service.ts";
import { createHarvestStore } from "./find/read/harvest.ts";
import { createHarvester } from "./find/read/harvester.ts";
import { createValueService } from "./find/read/value-service.ts";
import { EndpointModels } from "./model/endpoint-models.ts";
import { keepModels } from "./model/keep-models.ts";
import type { Part } from "./schema/part-lines.ts";
import { partsOf } from "./schema/split-classes.ts";

/** Surroundings and settings of the registry. */
export interface RegistryOptions {
  readonly store: Store;
  /** No other process writes to the store. */
  readonly soleOwner: boolean;
  readonly jobs: JobQueue;
  readonly asker: Asker;
  /** Absent: everything is found by words alone. */
  readonly embedder?: Embedder | undefined;
  /** Endpoints hosted by this process. */
  readonly local: LocalDispatch;
  readonly publicUrl: string;
  /** Folders and shapes of the catalogue, and which URLs it refuses. */
  readonly catalog: Omit<Parameters<typeof openCatalog>[0], "store" | "now" | "search" | "isDescribed" | "baseUrl">;
  /** Monitored state of an endpoint. */
  readonly statusOf: (id: string) => EndpointStatus;
  readonly inMaintenance: (id: string) => boolean;
  /** True while requests to a URL would be refused by its circuit breaker. */
  readonly isBroken: (url: string) => boolean;
  /** Bytes, as N-Triples, up to which a description reads a dataset whole, and where these triples are kept. */
  readonly readBytes: Parameters<typeof createDescriber>[0]["readBytes"];
  readonly keepTriples: Parameters<typeof createDescriptionService>[0]["keepTriples"];
  /** Where the terms of properties are kept that were counted in larger ones. */
  readonly keepTerms: Parameters<typeof createDescriptionService>[0]["keepTerms"];
  /** Which endpoints are described automatically, again after `factsMaxAgeMs`. */
  readonly described: DescribedEndpoints;
  readonly factsMaxAgeMs: number;
  /** Labels and values that are read of an endpoint, and the ids of those that are spared. */
  readonly harvest: { readonly rows: number; readonly except: readonly string[] };
  readonly examples: {
    readonly folders: readonly string[];
    readonly keepRuns: number;
    /** URLs of the endpoints that a query asks, given those of catalogue ids; undefined when it is no query. */
    readonly readTargets: (query: string, urlOf: (id: string) => string | undefined) => ReturnType<ReadTargets>;
    readonly onProblem: ConstructorParameters<typeof ExampleService>[0]["onProblem"];
  };
  /** Called with failures of background work. */
  readonly onFault: (error: unknown) => void;
}

/** Finding out that nothing has changed costs one read of a counter. */
const followEveryMs = 400;
const refreshEveryMs = 15_000;
const politePauseMs = 250;

/** The catalogue and everything that is known of its endpoints. */
export type Registry = Awaited<ReturnType<typeof openRegistry>>;

/**
 * Opens the registry; its jobs run when the queue is started.
 * @throws FedwayError `CATALOG_INVALID`, `STORE_FAILED`
 */
export async function openRegistry(options: RegistryOptions) {
  const { store, asker, soleOwner, onFault, jobs } = options;
  const parts = await openParts(options);
  const { models, catalog, descriptions, capabilities, examples, values, finder } = parts;
  const linksetFinder = createLinksetFinder({ asker, clock: steadyClock });
  const linksets = createLinksetService({ catalog, finder: linksetFinder, descriptions, jobs });
  await capabilities.refresh();
  // The first background work to start, so nothing may fail after it.
  const keeper = await keepModels(models, { ...parts, store, clock: systemClock, onFault });
  const due = openDue(options, parts);
  /** Has what belongs to endpoints removed when they leave the catalogue, until it is closed. */
  const onRemoval = (remove: (id: string) => Promise<unknown>) =>
    followRemovals({ catalog, remove, clock: steadyClock, onFault });
  const removals = onRemoval((id) =>
    Promise.all([descriptions, capabilities, values, examples].map((each) => each.remove(id))),
  );
  /** Takes in what other processes have stored. @throws FedwayError `STORE_FAILED` */
  const refresh = async (): Promise<void> => {
    await catalog.refresh();
    await Promise.all([capabilities.refresh(), keeper.refresh(), examples.refresh()]);
  };
  const looks = soleOwner ? [] : follow(catalog, refresh, onFault);
  return {
    catalog,
    models,
    finder,
    descriptions,
    due,
    capabilities,
    linksets,
    /** Keeps how queries ended; undefined where that is not wanted. */
    experience: examples.experience,
    /** Where other parts of an endpoint's classes are. */
    parts: (id: string): readonly Part[] => partsOf(id, models.get(id)?.described?.built, { models, catalog }),
    /** Jobs that it enqueues; to be started with the queue. */
    kinds: [...descriptions.kinds, due.kind, values.kind, linksets.kind, ...capabilities.kinds],
    schedules: [capabilities.schedule],
    onRemoval,
    refresh,
    async close(): Promise<void> {
      await Promise.all(looks.map((each) => each.stop()));
      removals.close();
      await due.close();
      for (const part of [finder, examples, keeper]) await part.close();
    },
  };
}

type Parts = Awaited<ReturnType<typeof openParts>>;

/** The parts that know each other; nothing is read of the store but the catalogue. */
async function openParts(options: RegistryOptions) {
  const { store, asker, embedder, statusOf, publicUrl, harvest, onFault } = options;
  const models = new EndpointModels();
  let finder: Finder | undefined;
  const catalog = await openCatalog({
    ...options.catalog,
    baseUrl: publicUrl,
    store,
    now: steadyClock.now,
    search: (text) => finder?.endpointsMatching(text) ?? [],
    isDescribed: (id) => models.get(id)?.described !== undefined,
  });
  const mayHarvest = (id: string): boolean => harvest.rows > 0 && !harvest.except.includes(id);
  const stored = { harvests: createHarvestStore(store), exampleSets: createExampleStore(store), mayHarvest };
  const capabilities = openCapabilities(options, catalog);
  const readMore = (id: string, isPolite: boolean): Promise<void> => values.request(id, isPolite);
  const descriptions = openDescriptions(options, { catalog, capabilities, readMore });
  const examples = new ExampleService({
    ...options.examples,
    ...stored,
    readTargets: (query) => options.examples.readTargets(query, (id) => catalog.byId(id)?.url),
    models,
    catalog,
    store,
    asker,
    embedder,
    // Ages are compared with those that other processes have stored.
    clock: systemClock,
    baseUrl: publicUrl,
    onFault,
  });
  const values = openValues(options, { catalog, capabilities, descriptions, examples, ...stored });
  const textSearchOf = (id: string) => capabilities.view(id)?.textSearch;
  const engineSearch = createEngineSearch({ asker, catalog, textSearchOf, mayAsk: mayHarvest });
  finder = new Finder({ models, catalog, statusOf, embedder, engineSearch, examples, onFault });
  return { models, catalog, ...stored, capabilities, descriptions, examples, values, finder };
}

function openDue(options: RegistryOptions, { catalog, descriptions }: Parts): DueDescriptions {
  const { local, statusOf, inMaintenance, isBroken, factsMaxAgeMs, described, onFault } = options;
  return new DueDescriptions({
    catalog,
    descriptions,
    isHosted: (url) => local(url) !== undefined,
    isOwn: isOwn(options),
    isResting: ({ id, url }) => statusOf(id) === "down" || inMaintenance(id) || isBroken(url),
    clock: steadyClock,
    maxAgeMs: factsMaxAgeMs,
    described,
    onFault,
  });
}

/** True for endpoints of this process and on the operator's own network. */
const isOwn =
  ({ local }: RegistryOptions) =>
  (url: string): boolean =>
    local(url) !== undefined || isOwnHost(URL.parse(url)?.hostname ?? "");

/** Own endpoints need no pause between two questions. */
function pausing<Of>(options: RegistryOptions, make: (pauseMs: number) => Of): (url: string) => Of {
  const [polite, own] = [make(politePauseMs), make(0)];
  return (url) => (isOwn(options)(url) ? own : polite);
}

function openDescriptions(
  options: RegistryOptions,
  known: {
    readonly catalog: EditableCatalog;
    readonly capabilities: CapabilityService;
    readonly readMore: (id: string, isPolite: boolean) => Promise<void>;
  },
): DescriptionService {
  const { asker, store, local, jobs, publicUrl, keepTriples, keepTerms, readBytes } = options;
  const clock = steadyClock;
  const describerOf = pausing(options, (pauseMs) => createDescriber({ asker, clock, pauseMs, readBytes }));
  return createDescriptionService({
    ...known,
    retriever: createVoidRetriever({ asker, clock }),
    describer: { describe: (target, asked) => describerOf(target.endpoint.url).describe(target, asked) },
    descriptions: createDescriptionStore({ store }),
    keepTriples,
    keepTerms,
    local,
    jobs,
    clock,
    publicUrl,
    capabilities: (id) => known.capabilities.get(id),
  });
}

function openCapabilities(options: RegistryOptions, catalog: EditableCatalog): CapabilityService {
  const { asker, store, jobs } = options;
  const clock = steadyClock;
  const pauseMs = pausing(options, (ms) => ms);
  return new CapabilityService({
    catalog,
    probe: (endpoint, context) =>
      probeCapabilities(endpoint, { asker, clock, pauseMs: pauseMs(endpoint.url), ...context }),
    documentCanary: (entry, { signal }) => documentCanary(entry, { asker, clock, signal }),
    capabilities: createCapabilityStore(store),
    jobs,
    clock,
  });
}

/** Labels and values of endpoints, read in the background unless the operator forbids it. */
function openValues(
  options: RegistryOptions,
  known: Omit<Parameters<typeof createValueService>[0], "harvester" | "jobs" | "capabilities" | "onFault"> & {
    readonly capabilities: CapabilityService;
  },
) {
  const { asker, jobs, harvest, onFault } = options;
  const budget = { rows: harvest.rows };
  const harvesterOf = pausing(options, (pauseMs) => createHarvester({ asker, clock: steadyClock, pauseMs, budget }));
  return createValueService({
    ...known,
    harvester: { harvest: (target, asked) => harvesterOf(target.endpoint.url).harvest(target, asked) },
    jobs,
    capabilities: (id) => known.capabilities.get(id),
    onFault,
  });
}

/** Follows what other processes change. A store that fails is reported with the slower look. */
function follow(catalog: EditableCatalog, refresh: () => Promise<void>, onFault: (error: unknown) => void) {
  const clock = systemClock;
  return [
    every(followEveryMs, () => catalog.refresh(), { clock, onFault: () => {}, firstAfterMs: followEveryMs }),
    every(refreshEveryMs, refresh, { clock, onFault, firstAfterMs: refreshEveryMs }),
  ];
}
