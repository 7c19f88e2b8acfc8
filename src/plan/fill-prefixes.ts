import { FedwayError } from "../errors/fedway-error.ts";
import type { CatalogEntry } from "../registry/catalog/catalog.ts";
import { wellKnownNamespaces } from "../rdf/well-known-prefixes.ts";
import { type ParsedQuery, parseQuery } from "../sparql/parse-query.ts";
import { type SubstitutedText, substituted } from "../sparql/substituted-text.ts";
import { isWord, type Token, tokenize } from "../sparql/tokens.ts";
import { undeclaredPrefixes } from "../sparql/undeclared-prefixes.ts";
import { offeredHomes, serviceRequired } from "./offer-endpoints.ts";
import type { PlanContext, PlanTask } from "./plan-request.ts";
import type { PlanNote } from "./query-plan.ts";
import { rankedHomes } from "./rank-homes.ts";
import { entryMeant } from "./meant-entries.ts";

/** A text with declarations in front of it, of prefixes that it uses without. */
export interface FilledText {
  readonly written: SubstitutedText;
  readonly note: PlanNote;
}

const mostFilled = 20;
/** Prefixes that every Virtuoso knows, beside the well-known ones. */
const virtuosoNamespaces: ReadonlyMap<string, string> = new Map(
  Object.entries({
    bif: "bif:",
    sql: "sql:",
    dbpedia: "http://dbpedia.org/resource/",
    dbpprop: "http://dbpedia.org/property/",
    freebase: "http://rdf.freebase.com/ns/",
    scovo: "http://purl.org/NET/scovo#",
    sioc: "http://rdfs.org/sioc/ns#",
    umbel: "http://umbel.org/umbel#",
    virtcxml: "http://www.openlinksw.com/schemas/virtcxml#",
    virtrdf: "http://www.openlinksw.com/schemas/virtrdf#",
    yago: "http://dbpedia.org/class/yago/",
  }),
);

/**
 * The text with the prefixes declared that the endpoints it names know without a declaration, by their configuration or by
 * published queries that use them so. Undefined when they do not know all of them, or do not agree.
 */
export function withEndpointPrefixes(
  written: SubstitutedText,
  { context, entry, over }: Omit<PlanTask, "request">,
): FilledText | undefined {
  const tokens = tokenize(written.text);
  const missing = undeclaredPrefixes(tokens);
  if (missing.size === 0 || missing.size > mostFilled) return undefined;
  const named = [...(entry ? [entry] : (over?.members ?? [])), ...serviceEntries(tokens, context)];
  const filled = [...missing.keys()].flatMap((prefix) => knownPrefix(prefix, named, context) ?? []);
  return filled.length === missing.size ? declared(written, filled, context) : undefined;
}

/** Different meanings of a text's prefixes that are tried, those of most endpoints first; each is parsed. */
const mostReadings = 12;
const longestHomeless = 20_000;

/**
 * The error of a query that names no endpoint and does not declare its prefixes: which endpoints it may be meant for, each
 * with the prefixes as they are known of it. Undefined when no reading is a query that any endpoint has to do with.
 */
export function homelessUndeclared(
  written: SubstitutedText,
  { details: { where } }: FedwayError,
  context: PlanContext,
): FedwayError | undefined {
  if (written.text.length > longestHomeless) return undefined;
  const { entries, published } = context.catalog;
  const others = entries.map(({ id }) => id).filter((id) => published.facts(id) === undefined);
  const groups = [...published.ids.map((id) => [id]), others];
  const filled = groups.flatMap((ids) => {
    const text = withPrefixesOf(ids[0], written, context);
    return text === undefined ? [] : ids.map((id) => ({ id, ...text }));
  });
  const meanings = Map.groupBy(filled, (each) => each.written.text);
  const tried = [...meanings].toSorted(([, few], [, many]) => many.length - few.length).slice(0, mostReadings);
  const readings = tried.flatMap(([text, all]) => {
    const parsed = parsedIfLegal(text);
    return parsed === undefined ? [] : readingOf(parsed, new Set(all.map(({ id }) => id)), context);
  });
  const [best] = readings.toSorted((one, other) => (other.homes[0]?.score ?? 0) - (one.homes[0]?.score ?? 0));
  if (best === undefined) return undefined;
  const homes = readings.flatMap((reading) => reading.homes).toSorted((one, other) => other.score - one.score);
  const offered = offeredHomes(homes, best.parsed, context);
  const note = filled.find(({ id }) => id === offered[0]?.entry.id)?.note.message;
  return serviceRequired(offered, { where, note }, context);
}

function readingOf(parsed: ParsedQuery, ids: ReadonlySet<string>, context: PlanContext) {
  const homes = rankedHomes(parsed, context, ids);
  return homes.length === 0 ? [] : [{ parsed, homes }];
}

/** Undefined for a text that is no legal query. */
export function parsedIfLegal(text: string): ParsedQuery | undefined {
  try {
    return parseQuery(text);
  } catch (error) {
    if (error instanceof FedwayError && error.code !== "INTERNAL") return undefined;
    throw error;
  }
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
    filled.push({ prefix, namespace, by: own === undefined ? undefined : id });
  }
  return declared(written, filled, context);
}

interface Filled {
  readonly prefix: string;
  readonly namespace: string;
  /** Who knows it so; undefined where everybody does. */
  readonly by: string | undefined;
}

function declared(written: SubstitutedText, filled: readonly Filled[], { catalog }: PlanContext): FilledText {
  // On the first line, so that those of the query keep their numbers.
  const text = filled.map(({ prefix, namespace }) => `PREFIX ${prefix}: <${namespace}> `).join("");
  const outer = substituted(written.text, [{ start: 0, end: 0, text }]);
  const parts = [...Map.groupBy(filled, ({ by }) => by)].map(([by, all]) => {
    const names = all.map(({ prefix, namespace }) => `${prefix}: <${namespace}>`).join(", ");
    return by === undefined
      ? `${names} as usual`
      : `${names} as at ${by} (${catalog.published.facts(by)?.provenance ?? "a Virtuoso"})`;
  });
  return {
    written: { text: outer.text, relocated: (error) => written.relocated(outer.relocated(error)) },
    note: { code: "PREFIXES_FILLED_IN", message: `Undeclared prefixes were filled in: ${parts.join("; ")}.` },
  };
}

/** What an endpoint takes a prefix for without a declaration: as was published of it, else as its engine does. */
function predefinedAt(id: string, prefix: string, { catalog }: Pick<PlanContext, "catalog">) {
  const ofEngine = catalog.byId(id)?.engine === "virtuoso" ? virtuosoNamespaces.get(prefix) : undefined;
  const known = catalog.published.facts(id)?.prefixes.get(prefix);
  return known ?? (ofEngine === undefined ? undefined : { namespace: ofEngine, how: "predefined" as const });
}

/** What all of these endpoints that know a prefix without a declaration take it for. */
function knownPrefix(prefix: string, named: readonly CatalogEntry[], { catalog }: PlanContext): Filled | undefined {
  const namespaces = new Map<string, string>();
  for (const { id } of named) {
    const known = predefinedAt(id, prefix, { catalog });
    if (known && known.how !== "example" && !namespaces.has(known.namespace)) namespaces.set(known.namespace, id);
  }
  const [only, ...others] = namespaces;
  return only === undefined || others.length > 0 ? undefined : { prefix, namespace: only[0], by: only[1] };
}

function serviceEntries(tokens: readonly Token[], context: PlanContext): readonly CatalogEntry[] {
  return tokens.flatMap((token, at) => {
    const before = isWord(tokens[at - 1], "SILENT") ? tokens[at - 2] : tokens[at - 1];
    if (token.kind !== "iri" || !isWord(before, "SERVICE")) return [];
    return entryMeant(token.text.slice(1, -1), context) ?? [];
  });
}

/** Whether a text names any endpoint, be it one that is not known. */
export const namesEndpoint = (text: string): boolean => {
  const tokens = tokenize(text);
  return tokens.some((token, at) => isWord(token, "SERVICE") && tokens[at + 1]?.kind !== "pname");
};
