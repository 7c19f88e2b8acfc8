import { createDirectExecutor } from "../../src/engine/direct-executor.ts";
import { createInProcessExecutor } from "../../src/engine/executor.ts";
import { createTestedEngine } from "./tested-engine.ts";
import { createHttpServer } from "../../src/http/server.ts";
import { createPlanner } from "../../src/plan/create-planner.ts";
import { Admission } from "../../src/query/admission.ts";
import { createQueryService } from "../../src/query/create-query-service.ts";
import { createRequestSpans, type Tracer } from "../../src/telemetry/tracing.ts";
import { createSparqlClient } from "../../src/outbound/client.ts";
import { catalogEntry, createCatalog } from "./catalog-entry.ts";
import { createFakeDeps } from "./http-deps.ts";

/** HTTP shell, query service and transport with a tracer; the rest of the shell is fake. */
export interface TracedService {
  readonly url: string;
  /** Log lines. */
  readonly lines: readonly object[];
  close(): Promise<void>;
}

/** Starts it over endpoints by id. */
export async function startTracedService(
  endpoints: Readonly<Record<string, string>>,
  tracer: Tracer | undefined,
): Promise<TracedService> {
  const now = () => performance.timeOrigin + performance.now();
  const client = createSparqlClient({
    version: "1",
    allowAddresses: ["127.0.0.0/8"],
    retry: { baseMs: 5 },
    clock: { now, setTimeout, clearTimeout },
    ...(tracer && { observer: { onRequest: createRequestSpans(tracer) } }),
  });
  const entries = Object.entries(endpoints).map(([id, url]) => catalogEntry(id, { url }));
  const publicUrl = "http://127.0.0.1:3000";
  const catalog = createCatalog(entries, [], { publicUrl });
  const engine = createTestedEngine({ client, maxSolutions: 1000, now });
  const queries = createQueryService({
    planner: createPlanner({ catalog, egress: "catalog", publicUrl }),
    direct: createDirectExecutor(client, now),
    federated: createInProcessExecutor(engine),
    admission: new Admission({ maxConcurrent: 20 }),
    limits: { timeoutMs: 10_000, maxRows: 100, runs: 10 },
    metrics: { observeRun: () => {}, observePlan: () => {}, observeBusy: () => {} },
    now,
    tracer,
  });
  const fake = await createFakeDeps();
  const shown = { ...fake.catalog, byId: (id: string) => catalog.byId(id) };
  const server = await createHttpServer({ ...fake, catalog: shown, queries, ...(tracer && { tracer }) });
  return {
    url: await server.listen(),
    lines: fake.lines,
    async close() {
      await server.close();
      await client.close();
    },
  };
}
