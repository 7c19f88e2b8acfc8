import { LRUCache } from "lru-cache";
import { FedwayError } from "../errors/fedway-error.ts";
import type { CatalogEntry } from "../registry/catalog.ts";
import { answerKindOf, type ParsedQuery, parseQuery } from "../sparql/parse-query.ts";
import { rawLimit, scanRawQuery } from "../sparql/raw-query.ts";
import { decidePlan } from "./decide-plan.ts";
import type { PlanContext, PlanRequest, PlanTask } from "./plan-request.ts";
import type { DirectPlan, QueryPlan } from "./query-plan.ts";
import { plannedEndpoint } from "./service-targets.ts";
import { similarIds } from "./suggest-endpoints.ts";

export type { PlanRequest } from "./plan-request.ts";

/** What a planner is made of; cache sizes have defaults (1,000 plans, 32 MiB). */
export interface PlannerOptions extends PlanContext {
  readonly cacheEntries?: number;
  readonly cacheBytes?: number;
}

/** A plan, and whether it was made before. */
export interface PlannedQuery {
  readonly plan: QueryPlan;
  readonly cached: boolean;
}

/** Turns requests into plans; pure but for its cache, which is bounded in entries, bytes and entry size. */
export interface Planner {
  /**
   * The plan of a legal query; what is not executed is a `RejectedPlan`.
   * @throws FedwayError `QUERY_SYNTAX`, `QUERY_MISSING`, `QUERY_TOO_LARGE`, `UPDATE_REFUSED`, `ENDPOINT_UNKNOWN`
   */
  plan(request: PlanRequest): PlannedQuery;
}

/** A planner over a catalogue that does not change. */
export function createPlanner(options: PlannerOptions): Planner {
  const maxSize = options.cacheBytes ?? 32 * 1024 * 1024;
  const cache = new LRUCache<string, QueryPlan>({
    max: options.cacheEntries ?? 1_000,
    maxSize,
    maxEntrySize: Math.max(1, Math.floor(maxSize / 16)),
    sizeCalculation: (plan, key) => planBytes(plan, key),
  });
  return {
    plan(request) {
      const key = cacheKey(request);
      const known = cache.get(key);
      if (known) return { plan: known, cached: true };
      const plan = makePlan(request, options);
      cache.set(key, plan);
      return { plan, cached: false };
    },
  };
}

/** Everything a plan depends on; the query text comes last, so no two requests share a key. */
function cacheKey({ text, endpointId, strict, defaultGraphs, namedGraphs }: PlanRequest): string {
  return `${JSON.stringify([endpointId ?? null, strict, defaultGraphs, namedGraphs])}${text}`;
}

/** Estimate: two bytes a character of the key and of every text in the plan, and a kilobyte for the rest. */
function planBytes(plan: QueryPlan, key: string): number {
  const texts = plan.kind === "rejected" ? plan.reason.message.length : plan.query.length;
  const silent = plan.kind === "direct" ? (plan.silent?.query.length ?? 0) : 0;
  return 1_024 + 2 * (key.length + texts + silent);
}

function makePlan(request: PlanRequest, context: PlanContext): QueryPlan {
  const entry = request.endpointId === undefined ? undefined : knownEntry(request.endpointId, context);
  const parsed = parsedOrRaw(request, { entry, context });
  if (parsed.kind === "direct") return parsed;
  const task: PlanTask = { context, request, entry };
  try {
    return decidePlan(parsed, task);
  } catch (thrown) {
    if (thrown instanceof FedwayError && thrown.code !== "INTERNAL") return { kind: "rejected", reason: thrown };
    throw thrown;
  }
}

function knownEntry(id: string, { catalog }: PlanContext): CatalogEntry {
  const entry = catalog.byId(id);
  if (entry) return entry;
  const endpoints = similarIds(catalog, id);
  throw new FedwayError("ENDPOINT_UNKNOWN", `The catalogue has no endpoint "${id.slice(0, 64)}".`, {
    next: endpoints.length > 0 ? `Did you mean ${endpoints.join(", ")}?` : "GET /api/endpoints lists all endpoints.",
    ...(endpoints.length > 0 && { endpoints }),
  });
}

interface Lookup {
  readonly entry: CatalogEntry | undefined;
  readonly context: PlanContext;
}

/** The parsed query; or, where the entry allows it, a plan for a text that only the endpoint understands. */
function parsedOrRaw(request: PlanRequest, { entry, context }: Lookup): ParsedQuery | DirectPlan {
  try {
    return parseQuery(request.text);
  } catch (thrown) {
    if (!(thrown instanceof FedwayError) || thrown.code !== "QUERY_SYNTAX") throw thrown;
    const raw = entry?.rawQueries ? rawPlan(request, entry) : undefined;
    if (raw) return raw;
    throw explained(thrown, context);
  }
}

function rawPlan(request: PlanRequest, entry: CatalogEntry): DirectPlan | undefined {
  const form = scanRawQuery(request.text, entry.pseudoServices);
  if (!form) return undefined;
  const limit = form === "SELECT" ? rawLimit(request.text) : undefined;
  return {
    kind: "direct",
    answer: answerKindOf(form),
    endpoint: plannedEndpoint(entry),
    query: request.text,
    ...(limit !== undefined && { limit }),
    silent: undefined,
    defaultGraphs: request.defaultGraphs,
    namedGraphs: request.namedGraphs,
    notes: [{ code: "RAW_QUERY", message: "The query is not plain SPARQL 1.1; it was passed on unparsed." }],
  };
}

/** `SERVICE <id>` is a relative IRI; whoever writes it means the endpoint with that catalogue id. */
function explained(error: FedwayError, { catalog }: PlanContext): FedwayError {
  const id = /relative IRI (\S{1,64})/.exec(error.message)?.[1];
  const entry = id === undefined ? undefined : catalog.byId(id);
  if (!entry) return error;
  const next = `Write the endpoint's URL: SERVICE <${entry.url}>.`;
  return new FedwayError(error.code, error.message, { ...error.details, next, endpoints: [entry.id] });
}
