import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Logger } from "pino";
import { systemClock } from "../clock.ts";
import type { Config } from "../config/config.ts";
import { FedwayError } from "../errors/fedway-error.ts";
import type { JobQueue } from "../jobs/job-queue.ts";
import { isOwnHost } from "../outbound/address-guard.ts";
import type { LocalDispatch } from "../outbound/local-answer.ts";
import { openRegistry as open, type RegistryOptions } from "../registry/registry.ts";
import { createTermKeeper } from "../selection/endpoint-keys.ts";
import { openSources } from "../selection/open-sources.ts";
import { parseQuery, withServiceUrls } from "../sparql/query.ts";
import { catalogSources, shapesFile, urlRefusals } from "./catalog-files.ts";
import type { Clients } from "./open-clients.ts";
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

/** The catalogue, everything that is known of its endpoints, and what plans take from that. */
export type Registry = Awaited<ReturnType<typeof openRegistry>>;

/**
 * Opens the registry and the sources of plans; its jobs run when the queue is started.
 * @throws FedwayError `CATALOG_INVALID`, `CONFIG_INVALID`, `STORE_FAILED`
 */
export async function openRegistry(
  foundation: Foundation,
  health: Pick<RegistryOptions, "statusOf" | "inMaintenance">,
) {
  const { config, log, clients, jobs, local } = foundation;
  const { asker, embedder, sparql } = clients;
  const { store, soleOwner } = foundation.state;
  const onFault = (error: unknown): void => log.warn({ err: error }, "background work failed");
  const registry = await open({
    ...health,
    publicUrl: config.publicUrl,
    readBytes: config.readBytes,
    factsMaxAgeMs: config.factsMaxAgeMs,
    store,
    soleOwner,
    jobs,
    asker,
    embedder,
    local,
    catalog: { ...catalogSources(config), shapesFile, refuseUrl: urlRefusals(config) },
    isBroken: (url) => sparql.breakers.refusal(url) !== undefined,
    ...createTermKeeper(store),
    described: config.facts,
    harvest: config.agents.harvest,
    examples: exampleOptions(foundation),
    onFault,
  });
  const { catalog, models, capabilities, due } = registry;
  for (const { file, line, reason } of catalog.problems) log.warn({ file, line, reason }, "catalogue file left out");
  for (const { id, how, file } of catalog.drift) log.warn({ endpoint: id, how, file }, "catalogue file is overlaid");
  const sources = await openSources({
    models,
    catalog,
    store,
    asker,
    isOwn: (url) => local(url) !== undefined || isOwnHost(URL.parse(url)?.hostname ?? ""),
    buildOf: (url) => local(url)?.build,
    clock: systemClock,
    settings: config,
    renew: (id) => due.renew(id),
    lacksSubqueries: (id) => capabilities.view(id)?.lacks.has("subquery") ?? false,
    onFault,
  });
  const removals = registry.onRemoval((id) => sources.remove(id));
  return {
    ...registry,
    sources,
    /** Keeps what queries show of how an endpoint must be asked. */
    noteFound: (...found: Parameters<typeof capabilities.note>): void =>
      void capabilities.note(...found).catch(onFault),
    async close(): Promise<void> {
      removals.close();
      await sources.close();
      await registry.close();
    },
  };
}

/** Solved questions of files and runs. @throws FedwayError `CONFIG_INVALID` when a folder of the settings is missing */
function exampleOptions({ config, log }: Foundation): RegistryOptions["examples"] {
  const { queryExamples, experience } = config.agents;
  const missing = queryExamples.find((folder) => !existsSync(folder));
  if (missing !== undefined) {
    throw new FedwayError("CONFIG_INVALID", `FEDWAY_QUERY_EXAMPLES names ${missing}, which is not there.`);
  }
  const beside = catalogSources(config).dirs.map(({ path }) => join(path, "queries"));
  return {
    keepRuns: experience,
    readTargets: targetsOf,
    folders: [...new Set([...beside.filter((folder) => existsSync(folder)), ...queryExamples])],
    onProblem: ({ file, reason }) => log.warn({ file, reason }, "example queries left out"),
  };
}

/** URLs of the SERVICE targets; undefined when it is no query. */
function targetsOf(text: string, urlOf: (id: string) => string | undefined): readonly string[] | undefined {
  try {
    const { services } = parseQuery(withServiceUrls(text, urlOf).text);
    return services.flatMap(({ target }) => (target.kind === "iri" ? target.iri : []));
  } catch {
    return undefined;
  }
}
