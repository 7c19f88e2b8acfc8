import type { ParsedQuery } from "../sparql/parse-query.ts";
import { writtenIri } from "../sparql/resolve-iri.ts";
import type { UsedTerm } from "../sparql/used-terms.ts";
import type { KnownTerms } from "./plan-request.ts";

/** An IRI as the query writes it, within bounds. */
export const written = (iri: string, { prologue }: Pick<ParsedQuery, "prologue">): string =>
  writtenIri(prologue, iri).slice(0, 200);

/** Like enough to be named. */
const leastLike = 0.5;

interface Lacking {
  /** Ids of the endpoints that are asked. */
  readonly ids: readonly string[];
  readonly parsed: Pick<ParsedQuery, "prologue">;
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
