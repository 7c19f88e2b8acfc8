import { FedwayError, type Repair } from "../../errors/fedway-error.ts";
import type { PrefixMeanings } from "../../plan/plan-request.ts";
import type { QueryPlan } from "../../plan/query-plan.ts";
import { followsGrammar, type Query } from "../../sparql/query.ts";
import { namesAt } from "./known-names.ts";
import { type CheckOptions, type CheckRequest, type Place, placeMeant } from "./lookups.ts";
import {
  anyFaults,
  ownFaults,
  type ReadText,
  type RepairSources,
  repairText,
  type Steps,
  type UnrepairedText,
} from "./repair-text.ts";
import { updateVerb } from "./update-to-select.ts";

/** A query with its plan. */
export interface Draft {
  readonly text: string;
  /** Undefined for what only its endpoint understands: SPARQL 1.2, a dialect. */
  readonly parsed: Query | undefined;
  readonly repairs: readonly Repair[];
  readonly plan: QueryPlan;
  readonly place: Place;
  /** The same by the rules of SPARQL 1.1, where only its endpoint may understand it. */
  readonly offered?: UnrepairedText["offered"];
}

/** A query that parses as SPARQL 1.1. */
export interface ParsedDraft extends Draft {
  readonly parsed: Query;
}

export const isParsed = (draft: Draft): draft is ParsedDraft => draft.parsed !== undefined;

/** A draft, and what it was made with. */
export interface Drafting {
  readonly place: Place;
  readonly sources: RepairSources;
  readonly draft: Draft | UnrepairedText;
}

/** The query as far as it can be repaired, and planned. @throws FedwayError `ENDPOINT_UNKNOWN`, `FEDERATION_UNKNOWN` */
export function* draftOf(request: CheckRequest, options: CheckOptions): Steps<Drafting> {
  const place = placeMeant(request, options);
  const { catalog } = options;
  const meanings: PrefixMeanings = new Map();
  const sources = {
    isId: (id: string) => (catalog.byId(id) ?? catalog.federation(id)) !== undefined,
    read: (text: string) => readText(text, { place, meanings }, options),
    names: namesAt(place, options),
  };
  return { place, sources, draft: yield* planned(request.query, { place, sources }, options) };
}

/** Drafts that the planner accepts: only what it refuses is repaired. */
function* planned(
  text: string,
  { place, sources }: Omit<Drafting, "draft">,
  options: CheckOptions,
): Steps<Drafting["draft"]> {
  const whole = planOf(text, place, options);
  yield;
  if (whole instanceof FedwayError) {
    const found = isRepairable(whole, text) ? yield* repairText(text, sources, ownFaults) : undefined;
    if (found === undefined) return { error: whole, core: text };
    if ("error" in found) return found;
    const plan = planOf(found.text, place, options);
    return plan instanceof FedwayError ? { error: plan, core: text } : { ...found, plan, place };
  }
  const read = sources.read(text);
  if (read instanceof FedwayError) return { text, parsed: undefined, repairs: [], plan: whole, place };
  const plan = read.text === text ? whole : planOf(read.text, place, options);
  return plan instanceof FedwayError ? { error: plan, core: text } : { ...read, plan, place };
}

/** The draft of a text that does not parse, with one that would run and may be meant, where such a text is found. */
export function* withOffered(
  text: string,
  { place, sources, draft }: Drafting,
  options: CheckOptions,
): Steps<Drafting["draft"]> {
  const isFailed = "error" in draft;
  const isOpen = isFailed ? draft.core === text && isRepairable(draft.error, text) : !isParsed(draft);
  if (!isOpen || (!isFailed && !followsGrammar(text))) return draft;
  const found = yield* repairText(text, sources, anyFaults);
  if (found === undefined || "error" in found) return isFailed && found ? found : draft;
  const isRefused = isFailed && planOf(found.text, place, options) instanceof FedwayError;
  return isRefused ? draft : { ...draft, offered: found };
}

/** The text may hold a query, or be one but for faults that can be mended. */
const isRepairable = ({ code }: FedwayError, text: string): boolean =>
  repairable.has(code) || (code === "UPDATE_REFUSED" && updateVerb(text) === undefined);

// A fence of tildes looks like SPARQL 1.2.
const repairable: ReadonlySet<string> = new Set(["QUERY_SYNTAX", "SERVICE_TARGET_REFUSED", "VERSION_UNSUPPORTED"]);

/** The query of a text, with its prefixes declared as the planner declares them; else its error. */
function readText(
  text: string,
  { place: { endpointId, federationId }, meanings }: { readonly place: Place; readonly meanings: PrefixMeanings },
  { planner }: CheckOptions,
): ReadText | FedwayError {
  const request = { text, endpointId, federationId, strict: false, defaultGraphs: [], namedGraphs: [], meanings };
  try {
    const { parsed, filled } = planner.read(request);
    if (filled === undefined) return { text, parsed, repairs: [] };
    const declared = filled.declarations.map((line) => `${line}\n`).join("") + text;
    const repairs = filled.declarations.map((after) => ({ kind: "prefix-missing", before: "", after, applied: true }));
    return { text: declared, parsed: planner.read({ ...request, text: declared }).parsed, repairs };
  } catch (error) {
    if (error instanceof FedwayError && error.code !== "INTERNAL") return error;
    throw error;
  }
}

/** The plan of a text, also a rejected one; what the planner throws where there is none. */
export function planOf(
  text: string,
  { endpointId, federationId }: Omit<Place, "repairs">,
  { planner }: CheckOptions,
): QueryPlan | FedwayError {
  try {
    return planner.plan({ text, endpointId, federationId, strict: false, defaultGraphs: [], namedGraphs: [] }).plan;
  } catch (error) {
    if (error instanceof FedwayError && error.code !== "INTERNAL") return error;
    throw error;
  }
}

/** True if a text can be run as it is. */
export function isPlanned(text: string, place: Place, options: CheckOptions): boolean {
  const plan = planOf(text, place, options);
  return !(plan instanceof FedwayError) && plan.kind !== "rejected";
}
