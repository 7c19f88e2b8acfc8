import type * as RDF from "@rdfjs/types";
import { keyAdapters } from "./join-keys.ts";
import { literalFromParts } from "../../results/terms.ts";
import { dataFactory } from "../../rdf/triple-index.ts";
import type { PrefixTable } from "../../registry/schema.ts";
import type { Finder } from "../../registry/find.ts";

/** Values of a property, or IRIs of a class, at an endpoint. */
export type KeyGroup = ReturnType<Finder["keys"]>[number];

/** Two groups of keys that name the same things in different ways. */
interface UnlikeKeys {
  readonly here: KeyGroup;
  readonly there: KeyGroup;
  /** Kind of difference: `node`, `padding`, `version`, `case`, `namespace`, ... */
  readonly kind: string;
  readonly left: (value: string) => string;
  readonly right?: ((value: string) => string) | undefined;
  readonly matches: number;
}

/** Fewer equal keys are chance. */
const leastMatches = 5;
const leastShare = 0.5;
const mostOwn = 30;
const mostOthers = 300;
const mostJoins = 10;

/** How the keys of an endpoint are made those of others, as far as known values prove it: half of the smaller side is met. */
export function unlikeKeys(finder: Pick<Finder, "keys">, id: string): readonly UnlikeKeys[] {
  const groups = finder.keys();
  const own = groups.filter(({ endpoint }) => endpoint === id).slice(0, mostOwn);
  const others = groups.filter(({ endpoint }) => endpoint !== id).slice(0, mostOthers);
  const found: UnlikeKeys[] = [];
  for (const here of own.map(plainKeys)) {
    for (const there of others.map(plainKeys)) {
      if (found.length === mostJoins) return found;
      const least = Math.max(leastMatches, leastShare * Math.min(here.keys.size, there.keys.size));
      if (here.keys.intersection(there.keys).size < least || !mayBeSame(here, there)) continue;
      const join = joined(here.group, there.group, least);
      if (join !== undefined) found.push(join);
    }
  }
  return found;
}

interface Keys {
  readonly group: KeyGroup;
  readonly keys: ReadonlySet<string>;
}

const known = new WeakMap<KeyGroup, ReadonlySet<string>>();

function plainKeys(group: KeyGroup): Keys {
  const keys = known.get(group) ?? new Set(group.terms.map(plainKey));
  known.set(group, keys);
  return { group, keys };
}

/** Numbers from 1 on are everywhere: they name the same things only where the property, or the class, is the same. */
function mayBeSame({ group: here, keys }: Keys, { group: there }: Keys): boolean {
  const tells = [...keys].filter((key) => /[^0-9]/u.test(key) || key.length > 5).length > keys.size / 2;
  return tells || (here.property === there.property && here.class === there.class);
}

/** Undefined where the keys are alike as they are, or no expression makes them so. */
function joined(here: KeyGroup, there: KeyGroup, least: number): UnlikeKeys | undefined {
  const [left, right] = [here, there].map(({ terms }) => terms.map(termOf));
  const alike = new Set(here.terms).intersection(new Set(there.terms)).size;
  if (alike >= least) return undefined;
  const [adapter] = keyAdapters(left ?? [], right ?? [], 1);
  return adapter === undefined || adapter.matches < least ? undefined : { here, there, ...adapter };
}

const literal = /^(".*")(?:@([\w-]+)|\^\^<([^<>]+)>)?$/su;

function termOf(text: string): RDF.Term {
  const [, quoted, language, datatype] = literal.exec(text) ?? [];
  if (quoted === undefined) return dataFactory.namedNode(text);
  return literalFromParts(String(JSON.parse(quoted)), language, datatype);
}

/** A key without namespace, case, leading zeros, white space and version. */
const plainKey = (text: string): string => {
  const { value } = termOf(text);
  const local = /(?<![^/#:])[^/#:]*$/u.exec(value.trim())?.[0] ?? value;
  return local
    .replace(/(?:[.]\d{1,3}|[_-]v\d{1,3}|[@_-](?:en|de|fr|es|it))$/u, "")
    .replaceAll(/(^|\D)0+(\d)/gu, "$1$2")
    .toLowerCase();
};

/** "joins with: b on ex:code and IRIs of ex:Country there: ... ". */
export function unlikeText({ here, there, kind, left, right, matches }: UnlikeKeys, table: PrefixTable): string {
  const ofClass = (group: KeyGroup): string =>
    group.class === undefined ? "things" : `IRIs of ${table.short(group.class).text}`;
  const named = (group: KeyGroup): string =>
    group.property === undefined ? ofClass(group) : table.short(group.property).text;
  const how = right === undefined ? `bind ${left("?here")}` : `compare ${left("?here")} with ${right("?there")}`;
  return `joins with: ${there.endpoint} on ${named(here)} and its ${named(there)}: keys are unlike (${kind}), ${how}; ${matches} known values match`;
}
