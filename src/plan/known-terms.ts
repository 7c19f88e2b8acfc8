import type { CatalogEntry } from "../registry/catalog/catalog.ts";
import type { ParsedQuery } from "../sparql/parse-query.ts";
import { writtenIri } from "../sparql/resolve-iri.ts";
import { type UsedTerm, usedTerms } from "../sparql/used-terms.ts";
import type { KnownTerms, PlanContext } from "./plan-request.ts";
import { downLast } from "./service-targets.ts";

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
      has.push(written(term.iri, parsed));
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

/** An IRI as the query writes it, within bounds. */
const written = (iri: string, { prologue }: ParsedQuery): string => writtenIri(prologue, iri).slice(0, 200);

/** Like enough to be named. */
const leastLike = 0.5;

interface Lacking {
  /** Ids of the endpoints that are asked. */
  readonly ids: readonly string[];
  readonly parsed: ParsedQuery;
  readonly terms: KnownTerms;
}

/** What to say of a term that none of some endpoints has: "`people` has no foaf:nam", and a question what was meant. */
export function lackOf(
  term: UsedTerm,
  { ids, parsed, terms }: Lacking,
): { readonly lack: string; readonly meant: () => string } {
  const [first, ...others] = ids;
  const who = others.length === 0 ? `\`${first}\` has no` : `None of the ${ids.length} endpoints has`;
  const meant = (): string => {
    const best = terms.nearest(ids, term).find(({ score }) => score >= leastLike);
    return best === undefined ? "" : ` Did you mean ${written(best.term.slice(1, -1), parsed)}?`;
  };
  return { lack: `${who} ${written(term.iri, parsed)}`, meant };
}

/** The federation with most of these endpoints, the smallest of several. */
export function federationOf(ids: readonly string[], { catalog }: PlanContext): string | undefined {
  const sizes = catalog.federations.map((each) => {
    const members = catalog.membersOf(each).map(({ id }) => id);
    return { id: each.id, shared: ids.filter((id) => members.includes(id)).length, size: members.length };
  });
  const [best] = sizes.toSorted((one, other) => other.shared - one.shared || one.size - other.size);
  return best !== undefined && best.shared > 0 ? best.id : undefined;
}
