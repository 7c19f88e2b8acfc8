import { nearest } from "../errors/nearest.ts";
import type { Suggestion } from "../errors/fedway-error.ts";
import { type Query } from "../sparql/query.ts";
import type { UsedTerm } from "../sparql/patterns.ts";
import type { KnownTerms, PlanContext } from "./plan-request.ts";
import { keyOf } from "./rank-homes.ts";

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

/** A term that no endpoint is known to have. */
export interface MeantTerm {
  readonly term: UsedTerm;
  /** The one that was probably meant. */
  readonly suggestion: Suggestion;
  /** Ids of the endpoints that are known to have that one, those of the query first. */
  readonly holders: readonly string[];
}

/**
 * Suggestion for a term that no endpoint is known to have: one of its own namespace, else the most alike that is described.
 */
export function meantInstead(
  term: UsedTerm,
  homes: readonly { readonly id: string }[],
  { catalog, terms }: PlanContext,
): MeantTerm | undefined {
  const ids = new Set([...homes, ...catalog.entries].map(({ id }) => id));
  const isDescribed = (id: string): boolean => terms?.descriptionVersion(id) !== undefined;
  const described = terms?.nearest([...ids].filter(isDescribed), term).filter(({ score }) => score >= leastLike) ?? [];
  const [namespace, local] = split(term.iri);
  const facts = catalog.published.ids.flatMap((id) => {
    const known = catalog.published.facts(id);
    return known?.vocabularies.has(namespace) ? [{ id, known }] : [];
  });
  const locals = new Set(
    facts.flatMap(({ known }) =>
      [...known.terms.values()].flatMap(({ kind, iri }) =>
        kind === term.kind && iri.startsWith(namespace) ? [iri.slice(namespace.length)] : [],
      ),
    ),
  );
  const published = nearest(local, locals, 1).map((name) => ({
    term: `<${namespace}${name}>`,
    score: leastLike,
    why: "published",
  }));
  const own = [...described, ...published].find((each) => each.term.startsWith(`<${namespace}`));
  const suggestion = own ?? described[0];
  if (suggestion === undefined) return undefined;
  const meant = { kind: term.kind, iri: suggestion.term.slice(1, -1) };
  const having = new Set(terms?.endpointsWith(meant));
  for (const { id, known } of facts) if (known.terms.has(keyOf(meant.kind, meant.iri))) having.add(id);
  return { term, suggestion, holders: [...ids].filter((id) => having.has(id)) };
}

function split(iri: string): readonly [namespace: string, local: string] {
  const namespace = /^.*[/#]/.exec(iri)?.[0] ?? iri;
  return [namespace, iri.slice(namespace.length)];
}
