import type { Logger } from "pino";
import { every, systemClock, steadyClock } from "../clock.ts";
import type { Config } from "../config/config.ts";
import type { JobQueue } from "../jobs/job-queue.ts";
import { createAddressGuard, isOwnHost } from "../outbound/address-guard.ts";
import type { LocalDispatch } from "../outbound/local-answer.ts";
import {
  CapabilityService,
  createCapabilityStore,
  documentCanary,
  type Found,
  type NotedEndpoint,
  probeCapabilities,
} from "../registry/capabilities.ts";
import { type EditableCatalog, followRemovals, openCatalog } from "../registry/catalog.ts";
import {
  createDescriber,
  createDescriptionService,
  createDescriptionStore,
  createLinksetFinder,
  createLinksetService,
  createVoidRetriever,
  type DescriptionService,
  DueDescriptions,
} from "../registry/descriptions.ts";
import {
  createEngineSearch,
  createExampleStore,
  createHarvester,
  createHarvestStore,
  createLinker,
  createSearchIndex,
  createValueService,
  type EndpointStatus,
  type SearchIndex,
} from "../registry/find.ts";
import { EndpointModels, keepModels } from "../registry/model.ts";
import { type Part, partsOf } from "../registry/schema.ts";
import { createTripleKeeper } from "../selection/endpoint-keys.ts";
import { openSources } from "../selection/open-sources.ts";
import { catalogSources, shapesFile } from "./catalog-files.ts";
import type { Clients } from "./open-clients.ts";
import { openExamples } from "./open-examples.ts";
import type { State } from "./open-state.ts";

/** Parts that registry, monitor and shards need. */
export interface Foundation {
  readonly config: Config;
  readonly log: Logger;
  readonly state: State;
  readonly clients: Clients;
  /** Endpoints hosted by this process. */
  readonly local: LocalDispatch;
  readonly jobs: JobQueue;
}

/** Finding out that nothing has changed costs one read of a counter. */
const followEveryMs = 400;
const refreshEveryMs = 15_000;
const politePauseMs = 250;

/** The catalogue: files as seed, changes from the store over them. */
async function readCatalog(
  { config, log, state }: Foundation,
  { search, models }: { readonly search: SearchIndex; readonly models: EndpointModels },
): Promise<EditableCatalog> {
  const guard = createAddressGuard(config.allowAddresses);
  const catalog = await openCatalog({
    ...catalogSources(config),
    store: state.store,
    now: steadyClock.now,
    shapesFile,
    refuseUrl: (url) => guard.refuseUrl(url)?.message,
    search: (text) => search.endpointsMatching(text),
    isDescribed: (id) => models.get(id)?.described !== undefined,
  });
  for (const { file, line, reason } of catalog.problems) log.warn({ file, line, reason }, "catalogue file left out");
  for (const { id, how, file } of catalog.drift) log.warn({ endpoint: id, how, file }, "catalogue file is overlaid");
  return catalog;
}

/** Endpoints of this process and on the operator's own network need no pause between two questions. */
function pausing<Of>(local: LocalDispatch, make: (pauseMs: number) => Of): (url: string) => Of {
  const [polite, own] = [make(politePauseMs), make(0)];
  return (url) => (isOwn(local, url) ? own : polite);
}

const isOwn = (local: LocalDispatch, url: string): boolean =>
  local(url) !== undefined || isOwnHost(URL.parse(url)?.hostname ?? "");

const hostedBy = (local: LocalDispatch) => ({
  isOwn: (url: string): boolean => isOwn(local, url),
  buildOf: (url: string): string | undefined => local(url)?.build,
});

/** Where other parts of an endpoint's classes are. */
const knownParts =
  (models: EndpointModels, catalog: EditableCatalog) =>
  (id: string): readonly Part[] =>
    partsOf(id, { built: models.get(id)?.described?.built }, { models, catalog });

/** Monitored state of an endpoint. */
interface Health {
  readonly statusOf: (id: string) => EndpointStatus;
  readonly inMaintenance: (id: string) => boolean;
}

/** True if endpoints are described automatically. */
export const describesDue = ({ facts, monitor }: Config): boolean => facts && monitor.enabled;

/** Harvests of endpoints' data, and the endpoints that may be harvested. */
function openHarvests({ config, state: { store } }: Foundation) {
  const { rows, except } = config.agents.harvest;
  const mayHarvest = (id: string): boolean => rows > 0 && !except.includes(id);
  return { harvests: createHarvestStore(store), exampleSets: createExampleStore(store), mayHarvest };
}

/** The catalogue and everything that is known of its endpoints. */
export type Registry = Awaited<ReturnType<typeof openRegistry>>;

/**
 * Opens the registry; its jobs run when the queue is started.
 * @throws FedwayError `CATALOG_INVALID`, `STORE_FAILED`
 */
export async function openRegistry(foundation: Foundation, health: Health) {
  const { config, log, clients, jobs } = foundation;
  const { asker, embedder } = clients;
  const { store, soleOwner } = foundation.state;
  const onFault = (error: unknown): void => log.warn({ err: error }, "background work failed");
  const models = new EndpointModels();
  const search = createSearchIndex(models, health);
  const catalog = await readCatalog(foundation, { search, models });
  const capabilities = openCapabilities(foundation, catalog);
  const readMore = (id: string, isPolite: boolean): Promise<void> => values.request(id, isPolite);
  const descriptions = openDescriptions(foundation, { catalog, capabilities, readMore });
  const harvesting = openHarvests(foundation);
  const examples = openExamples(foundation, { models, catalog, ...harvesting, onFault });
  const known = { models, catalog, descriptions, ...hostedBy(foundation.local) };
  const values = openValues(foundation, { ...known, capabilities, examples, ...harvesting, onFault });
  const finder = createLinksetFinder({ asker, clock: steadyClock });
  const linksets = createLinksetService({ catalog, finder, descriptions, jobs });
  await capabilities.refresh();
  // The first background work to start, so nothing may fail after it.
  const keeper = await keepModels(models, { store, catalog, descriptions, ...harvesting, clock: systemClock, onFault });
  const due = openDue(foundation, { catalog, descriptions, ...health, onFault });
  const lacksSubqueries = (id: string): boolean => capabilities.view(id)?.lacks.has("subquery") ?? false;
  const dated = { clock: systemClock, settings: config, renew: (id: string): Promise<void> => due.renew(id) };
  const sources = await openSources({ ...known, ...dated, lacksSubqueries, store, asker, onFault });
  const { index, engineSearch } = values;
  const linker = createLinker({ ...known, ...health, search, embedder, values: index, engineSearch, onFault });
  const remove = (id: string): Promise<unknown> =>
    Promise.all([descriptions, capabilities, values, sources, examples].map((each) => each.remove(id)));
  const removals = followRemovals({ catalog, remove, clock: steadyClock, onFault });
  /** Takes in what other processes have stored. @throws FedwayError `STORE_FAILED` */
  const refresh = async (): Promise<void> => {
    await catalog.refresh();
    await Promise.all([capabilities.refresh(), keeper.refresh(), examples.refresh()]);
  };
  const looks = soleOwner ? [] : follow(catalog, refresh, onFault);
  return {
    catalog,
    models,
    search,
    descriptions,
    due,
    capabilities,
    /** Keeps what queries show of how an endpoint must be asked. */
    noteFound: (endpoint: NotedEndpoint, found: Found): void => void capabilities.note(endpoint, found).catch(onFault),
    linksets,
    values: index,
    linker,
    examples,
    sources,
    parts: knownParts(models, catalog),
    /** Jobs that it enqueues; to be started with the queue. */
    kinds: [...descriptions.kinds, due.kind, values.kind, linksets.kind, ...capabilities.kinds],
    schedules: [capabilities.schedule],
    refresh,
    async close(): Promise<void> {
      await Promise.all(looks.map((each) => each.stop()));
      removals.close();
      await Promise.all([due.close(), sources.close()]);
      for (const part of [values, linker, examples, keeper]) await part.close();
    },
  };
}

function openDescriptions(
  { config, clients, state: { store }, local, jobs }: Foundation,
  known: {
    readonly catalog: EditableCatalog;
    readonly capabilities: CapabilityService;
    readonly readMore: (id: string, isPolite: boolean) => Promise<void>;
  },
): DescriptionService {
  const { asker } = clients;
  const { readTriples } = config;
  const { catalog, capabilities, readMore } = known;
  const clock = steadyClock;
  const describerOf = pausing(local, (pauseMs) => createDescriber({ asker, clock, pauseMs, readTriples }));
  return createDescriptionService({
    catalog,
    retriever: createVoidRetriever({ asker, clock }),
    describer: { describe: (target, options) => describerOf(target.endpoint.url).describe(target, options) },
    descriptions: createDescriptionStore({ store }),
    keepTriples: createTripleKeeper(store),
    local,
    jobs,
    clock,
    publicUrl: config.publicUrl,
    capabilities: (id) => capabilities.get(id),
    readMore,
  });
}

function openDue(
  { config, clients, local }: Foundation,
  known: Health & {
    readonly catalog: EditableCatalog;
    readonly descriptions: DescriptionService;
    readonly onFault: (error: unknown) => void;
  },
) {
  const { statusOf, inMaintenance } = known;
  return new DueDescriptions({
    ...known,
    isOwn: (url) => isOwn(local, url),
    isResting: ({ id, url }) =>
      statusOf(id) === "down" || inMaintenance(id) || clients.sparql.breakers.refusal(url) !== undefined,
    clock: steadyClock,
    maxAgeMs: config.factsMaxAgeMs,
    isOn: describesDue(config),
  });
}

function openCapabilities({ clients, state, local, jobs }: Foundation, catalog: EditableCatalog): CapabilityService {
  const { asker } = clients;
  const clock = steadyClock;
  return new CapabilityService({
    catalog,
    probe: (endpoint, context) =>
      probeCapabilities(endpoint, {
        asker,
        clock,
        pauseMs: isOwn(local, endpoint.url) ? 0 : politePauseMs,
        ...context,
      }),
    documentCanary: (entry, { signal }) => documentCanary(entry, { asker, clock, signal }),
    capabilities: createCapabilityStore(state.store),
    jobs,
    clock,
  });
}

/** Labels and values of endpoints, read in the background unless the operator forbids it. */
function openValues(
  { config, clients, local, jobs }: Foundation,
  known: Pick<Parameters<typeof createValueService>[0], "models" | "harvests" | "examples" | "mayHarvest"> & {
    readonly catalog: EditableCatalog;
    readonly descriptions: DescriptionService;
    readonly capabilities: CapabilityService;
    readonly onFault: (error: unknown) => void;
  },
) {
  const { asker, embedder } = clients;
  const { catalog, capabilities, mayHarvest } = known;
  const { rows } = config.agents.harvest;
  const harvesterOf = pausing(local, (pauseMs) =>
    createHarvester({ asker, clock: steadyClock, pauseMs, budget: { rows } }),
  );
  const textSearchOf = (id: string) => capabilities.view(id)?.textSearch;
  const service = createValueService({
    ...known,
    harvester: { harvest: (target, options) => harvesterOf(target.endpoint.url).harvest(target, options) },
    jobs,
    capabilities: (id) => capabilities.get(id),
    embedder,
  });
  return { ...service, engineSearch: createEngineSearch({ asker, catalog, textSearchOf, mayAsk: mayHarvest }) };
}

/** Follows what other processes change. A store that fails is reported with the slower look. */
function follow(catalog: EditableCatalog, refresh: () => Promise<void>, onFault: (error: unknown) => void) {
  const clock = systemClock;
  return [
    every(followEveryMs, () => catalog.refresh(), { clock, onFault: () => {}, firstAfterMs: followEveryMs }),
    every(refreshEveryMs, refresh, { clock, onFault, firstAfterMs: refreshEveryMs }),
  ];
}
