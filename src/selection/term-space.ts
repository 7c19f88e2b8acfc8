import type * as RDF from "@rdfjs/types";
import type { TermSpace } from "../plan/source-selection.ts";
import type { PatternTerm } from "../sparql/query-patterns.ts";
import { TermFilter } from "./term-filter.ts";

/** The terms that are in one place of an endpoint's triples, as they were read. */
export interface KeySpace {
  /** What a plan tells of it: constants are held against the filter before. */
  readonly space: TermSpace;
  /** Has every IRI there. */
  readonly filter: TermFilter;
}

const mostPrefixes = 16;

/** The space of these terms, all there are in one place. */
export function keySpaceOf(terms: Iterable<RDF.Term>): KeySpace {
  const iris = new Set<string>();
  let [hasLiterals, hasBlankNodes] = [false, false];
  for (const { termType, value } of terms) {
    if (termType === "NamedNode") iris.add(value);
    else if (termType === "BlankNode") hasBlankNodes = true;
    else hasLiterals = true;
  }
  const space: TermSpace = {
    prefixes: prefixesOf(iris),
    ...(!hasLiterals && { noLiterals: true }),
    ...(!hasBlankNodes && { noBlankNodes: true }),
  };
  return { space, filter: TermFilter.of(iris) };
}

/** Whether a term can be in a space; a variable always can. */
export function mayHold(keys: KeySpace | undefined, term: PatternTerm): boolean {
  if (keys === undefined || term.kind === "variable") return true;
  const { space, filter } = keys;
  if (term.kind === "literal") return space.noLiterals !== true;
  return filter.mayHave(term.iri) && (space.prefixes?.some((prefix) => term.iri.startsWith(prefix)) ?? true);
}

/**
 * A few prefixes that every IRI begins with one of: the authorities, made longer segment by segment where that leaves few.
 * Undefined when there are too many authorities to tell.
 */
function prefixesOf(iris: ReadonlySet<string>): readonly string[] | undefined {
  let groups: Groups = grouped(iris, "");
  if (groups.size > mostPrefixes) return undefined;
  for (let longer = split(groups); longer !== undefined; longer = split(groups)) groups = longer;
  return [...groups.keys()].toSorted();
}

type Groups = ReadonlyMap<string, readonly string[]>;

/** One step further in all groups that can go one, the smallest splits first; undefined when none can. */
function split(groups: Groups): Groups | undefined {
  const splits = [...groups].flatMap(([prefix, iris]) => {
    const parts = grouped(iris, prefix);
    return parts.has(prefix) ? [] : [{ prefix, parts }];
  });
  const next = new Map(groups);
  for (const { prefix, parts } of splits.toSorted((one, other) => one.parts.size - other.parts.size)) {
    if (next.size - 1 + parts.size > mostPrefixes) break;
    next.delete(prefix);
    for (const [longer, iris] of parts) next.set(longer, iris);
  }
  return next.size === groups.size && splits.every(({ prefix }) => next.has(prefix)) ? undefined : next;
}

/** Up to and with the authority; then up to and with the next `/`, `#` or `:`; the prefix itself where none follows. */
function grouped(iris: Iterable<string>, prefix: string): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const iri of iris) {
    const found = prefix === "" ? /^[^:]*:(?:\/\/[^/?#]*\/?)?/u.exec(iri)?.[0] : undefined;
    const next = /[/#:]/u.exec(iri.slice(prefix.length));
    const key = found ?? (prefix !== "" && next ? iri.slice(0, prefix.length + next.index + 1) : prefix);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [iri]);
    else group.push(iri);
  }
  return groups;
}
