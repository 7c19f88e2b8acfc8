import { fileURLToPath } from "node:url";
import { pino, type Logger } from "pino";
import type { Config } from "./config/config.ts";
import { packageVersion } from "./config/version.ts";
import { createComunicaEngine } from "./engine/comunica/comunica-engine.ts";
import { createDirectExecutor } from "./engine/direct-executor.ts";
import { FedwayError } from "./errors/fedway-error.ts";
import { createExampleFederation, type ExampleFederation } from "./hosting/examples/example-federation.ts";
import type { HostedEndpoint } from "./hosting/hosted-endpoint.ts";
import { createHttpServer } from "./http/server.ts";
import { createMetrics } from "./metrics/metrics.ts";
import { createPlanner } from "./plan/create-planner.ts";
import { createQueryService } from "./query/create-query-service.ts";
import type { QueryService } from "./query/query-service.ts";
import type { Catalog } from "./registry/catalog.ts";
import { loadCatalog } from "./registry/read-catalog.ts";
import { createSparqlClient } from "./transport/client.ts";
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

const version = packageVersion();
const exampleCatalog = fileURLToPath(new URL("../catalog/examples/", import.meta.url));
/** Milliseconds since the epoch, with fractions and never going back: the one clock of all deadlines. */
const now = () => performance.timeOrigin + performance.now();

/**
 * Composition root: the one place that knows which adapter implements which port.
 * @throws FedwayError `CATALOG_INVALID`, `ENDPOINT_FAILED` when the service cannot start as configured
 */
export async function createApp(config: Config): Promise<App> {
  const log = createLog(config);
  const catalog = await readCatalog(config, log);
  const examples = config.examples ? await hostExamples(config) : undefined;
  try {
    return await wire({ config, log, catalog, examples });
  } catch (error) {
    // Their workers would keep the process alive.
    await examples?.close();
    throw error;
  }
}

interface Parts {
  readonly config: Config;
  readonly log: Logger;
  readonly catalog: Catalog;
  readonly examples: ExampleFederation | undefined;
}

async function wire({ config, log, catalog, examples }: Parts): Promise<App> {
  const metrics = createMetrics();
  const client = createSparqlClient({
    version,
    contact: config.contact,
    allowAddresses: config.allowAddresses,
    maxAnswerBytes: config.limits.maxAnswerBytes,
    endpointConcurrency: config.limits.endpointConcurrency,
    hostRate: { perSecond: config.limits.hostRate, burst: 2 * config.limits.hostRate },
    local: localDispatch(config, examples),
    observer: {
      onExchange: (exchange) => metrics.observeExchange(exchange),
      onBreaker: (endpoint, state) => metrics.setBreaker(endpoint, state),
    },
    clock: { now, setTimeout, clearTimeout },
  });
  const engine = createComunicaEngine({ client, maxSolutions: config.limits.maxSolutions, now });
  const queries = createQueryService({
    planner: createPlanner({ catalog, egress: config.egress, publicUrl: config.publicUrl }),
    direct: createDirectExecutor(client, now),
    engine,
    limits: config.limits,
    metrics,
    now,
  });
  metrics.watchRunning(() => queries.running);
  let closing = false;
  const http = await createHttpServer({
    config,
    queries,
    catalog,
    hosted: (id) => examples?.endpoints.get(id),
    metrics,
    ready: () => readiness(catalog, examples, closing),
    version,
    logger: log,
  });
  return {
    queries,
    catalog,
    listen: () => http.listen(),
    async close() {
      closing = true;
      await http.close();
      await engine.close();
      await client.close();
      await examples?.close();
      log.flush();
    },
  };
}

/** Lines are written in batches, at the latest after a quarter of a second, and at the end. */
function createLog({ log }: Config): Logger {
  const batches = { sync: false, minLength: 4_096, periodicFlush: 250 };
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

async function readCatalog(config: Config, log: Logger): Promise<Catalog> {
  const dirs = [{ path: config.catalogDir }, ...(config.examples ? [{ path: exampleCatalog }] : [])];
  const catalog = await loadCatalog({ dirs, baseUrl: config.publicUrl });
  for (const { file, line, reason } of catalog.problems) log.warn({ file, line, reason }, "catalogue file left out");
  if (catalog.entries.length === 0 && catalog.problems.length > 0) {
    throw new FedwayError("CATALOG_INVALID", `No file of the catalogue ${config.catalogDir} can be used.`, {
      next: `Begin with ${catalog.problems[0]?.file}: ${catalog.problems[0]?.reason}`,
    });
  }
  return catalog;
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
