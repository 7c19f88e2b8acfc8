import { iriParts } from "../schema/iri-parts.ts";
import { wellKnownPrefixes } from "../schema/well-known-prefixes.ts";
import type { IndexState } from "./index-state.ts";
import type { Match } from "./search-index.ts";
import { type Term, termKey } from "./term-table.ts";
import { fold } from "./words.ts";

/** Something that the whole query names; tier 2: by IRI, `prefix:name` or id, tier 1: by its local name or title. */
export interface Named {
  readonly key: string;
  readonly tier: 1 | 2;
  readonly why: Match;
}

const longestName = 2_048;
const mostNamesakes = 200;
const namespaceOf = new Map([...wellKnownPrefixes].map(([namespace, prefix]) => [prefix.toLowerCase(), namespace]));
const curie = /^([\p{L}][\p{L}\p{N}_.-]{0,30}):([^\s/:][^\s:]{0,200})$/u;

/** The query without white space around it and without `<>`. */
function bareName(q: string): string {
  const name = q.trim().slice(0, longestName);
  return name.startsWith("<") && name.endsWith(">") ? name.slice(1, -1) : name;
}

/** Classes and properties that the whole query names. */
export function namedTerms({ table }: IndexState, q: string): readonly Named[] {
  const name = bareName(q);
  if (name === "") return [];
  const [, prefix, local = ""] = curie.exec(name) ?? [];
  const namespace = prefix === undefined ? undefined : namespaceOf.get(prefix.toLowerCase());
  const iris = [name, ...(namespace === undefined ? [] : [namespace + local])];
  const exact = iris.flatMap((iri) => [termKey("class", iri), termKey("property", iri)]);
  const found = exact.filter((key) => table.get(key) !== undefined);
  const tier2 = found.map((key): Named => ({ key, tier: 2, why: reason("iri", name, table.get(key)) }));
  const namesakes = prefix === undefined ? table.named(name) : prefixedNamesakes(table.named(local), prefix);
  const tier1 = namesakes.slice(0, mostNamesakes).map((key): Named => {
    return { key, tier: 1, why: reason("name", name, table.get(key)) };
  });
  return [...tier2, ...tier1.filter(({ key }) => !found.includes(key))];
}

const reason = (field: string, term: string, found: Term | undefined): Match => ({
  field,
  term,
  matched: found?.iri ?? "",
});

/** A prefix that is not well known is at least part of its namespace most of the time. */
function prefixedNamesakes(keys: readonly string[], prefix: string): readonly string[] {
  const wanted = prefix.toLowerCase();
  return keys.filter((key) => {
    const { namespace } = iriParts(key);
    return (
      namespace.toLowerCase().includes(wanted) || wellKnownPrefixes.get(namespace.slice(2))?.toLowerCase() === wanted
    );
  });
}

/** Endpoints whose id, URL or title is the whole query. */
export function namedEndpoints({ endpoints }: IndexState, q: string): readonly Named[] {
  const name = bareName(q);
  if (name === "") return [];
  const folded = fold(name);
  const url = bareUrl(name);
  const found: Named[] = [];
  for (const [id, { entry }] of endpoints) {
    if (entry === undefined) continue;
    if (id === folded) found.push({ key: id, tier: 2, why: { field: "id", term: name, matched: id } });
    else if (url !== "" && bareUrl(entry.url) === url) {
      found.push({ key: id, tier: 2, why: { field: "url", term: name, matched: entry.url } });
    } else if (entry.title.length <= name.length * 4 && fold(entry.title) === folded) {
      found.push({ key: id, tier: 1, why: { field: "title", term: name, matched: entry.title } });
    }
  }
  return found;
}

/** An http(s) URL without scheme and trailing slash; empty for everything else. */
function bareUrl(text: string): string {
  return /^https?:\/\/(.+?)\/?$/i.exec(text)?.[1]?.toLowerCase() ?? "";
}

/** The IRIs that a name may stand for: itself when known, `prefix:name`, or the terms with this local name. */
export function irisNamed(state: IndexState, kind: Term["kind"], name: string): readonly string[] {
  const { table } = state;
  const named = namedTerms(state, name).filter(({ key }) => table.get(key)?.kind === kind);
  const best = named.filter(({ tier }) => tier === 2);
  const iris = (best.length > 0 ? best : named).flatMap(({ key }) => table.get(key)?.iri ?? []);
  const same = iris.filter((iri) => iriParts(iri).local === bareName(name));
  return same.length > 0 ? same : iris;
}
