import { FedwayError, type Repair } from "../../errors/fedway-error.ts";
import type { QueryPlan } from "../../plan/query-plan.ts";
import { followsGrammar, type Query } from "../../sparql/query.ts";
import { type CheckOptions, type CheckRequest, type Place, placeMeant } from "./lookups.ts";
import { type ReadText, type RepairSources, repairText, type Steps, type UnrepairedText } from "./repair-text.ts";
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

/** The query as far as it can be repaired, and planned. @throws FedwayError `ENDPOINT_UNKNOWN`, `FEDERATION_UNKNOWN` */
export function* draftOf(
  request: CheckRequest,
  options: CheckOptions,
  offering: Offering,
): Steps<{ readonly place: Place; readonly draft: Draft | UnrepairedText }> {
  const place = placeMeant(request, options);
  const { catalog } = options;
  const sources = {
    isId: (id: string) => (catalog.byId(id) ?? catalog.federation(id)) !== undefined,
    read: (text: string) => readText(text, place, options),
  };
  const draft = yield* planned(request.query, { place, sources, ...offering }, options);
  return { place, draft };
}

interface Offering {
  /** Also looks for texts that would run and may be meant. */
  readonly withOffers: boolean;
}

interface Drafting extends Offering {
  readonly place: Place;
  readonly sources: RepairSources;
}

/** Drafts that the planner accepts: only what it refuses is repaired. */
function* planned(text: string, drafting: Drafting, options: CheckOptions): Steps<Draft | UnrepairedText> {
  const { place, sources } = drafting;
  const whole = planOf(text, place, options);
  yield;
  if (whole instanceof FedwayError) return yield* repaired(text, whole, { drafting, options });
  const read = sources.read(text);
  if (!(read instanceof FedwayError)) {
    const plan = read.text === text ? whole : planOf(read.text, place, options);
    return plan instanceof FedwayError ? { error: plan, core: text } : { ...read, plan, place };
  }
  const found = drafting.withOffers && followsGrammar(text) ? yield* repairText(text, sources, drafting) : undefined;
  const offered = found && "parsed" in found ? found : undefined;
  return { text, parsed: undefined, repairs: [], plan: whole, place, offered };
}

/** Repairs the part that the planner refuses, as far as possible. */
function* repaired(
  text: string,
  error: FedwayError,
  { drafting, options }: { readonly drafting: Drafting; readonly options: CheckOptions },
): Steps<Draft | UnrepairedText> {
  const { place, sources } = drafting;
  const found = isRepairable(error, text) ? yield* repairText(text, sources, drafting) : undefined;
  if (found === undefined) return { error, core: text };
  if ("error" in found) return found;
  const plan = planOf(found.text, place, options);
  const isOffered = found.repairs.some(({ applied }) => !applied);
  if (plan instanceof FedwayError) return { error: isOffered ? error : plan, core: text };
  if (!isOffered) return { ...found, plan, place };
  return { error, core: text, offered: found };
}

/** The text may hold a query, or be one but for faults that can be mended. */
const isRepairable = ({ code }: FedwayError, text: string): boolean =>
  repairable.has(code) || (code === "UPDATE_REFUSED" && updateVerb(text) === undefined);

// A fence of tildes looks like SPARQL 1.2.
const repairable: ReadonlySet<string> = new Set(["QUERY_SYNTAX", "SERVICE_TARGET_REFUSED", "VERSION_UNSUPPORTED"]);

/** The query of a text, with its prefixes declared as the planner declares them; else its error. */
function readText(
  text: string,
  { endpointId, federationId }: Place,
  { planner }: CheckOptions,
): ReadText | FedwayError {
  const request = { text, endpointId, federationId, strict: false, defaultGraphs: [], namedGraphs: [] };
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
