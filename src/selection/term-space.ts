import type * as RDF from "@rdfjs/types";
import type { ValueKind, TermSpace } from "../plan/source-selection.ts";
import { xsd } from "../rdf/vocabularies.ts";
import type { PropertyTerms } from "../registry/descriptions.ts";

const mostPrefixes = 16;

/** The space of these terms, all there are in one place. */
export function termSpaceOf(terms: Iterable<RDF.Term>): TermSpace {
  const iris = new Set<string>();
  const kinds = new Set<ValueKind | undefined>();
  let [hasLiterals, hasBlankNodes] = [false, false];
  for (const term of terms) {
    const { termType, value } = term;
    kinds.add(kindOf(term));
    if (termType === "NamedNode") iris.add(value);
    else if (termType === "BlankNode") hasBlankNodes = true;
    else hasLiterals = true;
  }
  const [kind, ...others] = kinds;
  return {
    kind: others.length === 0 ? kind : undefined,
    prefixes: prefixesOf(iris),
    ...(!hasLiterals && { noLiterals: true }),
    ...(!hasBlankNodes && { noBlankNodes: true }),
  };
}

/** The space of terms of these kinds, of whose IRIs all begin with one of the prefixes. */
export function countedSpace(terms: PropertyTerms["subjects"]): TermSpace {
  if (terms === undefined) return {};
  const { blankNodes, literals, prefixes } = terms;
  return {
    kind: blankNodes + literals === 0 ? "iri" : undefined,
    prefixes,
    ...(literals === 0 && { noLiterals: true }),
    ...(blankNodes === 0 && { noBlankNodes: true }),
  };
}

/** The space of terms that are in one of these. */
export function joinedSpace(spaces: readonly TermSpace[]): TermSpace {
  const [kind, ...others] = new Set(spaces.map((space) => space.kind));
  const prefixes: string[] = [];
  for (const prefix of spaces.flatMap((space) => space.prefixes ?? [""]).toSorted()) {
    const before = prefixes.at(-1);
    if (before === undefined || !prefix.startsWith(before)) prefixes.push(prefix);
  }
  return {
    kind: others.length === 0 ? kind : undefined,
    prefixes: prefixes[0] === "" || prefixes.length > mostPrefixes ? undefined : prefixes,
    ...(spaces.every((space) => space.noLiterals) && { noLiterals: true }),
    ...(spaces.every((space) => space.noBlankNodes) && { noBlankNodes: true }),
  };
}

/** No prefix is longer: a plan carries them, and a store takes only so much. */
const longestPrefix = 256;

const kindOf = (term: RDF.Term): ValueKind | undefined =>
  term.termType === "Literal"
    ? literalSpaces.get(term.datatype.value)?.kind
    : term.termType === "NamedNode"
      ? "iri"
      : undefined;

/** By datatype. */
export const literalSpaces: ReadonlyMap<string, TermSpace> = new Map(
  (["string", "integer", "decimal"] as const).map((kind) => [
    `${xsd.namespace}${kind}`,
    { kind, prefixes: [], noBlankNodes: true },
  ]),
);

/**
 * A few prefixes that every IRI begins with one of: the authorities, made longer segment by segment where that leaves few.
 * Undefined when there are too many authorities to tell.
 */
function prefixesOf(iris: ReadonlySet<string>): readonly string[] | undefined {
  const heads = new Set(Array.from(iris, (iri) => iri.slice(0, longestPrefix)));
  let groups = grouped([...heads].toSorted(), authorityOf);
  if (groups.size > mostPrefixes) return undefined;
  for (let more = split(groups); more.size > groups.size; more = split(groups)) groups = more;
  return [...groups.keys()].toSorted();
}

/** IRIs by a prefix of them, sorted, so that what the first and the last begin with is common to all. */
type Groups = ReadonlyMap<string, readonly string[]>;

/** One segment further in all groups that can go one, the smallest splits first; as many groups as before when none can. */
function split(groups: Groups): Groups {
  const splits = [...groups].flatMap(([prefix, iris]) => {
    const parts = grouped(iris, (iri) => iri.slice(0, segmentEnd(iri, prefix.length)));
    return parts.has(prefix) ? [] : [{ prefix, parts }];
  });
  const next = new Map(groups);
  for (const { prefix, parts } of splits.toSorted((one, other) => one.parts.size - other.parts.size)) {
    if (next.size - 1 + parts.size > mostPrefixes) break;
    next.delete(prefix);
    for (const [longer, iris] of parts) next.set(longer, iris);
  }
  return next;
}

/** Groups by key, each under the longest prefix of whole segments that its IRIs have in common. */
function grouped(iris: readonly string[], keyOf: (iri: string) => string): Groups {
  const groups = new Map<string, string[]>();
  for (const iri of iris) {
    const key = keyOf(iri);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [iri]);
    else group.push(iri);
  }
  return new Map([...groups].map(([key, group]) => [commonPrefix(group, key), group]));
}

const authorityOf = (iri: string): string => /^[^:]*:(?:\/\/[^/?#]*\/?)?/u.exec(iri)?.[0] ?? "";

/** After the next `/`, `#` or `:`; where it begins when none follows. */
function segmentEnd(iri: string, from: number): number {
  const next = /[/#:]/u.exec(iri.slice(from));
  return next === null ? from : from + next.index + 1;
}

function commonPrefix(sorted: readonly string[], known: string): string {
  const [first = "", last = ""] = [sorted[0], sorted.at(-1)];
  let common = known.length;
  for (let end = segmentEnd(first, common); end > common && last.startsWith(first.slice(0, end)); ) {
    common = end;
    end = segmentEnd(first, common);
  }
  return first.slice(0, common);
}
