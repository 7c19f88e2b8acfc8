import { LRUCache } from "lru-cache";
import { FedwayError } from "../errors/fedway-error.ts";
import { parseQuery, withServiceUrls } from "../sparql/query.ts";
import { madeOf } from "./build-plan.ts";
import { bodyOf, clauseAt, knowsCuts, withinCapabilities } from "./capability-split.ts";
import { withPlanNotes } from "./complete-plan.ts";
import { draftOf } from "./decide-plan.ts";
import { selectedClause } from "./relevant-members.ts";
import { type ReadQuery, readOtherwise } from "./other-readings.ts";
import { planned } from "./passes.ts";
import type { PlanContext, PlanRequest, PlanTask } from "./plan-request.ts";
import type { DirectPlan, FederatedClause, FederatedPlan, PlannedEndpoint, QueryPlan } from "./query-plan.ts";
import { placeOf } from "./request-place.ts";
import { endpointNamed, federationUrl } from "./service-targets.ts";
import { unparsedPlan } from "./unparsed-plan.ts";

export type { PlanRequest } from "./plan-request.ts";

/** Options of a planner; cache sizes have defaults (1,000 query texts, 32 MiB). */
interface PlannerOptions extends PlanContext {
  readonly cacheEntries?: number;
  readonly cacheBytes?: number;
}

/** Turns requests into plans; pure but for its cache, which is bounded in entries, bytes and entry size. */
export type Planner = ReturnType<typeof createPlanner>;

/** A planner over a live catalogue: no plan outlives the version of the catalogue that it was made with. */
export function createPlanner(options: PlannerOptions) {
  const maxSize = options.cacheBytes ?? 32 * 1024 * 1024;
  const maxEntrySize = Math.max(1, Math.floor(maxSize / 16));
  // By the text first: a text that comes again is often the same string, whose hash is computed already; a longer key would be new.
  const cache = new LRUCache<string, PlanVariants>({
    max: options.cacheEntries ?? 1_000,
    maxSize,
    maxEntrySize,
  });
  const isCurrent = createVersionCheck(options);
  return {
    /**
     * The plan of a legal query; a `RejectedPlan` if it is not executed.
     * @throws FedwayError `QUERY_SYNTAX`, `QUERY_MISSING`, `QUERY_TOO_LARGE`, `UPDATE_REFUSED`, `ENDPOINT_UNKNOWN`,
     *   `FEDERATION_UNKNOWN`, `REQUEST_INVALID` when it names both an endpoint and a federation
     */
    plan(request: PlanRequest) {
      if (!isCurrent()) cache.clear();
      const { text } = request;
      const key = variantKey(request);
      const variants = cache.get(text);
      const known = variants?.get(key);
      if (known) return { plan: known, cached: true };
      const plan = makePlan(request, options);
      const grown = new Map([...(variants ?? noVariants), [key, plan]]);
      const size = planBytes(grown, text);
      if (grown.size <= mostVariants && size <= maxEntrySize) cache.set(text, grown, { size });
      else {
        const alone = new Map([[key, plan]]);
        cache.set(text, alone, { size: planBytes(alone, text) });
      }
      return { plan, cached: false };
    },
    /** The query of a text as it is planned, with its prefixes filled in. @throws FedwayError as `plan` */
    read(request: PlanRequest): ReadQuery {
      return readQuery(taskOf(request, options));
    },
    /**
     * A clause whose target is a variable, as it is asked at the endpoint that a value names.
     * @throws FedwayError `SERVICE_TARGET_REFUSED`, `SERVICE_SELF`, `FUNCTION_UNKNOWN`, `PATTERN_INVALID`
     */
    clauseAt(clause: FederatedClause, iri: string): FederatedClause {
      const asked = { ...clause, endpoint: endpointNamed(iri, options) };
      const body = bodyOf(asked);
      const { sources } = options;
      const cutsKnown = (endpoint: PlannedEndpoint) => knowsCuts(endpoint, options);
      return clauseAt(selectedClause(asked, body, { sources, cutsKnown }).clause, body, options);
    },
  };
}

/** The plans of one query text by everything else that a plan depends on. */
type PlanVariants = ReadonlyMap<string, QueryPlan>;

const noVariants: PlanVariants = new Map();
/** Kept for one text. */
const mostVariants = 32;

/** Returns a check that no source of cached plans has changed since the last call. */
function createVersionCheck({ catalog, capabilities, availability, terms, sources }: PlanContext): () => boolean {
  const versions = (): readonly unknown[] => [
    catalog.version,
    capabilities?.version,
    availability?.version,
    terms?.version,
    sources?.version,
  ];
  let known = versions();
  return () => {
    const isSame =
      catalog.version === known[0] &&
      capabilities?.version === known[1] &&
      availability?.version === known[2] &&
      terms?.version === known[3] &&
      sources?.version === known[4];
    if (!isSame) known = versions();
    return isSame;
  };
}

/** An id with its length in front, so that what follows it cannot be taken for a part of it. */
const delimited = (sign: string, id: string | undefined): string =>
  id === undefined ? "" : `${sign}${id.length}:${id}`;

/** Everything a plan depends on beside the text. */
function variantKey(request: PlanRequest): string {
  const { endpointId, federationId, strict, defaultGraphs, namedGraphs, prune = true, ask = [] } = request;
  const graphs = defaultGraphs.length + namedGraphs.length === 0 ? "" : JSON.stringify([defaultGraphs, namedGraphs]);
  const how = prune === true ? "" : String(prune);
  const asked = ask.map((id) => delimited("a", id)).join("");
  return `${delimited("e", endpointId)}${delimited("f", federationId)}${graphs}${strict ? "!" : "|"}${how}${asked}`;
}

/** Estimate: two bytes a character of the keys and of every text in the plans, and a kilobyte for the rest of each. */
function planBytes(variants: PlanVariants, text: string): number {
  let characters = text.length;
  for (const [key, plan] of variants) {
    const texts = plan.kind === "rejected" ? plan.reason.message.length : plan.query.length;
    const silent = plan.kind === "direct" ? (plan.silent?.query.length ?? 0) : 0;
    const clauses = plan.kind === "federated" ? clauseCharacters(plan) : 0;
    const excluded = plan.kind === "rejected" ? 0 : 64 * (plan.exclusions?.list.length ?? 0);
    // Not read: the texts of some are made when they are.
    const noted = plan.kind === "rejected" ? 0 : plan.notes.length * (1_000 + text.length);
    characters += 512 + key.length + texts + silent + clauses + excluded + noted;
  }
  return 2 * characters;
}

function clauseCharacters({ skeleton, clauses }: FederatedPlan): number {
  const each = clauses.map(({ prologue, pattern }) => 512 + prologue.length + pattern.length);
  return each.reduce((sum, characters) => sum + characters, skeleton.length);
}

function makePlan(request: PlanRequest, context: PlanContext): QueryPlan {
  const task = taskOf(request, context);
  const read = readOrPlan(task);
  if ("kind" in read) return withPlanNotes(withinCapabilities(madeOf(read, undefined), context), request, context);
  const { parsed, source, filled } = read;
  try {
    return planned({ ...draftOf(parsed, task), headNotes: filled ? [filled.note] : [] });
  } catch (thrown) {
    const reason = source.relocated(thrown);
    if (reason instanceof FedwayError && reason.code !== "INTERNAL") return { kind: "rejected", reason };
    throw reason;
  }
}

/** The query, or the plan for a text that only its endpoint understands. @throws FedwayError as `readQuery`, `unparsedPlan` */
function readOrPlan(task: PlanTask): ReadQuery | DirectPlan {
  try {
    return readQuery(task);
  } catch (error) {
    const isIllegal = error instanceof FedwayError && ["QUERY_SYNTAX", "SERVICE_TARGET_REFUSED"].includes(error.code);
    const unparsed = isIllegal ? unparsedPlan(task.request, task.entry) : undefined;
    if (unparsed === undefined) throw error;
    return unparsed;
  }
}

function taskOf(request: PlanRequest, context: PlanContext): PlanTask {
  const { endpointId, federationId } = request;
  const place = endpointId === undefined && federationId === undefined ? nowhere : placeOf(request, context);
  return { context, request, ...place };
}

/** The query says itself where its data are. */
const nowhere = { entry: undefined } as const;

/** @throws FedwayError as `readOtherwise` */
function readQuery(task: PlanTask): ReadQuery {
  const { context, request } = task;
  const urlOfId = (id: string): string | undefined => urlOf(id, context);
  const written = withServiceUrls(request.text, urlOfId, request.endpointId === undefined);
  try {
    return { parsed: parseQuery(written.text), source: written };
  } catch (error) {
    return readOtherwise(written, error, task);
  }
}

/** An id in the place of a URL means the endpoint that has it, else the federation. */
const urlOf = (id: string, { catalog, publicUrl }: PlanContext): string | undefined =>
  catalog.byId(id)?.url ?? (catalog.federation(id) && federationUrl(publicUrl, id));
