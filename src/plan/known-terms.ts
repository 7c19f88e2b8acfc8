import type { CatalogEntry } from "../registry/catalog/catalog.ts";
import type { ParsedQuery } from "../sparql/parse-query.ts";
import { type UsedTerm, usedTerms } from "../sparql/used-terms.ts";
import type { KnownTerms, PlanContext, PlanTask } from "./plan-request.ts";
import type { PlanNote, QueryPlan } from "./query-plan.ts";
import { downLast, entryMeant } from "./service-targets.ts";

/** An endpoint to offer for a query that names none, and those of the query's terms that it has, as the query writes them. */
interface OfferedEndpoint {
  readonly entry: CatalogEntry;
  readonly has: readonly string[];
}

const offeredAtMost = 10;

/**
 * What to offer when a query names no endpoint, best first: the endpoints that are described with most of its classes and
 * properties; where there are none, those whose text or terms have their names. All of a small catalogue, else nothing:
 * the first of many by the alphabet would be no better than any other. Those that are down come last.
 */
export function offeredEndpoints(parsed: ParsedQuery, context: PlanContext): readonly OfferedEndpoint[] {
  const { catalog, terms } = context;
  const used = usedTerms(parsed).flatMap((each) => each.terms);
  const having = terms ? endpointsHaving(used, parsed, terms) : new Map<string, string[]>();
  const ranked = [...having].toSorted(([, left], [, right]) => right.length - left.length);
  const ids = ranked.length > 0 ? ranked.map(([id]) => id) : [...(terms?.endpointsFound(namesOf(used)) ?? [])];
  const entries = ids.flatMap((id) => catalog.byId(id) ?? []);
  const offered = entries.length > 0 ? entries : catalog.entries.length <= offeredAtMost ? catalog.entries : [];
  return downLast(offered, context)
    .slice(0, offeredAtMost)
    .map((entry) => ({ entry, has: having.get(entry.id) ?? [] }));
}

function endpointsHaving(used: readonly UsedTerm[], parsed: ParsedQuery, terms: KnownTerms): Map<string, string[]> {
  const having = new Map<string, string[]>();
  for (const term of used) {
    for (const id of terms.endpointsWith(term)) {
      const has = having.get(id) ?? [];
      has.push(written(term, parsed));
      having.set(id, has);
    }
  }
  return having;
}

/** Local names of vocabulary that is about something; those of RDF and RDFS are everywhere. */
const namesOf = (used: readonly UsedTerm[]): string =>
  used
    .filter(({ iri }) => !iri.startsWith("http://www.w3.org/"))
    .map(({ iri }) => /[^/#]*$/.exec(iri)?.[0] ?? "")
    .join(" ");

/** With a prefix of the query, where it has one for it. */
function written({ iri }: UsedTerm, { ast }: ParsedQuery): string {
  const [prefix, namespace] =
    Object.entries(ast.prefixes).find(([, start]) => start !== "" && iri.startsWith(start)) ?? [];
  return namespace === undefined ? `<${iri.slice(0, 200)}>` : `${prefix}:${iri.slice(namespace.length, 200)}`;
}

const notesAtMost = 5;

/**
 * Notes for the case that the answer is empty: the terms that none of the endpoints has that are asked about them, as far as
 * their descriptions prove it.
 */
export function unknownTermNotes(
  parsed: ParsedQuery,
  plan: Exclude<QueryPlan, { kind: "rejected" }>,
  task: PlanTask,
): readonly PlanNote[] {
  const { terms } = task.context;
  if (terms === undefined) return [];
  const notes = usedTerms(parsed).flatMap(({ service, terms: used }) => {
    const asked = service === undefined ? outsideOf(plan, task) : [entryMeant(service, task.context)?.id];
    const ids = asked.filter((id) => id !== undefined);
    if (ids.length === 0 || ids.length < asked.length) return [];
    return used
      .filter((term) => ids.every((id) => terms.hasTerm(id, term) === "no"))
      .map((term): PlanNote => ({ code: "TERM_UNKNOWN", message: lackOf(term, ids) + twinOf(term, ids, terms) }));
  });
  return notes.slice(0, notesAtMost);
}

/** Ids of the endpoints that the patterns outside of every SERVICE are sent to; undefined for one without an id. */
function outsideOf(
  plan: Exclude<QueryPlan, { kind: "rejected" }>,
  { entry, over }: PlanTask,
): readonly (string | undefined)[] {
  if (entry) return [entry.id];
  if (over) return over.members.map(({ id }) => id);
  return plan.kind === "direct" ? [plan.endpoint.id] : [];
}

function lackOf({ kind, iri }: UsedTerm, [first, ...others]: readonly string[]): string {
  const what = `${kind} <${iri.slice(0, 200)}>`;
  if (others.length === 0) return `By its description, ${first} has no ${what}.`;
  return `By their descriptions, none of the ${others.length + 1} endpoints has the ${what}.`;
}

/** The same name under https instead of http, or the other way round, where one of them has that. */
function twinOf({ kind, iri }: UsedTerm, ids: readonly string[], terms: KnownTerms): string {
  const twin = iri.startsWith("https:") ? iri.replace("https:", "http:") : iri.replace(/^http:/, "https:");
  const having = ids.find((id) => terms.hasTerm(id, { kind, iri: twin }) === "yes");
  return having === undefined ? "" : ` ${having} has <${twin.slice(0, 200)}>.`;
}
