import { setImmediate as nextTurn } from "node:timers/promises";
import { inTurns } from "../../clock.ts";
import { FedwayError, type Problem, type Repair, toProblem } from "../../errors/fedway-error.ts";
import { entryMeant } from "../../plan/meant-entries.ts";
import type { PlanNote, QueryPlan } from "../../plan/query-plan.ts";
import { describedFederation } from "../../registry/catalog.ts";
import { costWarning } from "./cost.ts";
import {
  type Draft,
  draftOf,
  type Drafting,
  isParsed,
  isPlanned,
  type ParsedDraft,
  planOf,
  withOffered,
} from "./draft-query.ts";
import { type CheckOptions, type CheckRequest, vocabulariesFor } from "./lookups.ts";
import { misnamed, missedService, swappedTargets } from "./missing-service.ts";
import { constraintsOf } from "../../sparql/patterns.ts";
import { type TextEdit, withServiceIds } from "../../sparql/query.ts";
import { editsOf, likelyScore, type Offer, type QueryScope, scopesOf } from "./query-scope.ts";
import { otherValues } from "./other-values.ts";
import type { UnrepairedText } from "./repair-text.ts";
import { createRepeats, type EarlierRun } from "./repeats.ts";
import { type UnknownTerm, termOffers, unknownTerms } from "./unknown-terms.ts";
import { type TypeFinding, typeFindings } from "./type-findings.ts";
import { selectOfUpdate } from "./update-to-select.ts";

/** A query with its safe repairs applied, ready to be run. */
export interface PreparedQuery {
  /** The repaired text; as it was sent where nothing was repaired. */
  readonly query: string;
  /** Catalogue ids. */
  readonly endpoint?: string | undefined;
  readonly federation?: string | undefined;
  /** All of them applied. */
  readonly repairs: readonly Repair[];
  /** An earlier run of the same query by the same owner in the same session. */
  readonly repeatOf?: EarlierRun | undefined;
}

/** Result of checking a query before it is run. */
export interface CheckedQuery extends PreparedQuery {
  /** It parses and can be planned; its terms may still be unknown. */
  readonly valid: boolean;
  /** Applied ones first; the others are only offered, best first, as they would change what the query means. */
  readonly repairs: readonly Repair[];
  readonly unknown: readonly UnknownTerm[];
  /** Parts that known facts contradict. */
  readonly contradictions: readonly TypeFinding[];
  /** The query with the best of the offers applied, in the terms of the one that was sent; parsed, never run unasked. */
  readonly suggested?: string | undefined;
  /** Changes that are only offered, best first, by the tokens of a query that nothing else was repaired of. */
  readonly offers?: readonly Offer[];
  /** Endpoints by catalogue id, else by URL. Absent when it does not parse. */
  readonly plan?: {
    readonly kind: QueryPlan["kind"];
    readonly endpoints: readonly string[];
    readonly notes: readonly PlanNote[];
  };
  /** One sentence. */
  readonly cost?: string | undefined;
  /** Why it is not valid. */
  readonly problem?: Problem | undefined;
  /** Next step, in one sentence. */
  readonly next: string;
}

/** Checks and repairs queries by known facts about endpoints, without asking them. */
export type QueryCheck = ReturnType<typeof createQueryCheck>;

/** The use case over the catalogue, its descriptions and the planner. */
export function createQueryCheck(options: CheckOptions) {
  const repeats = createRepeats(options);
  return {
    /**
     * Applies the repairs that cannot change what the query means; one that parses and can be planned is never changed. One
     * that cannot be repaired comes back as it was sent.
     * @throws FedwayError `ENDPOINT_UNKNOWN`, `FEDERATION_UNKNOWN`
     */
    async prepare(request: CheckRequest): Promise<PreparedQuery & { readonly check: Checking }> {
      const drafting = await inTurns(draftOf(request, options));
      const prepared = { ...preparedOf(request, drafting), repeatOf: repeats.find(request) };
      return { ...prepared, check: (how) => checked(request, prepared, { drafting, how, options }) };
    },
    /** Reports the faults of a query and likely meanings. @throws FedwayError as `prepare` */
    async check(request: CheckRequest, how: { readonly signal: AbortSignal }): Promise<CheckedQuery> {
      const { check } = await this.prepare(request);
      return check(how);
    },
    /** Notes that a query was run, for `repeatOf`. */
    ran: (request: CheckRequest, run?: string): void => repeats.remember(request, run),
  };
}

/** The same as `check`, of a text that is prepared. */
type Checking = (how: { readonly signal: AbortSignal }) => Promise<CheckedQuery>;

interface Examined {
  readonly drafting: Drafting;
  readonly how: { readonly signal: AbortSignal };
  readonly options: CheckOptions;
}

async function checked(
  request: CheckRequest,
  prepared: PreparedQuery,
  { drafting, how, options }: Examined,
): Promise<CheckedQuery> {
  how.signal.throwIfAborted();
  const draft = await inTurns(withOffered(request.query, drafting, options));
  how.signal.throwIfAborted();
  const { suggested, ...found } = await readingOf(prepared, draft, options);
  return { ...found, suggested: suggested && withServiceIds(suggested, request.query, options.catalog) };
}

function readingOf(prepared: PreparedQuery, draft: Draft | UnrepairedText, options: CheckOptions) {
  if ("error" in draft) return refused(prepared, draft, options);
  return isParsed(draft) ? examined(prepared, draft, options) : foreign(prepared, draft);
}

function preparedOf({ query }: CheckRequest, { place, draft }: Drafting): PreparedQuery {
  const { endpointId: endpoint, federationId: federation } = place;
  const text = "error" in draft ? query : draft.text;
  return { query: text, endpoint, federation, repairs: [...place.repairs, ...("error" in draft ? [] : draft.repairs)] };
}

/** A query that only its endpoint understands: nothing is known of its parts. */
const foreign = (prepared: PreparedQuery, { plan, offered }: Draft): CheckedQuery => ({
  ...prepared,
  valid: plan.kind !== "rejected",
  repairs: [...prepared.repairs, ...(offered?.repairs ?? [])],
  unknown: [],
  contradictions: [],
  suggested: offered?.text,
  plan: summaryOf(plan),
  next: offered ? `${offered.repairs[0]?.why ?? ""} Run the suggested query.` : "Run the query.",
});

/** A query that parses: its terms, its direction, its constants, its cost. */
async function examined(prepared: PreparedQuery, draft: ParsedDraft, options: CheckOptions): Promise<CheckedQuery> {
  const { parsed, plan } = draft;
  const scopes = scopesOf(parsed, (service) => askedIn(service, draft, options));
  const unknown: UnknownTerm[] = [];
  for (const scope of scopes) unknown.push(...(await unknownTerms(scope, options.finder)));
  const rejection = plan.kind === "rejected" ? plan.reason : undefined;
  const target = rejection && misnamed(rejection, draft.text);
  const constraints = constraintsOf(parsed);
  const known = scopes.flatMap((scope) => offersFor(scope, unknown, { scopes, draft, options }));
  const values = await Promise.all(scopes.map((scope) => otherValues({ parsed, constraints }, scope, options.finder)));
  const idsFor = (service: string | undefined) => scopes.find((scope) => scope.service === service)?.ids ?? [];
  // Each of these may take all that one turn of the event loop should.
  await nextTurn();
  const types = typeFindings({ parsed, constraints, idsFor }, options);
  await nextTurn();
  // Another endpoint was meant: its facts are others.
  const isSwapped = known.some(({ score }) => score > 0.9);
  const offers = [...known, ...(isSwapped ? [] : types.offers), ...values.flatMap((each) => each.offers)].toSorted(
    (one, other) => other.score - one.score,
  );
  const contradictions = isSwapped ? [] : [...types.findings, ...values.flatMap(({ findings }) => findings)];
  const offered = [...(target ? [target.repair] : []), ...offers.map(shownOffer)].slice(0, mostOffers);
  const edits = suggestedEdits(draft, offers, options);
  const suggested = target?.suggested ?? (edits && parsed.cut(edits));
  const problem = rejection && { ...toProblem(rejection), repairs: offered.length > 0 ? offered : undefined };
  return {
    ...prepared,
    valid: rejection === undefined,
    repairs: [...prepared.repairs, ...offered],
    unknown,
    contradictions,
    suggested,
    offers,
    plan: summaryOf(plan),
    cost: costWarning(parsed, { scopes, models: options.models }),
    problem,
    next: nextOf({ unknown, contradictions, offers, rejection, suggested }),
  };
}

const mostOffers = 10;

/** Repairs that are not suggested are shown as possible. */
const shownOffer = ({ repair, score, why }: Offer): Repair =>
  score >= likelyScore ? repair : { ...repair, why: `possible, not certain: ${why}` };

/** Which endpoints the patterns of a SERVICE, or those outside of all, are asked of. */
function askedIn(
  service: string | undefined,
  { plan, place }: Draft,
  options: CheckOptions,
): Pick<QueryScope, "ids" | "vocabularies"> {
  const { catalog } = options;
  const ids = (): readonly string[] => {
    if (service !== undefined) return [entryMeant(service, catalog)?.id].filter((id) => id !== undefined);
    if (place.endpointId !== undefined) return [place.endpointId];
    const isAll = plan.kind === "rejected" ? plan.reason.code === "SERVICE_REQUIRED" : "over" in plan && plan.over;
    const federation = catalog.federation(place.federationId ?? (isAll ? describedFederation.id : ""));
    if (federation) return catalog.membersOf(federation).map(({ id }) => id);
    return plan.kind === "direct" && plan.endpoint.id !== undefined ? [plan.endpoint.id] : [];
  };
  const found = ids();
  return { ids: found, vocabularies: vocabulariesFor(found, options.models) };
}

/** The likeliest explanation first: another endpoint has all of the terms; a term is misspelt; the rest of the evidence. */
function offersFor(
  scope: QueryScope,
  unknown: readonly UnknownTerm[],
  { scopes, draft, options }: { scopes: readonly QueryScope[]; draft: ParsedDraft; options: CheckOptions },
): readonly Offer[] {
  const { parsed } = draft;
  const own = unknown.filter(({ endpoints }) => endpoints === scope.ids);
  const known = { ...options, terms: options.finder };
  const swaps = [...swappedTargets(scope, { scopes, parsed, known }), ...missedService(scope, own, { draft, known })];
  if (swaps.some(({ score }) => score > 0.9)) return swaps;
  return [...swaps, ...termOffers(parsed, scope, own)];
}

/** The best offers together; those alone that can be planned. */
function suggestedEdits(
  { parsed, place }: ParsedDraft,
  offers: readonly Offer[],
  options: CheckOptions,
): readonly TextEdit[] | undefined {
  const likely = offers.filter(({ score }) => score >= likelyScore);
  if (likely.length === 0) return undefined;
  const tries = [likely, likely.slice(0, 1)].map(editsOf);
  return tries.find((edits) => isPlanned(parsed.cut(edits), place, options));
}

function summaryOf(plan: QueryPlan): NonNullable<CheckedQuery["plan"]> {
  if (plan.kind === "rejected") return { kind: plan.kind, endpoints: [], notes: [] };
  const members = plan.kind === "direct" ? [plan.endpoint] : plan.members.map(({ endpoint }) => endpoint);
  return {
    kind: plan.kind,
    endpoints: members.map(({ id, url }) => id ?? url),
    notes: plan.notes,
  };
}

interface Findings extends Pick<CheckedQuery, "unknown" | "contradictions" | "suggested"> {
  readonly offers: readonly Offer[];
  readonly rejection: FedwayError | undefined;
}

function nextOf({ unknown, contradictions, offers: [best], rejection, suggested }: Findings): string {
  if (best && suggested !== undefined) {
    const { before, after } = best.repair;
    const change = before === "" ? `add ${after}` : `replace ${before} by ${after}`;
    return `Probably ${change} (${best.why}), as the suggested query does.`;
  }
  const [first] = unknown;
  if (first) {
    const where = first.elsewhere.length > 0 ? `; ${first.elsewhere.join(", ")} has it` : "";
    return `${first.endpoints[0] ?? "The endpoint"} has no ${first.kind} <${first.iri.slice(0, 200)}>${where}.`;
  }
  const [against] = contradictions;
  if (against && !rejection) return against.message;
  return rejection?.details.next ?? (rejection ? "Correct the query and check it again." : "Run the query.");
}

/** A text that cannot be planned: its fault, and the query that it may have meant. */
function refused(prepared: PreparedQuery, draft: UnrepairedText, options: CheckOptions): CheckedQuery {
  const { error } = draft;
  const { repairs = [], suggested, next } = offeredFor(prepared, draft, options);
  const offered = repairs.map(({ kind, before, after, why }) => ({ kind, before, after, why, applied: false }));
  return {
    ...prepared,
    valid: false,
    repairs: [...prepared.repairs, ...offered],
    unknown: [],
    contradictions: [],
    suggested,
    problem: { ...toProblem(error), repairs: offered.length > 0 ? offered : undefined },
    next: next ?? error.details.next ?? "Correct the query and check it again.",
  };
}

/** The query in SPARQL's own words, the SELECT of an update, another endpoint. */
function offeredFor(
  { query, endpoint: endpointId, federation: federationId }: PreparedQuery,
  { error, core, offered }: UnrepairedText,
  options: CheckOptions,
): Partial<Pick<CheckedQuery, "repairs" | "suggested" | "next">> {
  if (offered)
    return {
      repairs: offered.repairs,
      suggested: offered.text,
      next: "Send the suggested query, if it is what you mean.",
    };
  const parses = (text: string): boolean =>
    !(planOf(text, { endpointId, federationId }, options) instanceof FedwayError);
  const update = error.code === "UPDATE_REFUSED" ? selectOfUpdate(core, parses) : undefined;
  const next = "Updates are not executed here; if you meant to read, send the suggested query.";
  if (update) return { repairs: [update], suggested: update.after, next };
  const target = misnamed(error, query);
  return target && parses(target.suggested) ? { repairs: [target.repair], suggested: target.suggested } : {};
}
