import { type Query } from "../sparql/query.ts";
import type { UsedTerm } from "../sparql/patterns.ts";
import type { KnownTerms } from "./plan-request.ts";

type Prologue = Query["prologue"];

/** An IRI as the query writes it, within bounds. */
export const written = (iri: string, prologue: Prologue): string => prologue.written(iri).slice(0, 200);

/** Like enough to be named. */
const leastLike = 0.5;

interface Lacking {
  /** Ids of the endpoints that are asked. */
  readonly ids: readonly string[];
  readonly prologue: Prologue;
  readonly terms: KnownTerms;
}

/** Text about a term that none of some endpoints has: "`people` has no foaf:nam", and a question that suggests another. */
export function lackOf(
  term: UsedTerm,
  { ids, prologue, terms }: Lacking,
): { readonly lack: string; readonly meant: () => string } {
  const [first, ...others] = ids;
  const who = others.length === 0 ? `\`${first}\` has no` : `None of the ${ids.length} endpoints has`;
  const meant = (): string => {
    const best = terms.nearest(ids, term).find(({ score }) => score >= leastLike);
    return best === undefined ? "" : ` Did you mean ${written(best.term.slice(1, -1), prologue)}?`;
  };
  return { lack: `${who} ${written(term.iri, prologue)}`, meant };
}
