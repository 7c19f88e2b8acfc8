import type { CatalogEntry } from "../registry/catalog.ts";
import { wellKnownNamespaces } from "../rdf/well-known-prefixes.ts";
import {
  isWord,
  type Query,
  parsedIfLegal,
  substituted,
  type SubstitutedText,
  type Token,
  tokenize,
  undeclaredPrefixes,
} from "../sparql/query.ts";
import type { PlanContext, PlanTask } from "./plan-request.ts";
import type { PlanNote } from "./query-plan.ts";
import { type Home, rankedHomes } from "./rank-homes.ts";
import { entryMeant } from "./meant-entries.ts";

/** A text with declarations in front of it, of prefixes that it uses without. */
export interface FilledText {
  readonly written: SubstitutedText;
  readonly note: PlanNote;
}

const mostFilled = 20;

/**
 * The text with the prefixes declared that the endpoints it names know without a declaration, by their configuration or by
 * published queries that use them so. Undefined when they do not know all of them, or do not agree.
 */
export function withEndpointPrefixes(
  written: SubstitutedText,
  { context, entry, over }: PlanTask,
): FilledText | undefined {
  const tokens = tokenize(written.text);
  const missing = undeclaredPrefixes(tokens);
  if (missing.size === 0 || missing.size > mostFilled) return undefined;
  const named = [...(entry ? [entry] : (over?.members ?? [])), ...serviceEntries(tokens, context)];
  const filled = [...missing.keys()].flatMap((prefix) => knownPrefix(prefix, named, context) ?? []);
  return filled.length === missing.size ? declared(written, filled) : undefined;
}

/** Different meanings of a text's prefixes that are tried, those of most endpoints first; each is parsed. */
const mostReadings = 12;
const longestHomeless = 20_000;

/** A text that names no endpoint and does not declare its prefixes, with one meaning of them. */
export interface Reading extends FilledText {
  readonly parsed: Query;
  /** The endpoints that know the prefixes so, and have to do with the query; best first. */
  readonly homes: readonly Home[];
}

/**
 * Possible readings of such a text, best first: with the prefixes each endpoint knows, and with the names of described endpoints. None where no
 * reading is a query that concerns any endpoint.
 */
export function readingsOf(written: SubstitutedText, context: PlanContext): readonly Reading[] {
  if (written.text.length > longestHomeless) return [];
  const { entries, published } = context.catalog;
  const others = entries.map(({ id }) => id).filter((id) => published.facts(id) === undefined);
  const named = publishedMeanings(written, others, context);
  const tried = [...named.slice(0, mostReadings), ...describedMeanings(written, others, context)];
  const readings = tried.flatMap(({ ids, ...filled }) => {
    const parsed = parsedIfLegal(filled.written.text);
    const homes = parsed === undefined ? [] : rankedHomes(parsed, context, new Set(ids));
    return parsed === undefined || homes.length === 0 ? [] : [{ ...filled, parsed, homes }];
  });
  return readings.toSorted((one, other) => (other.homes[0]?.score ?? 0) - (one.homes[0]?.score ?? 0));
}

interface Meaning extends FilledText {
  readonly ids: readonly string[];
}

/** Prefixes in the published facts of each endpoint, those of most endpoints first. */
function publishedMeanings(
  written: SubstitutedText,
  others: readonly string[],
  context: PlanContext,
): readonly Meaning[] {
  const groups = [...context.catalog.published.ids.map((id) => [id]), others];
  const filled = groups.flatMap((ids) => {
    const text = withPrefixesOf(ids[0], written, context);
    return text === undefined ? [] : ids.map((id) => ({ id, ...text }));
  });
  const meanings = [...Map.groupBy(filled, (each) => each.written.text).values()].flatMap((all) => {
    const [first] = all;
    return first ? [{ written: first.written, note: first.note, ids: all.map(({ id }) => id) }] : [];
  });
  return meanings.toSorted((few, many) => many.ids.length - few.ids.length);
}

/** With the namespaces in which described endpoints have the names of prefixes that have no meaning elsewhere. */
function describedMeanings(written: SubstitutedText, ids: readonly string[], context: PlanContext): readonly Meaning[] {
  const { catalog, terms } = context;
  const missing = undeclaredPrefixes(tokenize(written.text));
  let readings: readonly (readonly Filled[])[] = missing.size > mostFilled ? [] : [[]];
  for (const [prefix, locals] of missing) {
    const usual = wellKnownNamespaces.get(prefix);
    const isTaken = catalog.published.ids.some((id) => isMeaning(predefinedAt(id, prefix, context)));
    const names = usual !== undefined || isTaken ? [] : [...locals].filter((local) => local !== "");
    const found = new Set(names.flatMap((local) => Array.from(terms?.namespacesWith(local) ?? [])));
    const meanings = usual === undefined ? found : [usual];
    const how = usual === undefined ? "as described endpoints use its names" : asUsual;
    readings = readings.flatMap((before) =>
      Array.from(meanings, (namespace) => [...before, { prefix, namespace, how }]),
    );
    readings = readings.slice(0, mostReadings);
  }
  return readings.map((filled) => Object.assign(declared(written, filled), { ids }));
}

/** The text as a query of one endpoint, with the prefixes published of it and those that are well known. */
function withPrefixesOf(
  id: string | undefined,
  written: SubstitutedText,
  context: PlanContext,
): FilledText | undefined {
  const missing = undeclaredPrefixes(tokenize(written.text));
  if (missing.size === 0 || missing.size > mostFilled) return undefined;
  const filled: Filled[] = [];
  for (const prefix of missing.keys()) {
    const own = id === undefined ? undefined : predefinedAt(id, prefix, context)?.namespace;
    const namespace = own ?? wellKnownNamespaces.get(prefix);
    if (namespace === undefined) return undefined;
    filled.push({ prefix, namespace, how: own === undefined ? asUsual : howAt(id, context) });
  }
  return declared(written, filled);
}

interface Filled {
  readonly prefix: string;
  readonly namespace: string;
  /** Source of this meaning. */
  readonly how: string;
}

const asUsual = "as usual";

const howAt = (id = "", { catalog }: PlanContext): string =>
  `as at ${id} (${catalog.published.facts(id)?.provenance ?? "probed"})`;

function declared(written: SubstitutedText, filled: readonly Filled[]): FilledText {
  // On the first line, so that those of the query keep their numbers.
  const text = filled.map(({ prefix, namespace }) => `PREFIX ${prefix}: <${namespace}> `).join("");
  const outer = substituted(written.text, [{ start: 0, end: 0, text }]);
  const parts = [...Map.groupBy(filled, ({ how }) => how)].map(([how, all]) => {
    const names = all.map(({ prefix, namespace }) => `${prefix}: <${namespace}>`).join(", ");
    return `${names} ${how}`;
  });
  return {
    written: { text: outer.text, relocated: (error) => written.relocated(outer.relocated(error)) },
    note: { code: "PREFIXES_FILLED_IN", message: `Undeclared prefixes were filled in: ${parts.join("; ")}.` },
  };
}

/** The endpoint's meaning of an undeclared prefix: the published one, else the probed one. */
function predefinedAt(id: string, prefix: string, { catalog, capabilities }: PlanContext) {
  const known = catalog.published.facts(id)?.prefixes.get(prefix);
  const { predefinedPrefixes: probed = {} } = capabilities?.view(id) ?? {};
  const namespace = Object.hasOwn(probed, prefix) ? probed[prefix] : undefined;
  return known ?? (namespace === undefined ? undefined : { namespace, how: "predefined" as const });
}

/** Common meaning of a prefix at all of these endpoints that know it without a declaration. */
function knownPrefix(prefix: string, named: readonly CatalogEntry[], context: PlanContext): Filled | undefined {
  const namespaces = new Map<string, string>();
  for (const { id } of named) {
    const known = predefinedAt(id, prefix, context);
    if (known && isMeaning(known) && !namespaces.has(known.namespace)) namespaces.set(known.namespace, id);
  }
  const [only, ...others] = namespaces;
  return only === undefined || others.length > 0
    ? undefined
    : { prefix, namespace: only[0], how: howAt(only[1], context) };
}

/** Examples declare their prefixes as they like. */
const isMeaning = (known: ReturnType<typeof predefinedAt>): boolean => known !== undefined && known.how !== "example";

function serviceEntries(tokens: readonly Token[], context: PlanContext): readonly CatalogEntry[] {
  return tokens.flatMap((token, at) => {
    const before = isWord(tokens[at - 1], "SILENT") ? tokens[at - 2] : tokens[at - 1];
    if (token.kind !== "iri" || !isWord(before, "SERVICE")) return [];
    return entryMeant(token.text.slice(1, -1), context.catalog) ?? [];
  });
}

/** True if a text names any endpoint, even an unknown one. */
export const namesEndpoint = (text: string): boolean => {
  const tokens = tokenize(text);
  return tokens.some((token, at) => isWord(token, "SERVICE") && tokens[at + 1]?.kind !== "pname");
};
