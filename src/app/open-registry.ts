import { fileURLToPath } from "node:url";
import type { Logger } from "pino";
import type { Config } from "../config/config.ts";
import type { JobKind, JobQueue } from "../jobs/job-queue.ts";
import type { EditableCatalog } from "../registry/catalog/catalog.ts";
import { createDescriber, type Describer } from "../registry/compute/describer.ts";
import { CapabilityService } from "../registry/capabilities/capability-service.ts";
import { createCapabilityStore } from "../registry/capabilities/capability-store.ts";
import { type CapabilityProber, createCapabilityProber } from "../registry/capabilities/prober.ts";
import { createDocumentCanary } from "../registry/capabilities/document-canary.ts";
import { openCatalog } from "../registry/catalog/open-catalog.ts";
import type { EndpointStatus, SearchIndex } from "../registry/search/search-index.ts";
import { createDescriptionService, type DescriptionService } from "../registry/void/description-service.ts";
import { createDescriptionStore } from "../registry/void/description-store.ts";
import { createLinksetFinder } from "../registry/void/linkset-finder.ts";
import { createLinksetService, type LinksetService } from "../registry/void/linkset-service.ts";
import { createVoidRetriever } from "../registry/void/void-retriever.ts";
import { createAddressGuard, isOwnHost } from "../outbound/address-guard.ts";
import type { LocalDispatch } from "../outbound/sparql-client.ts";
import { type OutboundAsker, createProbeClient } from "../outbound/whole-answer.ts";
import { every, systemClock, steadyClock } from "../clock.ts";
import { followRemovals } from "../registry/catalog/follow-removals.ts";
import { keepIndex, newIndex } from "../registry/search/keep-index.ts";
import type { Clients } from "./open-clients.ts";
import type { State } from "./open-state.ts";

/** What the registry is opened with. */
export interface RegistryParts {
  readonly config: Config;
  readonly log: Logger;
  readonly state: State;
  readonly clients: Pick<Clients, "sparql" | "asker">;
  readonly local: LocalDispatch;
  readonly jobs: JobQueue;
  /** What monitoring says of an endpoint. */
  readonly statusOf: (id: string) => EndpointStatus;
}

/** The catalogue and everything that is known of its endpoints. */
export interface Registry {
  readonly catalog: EditableCatalog;
  readonly search: SearchIndex;
  readonly descriptions: DescriptionService;
  readonly capabilities: CapabilityService;
  readonly linksets: LinksetService;
  /** Jobs that it enqueues; to be started with the queue. */
  readonly kinds: readonly JobKind[];
  /** Takes in what other processes have stored. @throws FedwayError `STORE_FAILED` */
  refresh(): Promise<void>;
  close(): Promise<void>;
}

const exampleCatalog = fileURLToPath(new URL("../../catalog/examples/", import.meta.url));
const shapesFile = fileURLToPath(new URL("../../catalog/shapes/entry-shapes.ttl", import.meta.url));
/** Finding out that nothing has changed costs one read of a counter. */
const followEveryMs = 400;
const refreshEveryMs = 15_000;

/** The catalogue: files as seed, changes from the store over them. @throws FedwayError `CATALOG_INVALID`, `STORE_FAILED` */
export async function readCatalog(
  { config, log, state }: Pick<RegistryParts, "config" | "log" | "state">,
  search: SearchIndex,
): Promise<EditableCatalog> {
  const guard = createAddressGuard(config.allowAddresses);
  const catalog = await openCatalog({
    dirs: [{ path: config.catalogDir }, ...(config.examples ? [{ path: exampleCatalog }] : [])],
    baseUrl: config.publicUrl,
    store: state.store,
    now: steadyClock.now,
    shapesFile,
    refuseUrl: (url) => guard.refuseUrl(url)?.message,
    search: (text) => search.endpointsMatching(text),
  });
  for (const { file, line, reason } of catalog.problems) log.warn({ file, line, reason }, "catalogue file left out");
  for (const { id, how, file } of catalog.drift) log.warn({ endpoint: id, how, file }, "catalogue file is overlaid");
  return catalog;
}

/** Endpoints of this process and on the operator's own network need no pause between two questions. */
function isOwn(url: string, local: LocalDispatch): boolean {
  return local(url) !== undefined || isOwnHost(URL.parse(url)?.hostname ?? "");
}

function politeDescriber(asker: OutboundAsker, local: LocalDispatch): Describer {
  const polite = createDescriber({ asker, clock: steadyClock });
  const own = createDescriber({ asker, clock: steadyClock, pauseMs: 0 });
  return {
    describe: (target, options) => (isOwn(target.endpoint.url, local) ? own : polite).describe(target, options),
  };
}

function politeProber({ clients, local }: Pick<RegistryParts, "clients" | "local">): CapabilityProber {
  const client = createProbeClient({ client: clients.sparql, clock: steadyClock });
  const polite = createCapabilityProber({ client, clock: steadyClock });
  const own = createCapabilityProber({ client, clock: steadyClock, bounds: { pauseMs: 0 } });
  return { probe: (endpoint, options) => (isOwn(endpoint.url, local) ? own : polite).probe(endpoint, options) };
}

/** Opens the registry; its jobs run when the queue is started. @throws FedwayError `CATALOG_INVALID`, `STORE_FAILED` */
export async function openRegistry(parts: RegistryParts): Promise<Registry> {
  const { config, log, state, clients, local, jobs } = parts;
  const { asker } = clients;
  const { store, soleOwner } = state;
  const onFault = (error: unknown): void => log.warn({ err: error }, "background work failed");
  const search = newIndex(parts.statusOf);
  const catalog = await readCatalog(parts, search);
  const onDropped = (endpoint: string, reason: string): void =>
    log.warn({ endpoint, reason }, "stored document dropped");
  const capabilities = new CapabilityService({
    catalog,
    prober: politeProber(parts),
    documentCanary: createDocumentCanary({ asker, clock: steadyClock }),
    capabilities: createCapabilityStore({ store, onDropped }),
    jobs,
    clock: steadyClock,
  });
  const descriptions = createDescriptionService({
    catalog,
    retriever: createVoidRetriever({ asker, clock: steadyClock }),
    describer: politeDescriber(asker, local),
    descriptions: createDescriptionStore({ store }),
    jobs,
    clock: steadyClock,
    publicUrl: config.publicUrl,
    capabilities: (id) => capabilities.get(id),
    onDropped,
  });
  const finder = createLinksetFinder({ asker, clock: steadyClock });
  const linksets = createLinksetService({ catalog, finder, descriptions, jobs });
  await capabilities.refresh();
  // The first thing that goes on by itself, so nothing may fail after it.
  const index = await keepIndex(search, { store, catalog, descriptions, onFault });
  const remove = (id: string): Promise<unknown> => Promise.all([descriptions.remove(id), capabilities.remove(id)]);
  const removals = followRemovals({ catalog, remove, clock: steadyClock, onFault });
  const refresh = async (): Promise<void> => {
    await catalog.refresh();
    await Promise.all([capabilities.refresh(), index.refresh()]);
  };
  const following = soleOwner ? undefined : follow(catalog, refresh, onFault);
  return {
    catalog,
    search,
    descriptions,
    capabilities,
    linksets,
    kinds: [descriptions.kind, linksets.kind, ...capabilities.kinds],
    refresh,
    async close() {
      await following?.stop();
      removals.close();
      await index.close();
    },
  };
}

/** What other processes change where the state is shared. A store that fails is reported with the slower look. */
function follow(
  catalog: { refresh(): Promise<void> },
  refresh: () => Promise<void>,
  onFault: (error: unknown) => void,
): { stop(): Promise<unknown> } {
  const quick = { clock: systemClock, onFault: () => {}, firstAfterMs: followEveryMs };
  const slow = { clock: systemClock, onFault, firstAfterMs: refreshEveryMs };
  const looks = [every(followEveryMs, () => catalog.refresh(), quick), every(refreshEveryMs, refresh, slow)];
  return { stop: () => Promise.all(looks.map((each) => each.stop())) };
}
