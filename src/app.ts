import { pino, type Logger } from "pino";
import { now } from "./app/clock.ts";
import { type Clients, openClients } from "./app/open-clients.ts";
import { openRegistry, type Registry } from "./app/open-registry.ts";
import { openState, type State } from "./app/open-state.ts";
import type { Config } from "./config/config.ts";
import { packageVersion } from "./config/version.ts";
import { createDeferredEngine } from "./engine/deferred-engine.ts";
import { createDirectExecutor } from "./engine/direct-executor.ts";
import type { FederationEngine } from "./engine/federation-engine.ts";
import { createPatternSources } from "./engine/sources/open-pattern-source.ts";
import { FedwayError } from "./errors/fedway-error.ts";
import { createExampleFederation, type ExampleFederation } from "./hosting/examples/example-federation.ts";
import type { HostedEndpoint } from "./hosting/hosted-endpoint.ts";
import { createHttpServer } from "./http/server.ts";
import { createMetrics } from "./metrics/metrics.ts";
import { createPlanner } from "./plan/create-planner.ts";
import { createQueryService } from "./query/create-query-service.ts";
import type { QueryService } from "./query/query-service.ts";
import type { Catalog } from "./registry/catalog.ts";
import type { LocalDispatch } from "./transport/sparql-client.ts";

/** The whole service, wired. */
export interface App {
  readonly queries: QueryService;
  readonly catalog: Catalog;
  /** Starts the HTTP server; resolves to its URL. */
  listen(): Promise<string>;
  /** Lets answers under way end for a while, then ends everything that was started. */
  close(): Promise<void>;
}

type Closing = () => void | Promise<void>;

/** What was opened, to be closed in reverse order. */
class Opened {
  readonly #closings: Closing[] = [];

  add(closing: Closing): void {
    this.#closings.push(closing);
  }

  /** Closes everything, also when something fails; the first failure is thrown at the end. */
  async close(): Promise<void> {
    const failures: unknown[] = [];
    for (const closing of this.#closings.splice(0).toReversed()) {
      try {
        await closing();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}

/**
 * Composition root: the one place that knows which adapter implements which port.
 * @throws FedwayError `CATALOG_INVALID`, `STORE_HELD`, `STORE_FAILED`, `ENDPOINT_FAILED` when the service cannot start as
 *   configured; nothing that was opened is left
 */
export async function createApp(config: Config): Promise<App> {
  const opened = new Opened();
  try {
    return await wire(config, opened);
  } catch (error) {
    await opened.close();
    throw error;
  }
}

async function wire(config: Config, opened: Opened): Promise<App> {
  const log = createLog(config);
  opened.add(() => log.flush());
  const state = await openState(config);
  opened.add(() => state.close());
  const examples = config.examples ? await hostExamples(config) : undefined;
  if (examples) opened.add(() => examples.close());
  const metrics = createMetrics();
  const local = localDispatch(config, examples);
  const clients = openClients(config, local, metrics);
  opened.add(() => clients.close());
  const registry = await openRegistry({ config, log, state, clients, local });
  opened.add(() => registry.close());
  refuseEmpty(registry.catalog, config);
  const engine = createEngine(config, clients);
  opened.add(() => engine.close());
  const queries = createQueryService({
    planner: createPlanner({
      catalog: registry.catalog,
      capabilities: registry.capabilities,
      egress: config.egress,
      publicUrl: config.publicUrl,
    }),
    direct: createDirectExecutor(clients.sparql, now),
    engine,
    limits: config.limits,
    metrics,
    now,
  });
  metrics.watchRunning(() => queries.running);
  return serve({ config, log, state, examples, metrics, registry, queries }, opened);
}

interface ServedParts {
  readonly config: Config;
  readonly log: Logger;
  readonly state: State;
  readonly examples: ExampleFederation | undefined;
  readonly metrics: ReturnType<typeof createMetrics>;
  readonly registry: Registry;
  readonly queries: QueryService;
}

async function serve(parts: ServedParts, opened: Opened): Promise<App> {
  const { config, log, state, examples, metrics, registry, queries } = parts;
  const { catalog, search, descriptions, capabilities, linksets, jobs } = registry;
  let closing = false;
  const http = await createHttpServer({
    config,
    queries,
    catalog,
    search,
    descriptions,
    capabilities,
    linksets,
    jobs,
    hosted: (id) => examples?.endpoints.get(id),
    metrics,
    ready: () => readiness(catalog, examples, closing),
    version: packageVersion(),
    logger: log,
  });
  opened.add(() => http.close());
  return {
    queries,
    catalog,
    async listen() {
      const url = await http.listen();
      await state.announce(url);
      return url;
    },
    async close() {
      closing = true;
      await opened.close();
    },
  };
}

/** The federation engine is large, and a service that only passes queries on never needs it. */
function createEngine({ limits: { maxSolutions } }: Config, { sparql, documents }: Clients): FederationEngine {
  return createDeferredEngine({
    name: "comunica",
    load: async () => {
      const { createComunicaEngine } = await import("./engine/comunica/comunica-engine.ts");
      const openSource = createPatternSources({ documents, now });
      return createComunicaEngine({ client: sparql, openSource, maxSolutions, now });
    },
  });
}

/** Lines are written in batches, at the latest after a quarter of a second, and at the end. */
function createLog({ log }: Config): Logger {
  const batches = { sync: false, minLength: 16_000, periodicFlush: 250 };
  return pino({ level: log.level, base: null }, pino.destination({ dest: 2, ...batches }));
}

async function hostExamples({ limits }: Config): Promise<ExampleFederation> {
  return createExampleFederation({
    limits: {
      timeoutMs: limits.hostedTimeoutMs,
      memoryMb: limits.hostedMemoryMb,
      maxAnswerBytes: 64 * 1024 * 1024,
      maxQueue: 256,
    },
  });
}

function refuseEmpty({ entries, problems }: Catalog, { catalogDir }: Config): void {
  if (entries.length > 0 || problems.length === 0) return;
  throw new FedwayError("CATALOG_INVALID", `No file of the catalogue ${catalogDir} can be used.`, {
    next: `Begin with ${problems[0]?.file}: ${problems[0]?.reason}`,
  });
}

/** This service's own `/hosted/{id}/sparql` URLs are answered in-process; the catalogue names them by the public URL. */
function localDispatch({ publicUrl }: Config, examples: ExampleFederation | undefined): LocalDispatch {
  const hosted = new Map<string, HostedEndpoint>();
  for (const [id, endpoint] of examples?.endpoints ?? []) hosted.set(`${publicUrl}/hosted/${id}/sparql`, endpoint);
  return (url) => {
    const endpoint = hosted.get(url);
    return endpoint && ((query) => endpoint.query(query));
  };
}

function readiness(catalog: Catalog, examples: ExampleFederation | undefined, closing: boolean) {
  const checks = {
    service: { ok: !closing, detail: closing ? "shutting down" : "running" },
    catalogue: {
      ok: true,
      detail: `${catalog.entries.length} endpoints, ${catalog.problems.length} files left out`,
    },
    examples: { ok: true, detail: examples ? `${examples.endpoints.size} hosted` : "off" },
  };
  return { ready: !closing, checks };
}
