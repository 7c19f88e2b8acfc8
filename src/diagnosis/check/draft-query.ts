import { FedwayError, type Repair } from "../../errors/fedway-error.ts";
import type { QueryPlan } from "../../plan/query-plan.ts";
import type { VoidDescription } from "../../registry/void/void-description.ts";
import type { ParsedQuery } from "../../sparql/parse-query.ts";
import {
  type CheckOptions,
  type CheckRequest,
  endpointsOf,
  loadDescriptions,
  type Place,
  placeMeant,
  sourcesFor,
  vocabularyFor,
} from "./lookups.ts";
import { endpointsWithAll, wrappedFor } from "./missing-service.ts";
import { scopesOf, termsOf } from "./query-scope.ts";
import { type RepairSources, repairText, type UnrepairedText } from "./repair-text.ts";

/** A query that parses, with its plan. */
export interface Draft {
  readonly text: string;
  readonly parsed: ParsedQuery;
  readonly repairs: readonly Repair[];
  readonly plan: QueryPlan;
  readonly place: Place;
  readonly described: ReadonlyMap<string, VoidDescription>;
}

/** The query as far as it can be repaired, and planned. @throws FedwayError `ENDPOINT_UNKNOWN`, `FEDERATION_UNKNOWN` */
export async function draftOf(request: CheckRequest, options: CheckOptions) {
  const place = placeMeant(request, options);
  const ids = endpointsOf(request.query, place, options);
  const described = await loadDescriptions(ids, options);
  const sources = sourcesFor(vocabularyFor(ids, described), options);
  return { place, draft: await planned(request, { place, described, sources }, options) };
}

interface Drafting {
  readonly place: Place;
  readonly described: ReadonlyMap<string, VoidDescription>;
  readonly sources: RepairSources;
}

async function planned(
  { query }: CheckRequest,
  { place, described, sources }: Drafting,
  options: CheckOptions,
): Promise<Draft | UnrepairedText> {
  try {
    const found = repairText(query, sources);
    if ("error" in found) return found;
    const plan = planOf(found.text, place, options);
    const draft = { ...found, plan, place, described };
    return (await withService(draft, sources, options)) ?? draft;
  } catch (error) {
    if (error instanceof FedwayError && error.code !== "INTERNAL") return { error, core: query };
    throw error;
  }
}

/** @throws FedwayError as the planner */
export const planOf = (text: string, { endpointId, federationId }: Place, { planner }: CheckOptions): QueryPlan =>
  planner.plan({ text, endpointId, federationId, strict: false, defaultGraphs: [], namedGraphs: [] }).plan;

/** Codes of rejections for want of a SERVICE. */
export const lacksService: ReadonlySet<string> = new Set(["SERVICE_REQUIRED", "PATTERN_OUTSIDE_SERVICE"]);

/** The query with its patterns in a SERVICE for the only endpoint that has all their terms. */
async function withService(draft: Draft, sources: RepairSources, options: CheckOptions): Promise<Draft | undefined> {
  if (draft.plan.kind !== "rejected" || !lacksService.has(draft.plan.reason.code)) return undefined;
  const outside = scopesOf(draft.parsed, () => ({ ids: [], vocabulary: undefined })).filter(
    ({ service }) => service === undefined,
  );
  const [entry, ...others] = endpointsWithAll(outside.flatMap(termsOf), { ...options, terms: options.search });
  if (entry === undefined || others.length > 0) return undefined;
  const text = wrappedFor(draft.parsed, entry.url);
  const found = text === undefined ? undefined : repairText(text, sources);
  if (found === undefined || "error" in found) return undefined;
  const plan = planOf(found.text, draft.place, options);
  if (plan.kind === "rejected") return undefined;
  const repair: Repair = { kind: "service-missing", before: "", after: `SERVICE <${entry.id}>`, applied: true };
  const described = new Map([...draft.described, ...(await loadDescriptions([entry.id], options))]);
  return { ...draft, ...found, plan, described, repairs: [...draft.repairs, repair] };
}

/** Whether a text can be run as it is. */
export function isPlanned(text: string, place: Place, options: CheckOptions): boolean {
  try {
    return planOf(text, place, options).kind !== "rejected";
  } catch (error) {
    if (error instanceof FedwayError && error.code !== "INTERNAL") return false;
    throw error;
  }
}
