import type * as RDF from "@rdfjs/types";
import { stringText } from "../../../rdf/term-text.ts";
import { iriOf, isWritable, wholeNumberOf, written } from "../values.ts";
import { ask, type Run } from "./run.ts";

/** Terms in one place of all triples of a property, each counted as often as it stands there. */
interface PlaceTerms {
  readonly iris: number;
  readonly blankNodes: number;
  readonly literals: number;
  /** Every IRI begins with one of these, none of which begins another. Absent: too many, or not proven. */
  readonly prefixes?: readonly string[] | undefined;
}

export interface PropertyTerms {
  readonly subjects?: PlaceTerms | undefined;
  readonly objects?: PlaceTerms | undefined;
}

/** More properties are not asked about: an answer has up to three rows of 700 characters for each. */
const mostProperties = 1_000;
/** Characters that are looked at of each IRI. */
const longestHead = 256;
const mostPrefixes = 16;
/** Properties with IRIs of several hosts, which are looked into one by one in each place. */
const mostSeveral = 10;

type Place = "s" | "o";

/**
 * Kinds of terms, and prefixes of IRIs, in both places of each property of an endpoint that is too large to be read. Of strings in
 * order, what the first and the last begin with is common to all, so two extremes give a prefix. Not every engine orders strings by
 * their characters, so a prefix is kept only when as many IRIs are counted behind it as there are. The kinds are kept where
 * they add up to the property's triples.
 */
export async function findPropertyTerms(run: Run): Promise<ReadonlyMap<string, PropertyTerms> | undefined> {
  const counts = exactCounts(run);
  if (counts === undefined) return undefined;
  const subjects = await placeTerms(run, "s", counts);
  const objects = subjects && (await placeTerms(run, "o", counts));
  if (subjects === undefined) return undefined;
  return new Map([...counts.keys()].map((iri) => [iri, { subjects: subjects.get(iri), objects: objects?.get(iri) }]));
}

/** Triples of each property; undefined where its list or they are not certain, or facts would not be those of the default graph. */
function exactCounts({ base, dialect, inconsistent }: Run): ReadonlyMap<string, number> | undefined {
  const { properties } = base;
  const isPlain = dialect.count && dialect.values && !dialect.named && !dialect.repeats && dialect.graphs.length === 0;
  if (!isPlain || inconsistent || !properties.complete || properties.size > mostProperties) return undefined;
  const counts = new Map<string, number>();
  for (const [iri, { triples }] of properties) {
    if (triples?.status !== "exact") return undefined;
    counts.set(iri, triples.value);
  }
  return counts;
}

/** By property; undefined when there was no answer. */
async function placeTerms(
  run: Run,
  place: Place,
  counts: ReadonlyMap<string, number>,
): Promise<ReadonlyMap<string, PlaceTerms> | undefined> {
  const rows = await rowsOf(run, kindsQuery(place), 4 * mostProperties);
  if (rows === undefined) return undefined;
  const found = new Map<string, PlaceTerms>();
  const guesses = new Map<string, readonly string[]>();
  for (const [iri = "", own] of Map.groupBy(rows, (row) => iriOf(row.get("p")))) {
    const kinds = new Map(own.map((row) => [row.get("k")?.value, row]));
    const [iris = 0, blankNodes = 0, literals = 0] = ["i", "b", "l"].map((kind) => numberIn(kinds.get(kind), "n"));
    if (iris + blankNodes + literals !== counts.get(iri)) continue;
    found.set(iri, { iris, blankNodes, literals });
    guesses.set(iri, iris === 0 ? [] : [commonPrefix(kinds.get("i"))]);
  }
  await splitByHost(run, place, { found, guesses });
  const proven = await provenOf(run, place, { found, guesses });
  const prefixesOf = (iri: string) => (proven.has(iri) ? guesses.get(iri) : undefined);
  return new Map([...found].map(([iri, kinds]) => [iri, { ...kinds, prefixes: prefixesOf(iri) }]));
}

interface Guessed {
  readonly found: ReadonlyMap<string, PlaceTerms>;
  readonly guesses: Map<string, readonly string[]>;
}

/** Properties whose IRIs have not even a host in common get a prefix for each host. */
async function splitByHost(run: Run, place: Place, { found, guesses }: Guessed): Promise<void> {
  const several = [...found.keys()].filter((iri) => guesses.get(iri)?.some(isShort));
  const largest = several.toSorted((one, other) => irisOf(found, other) - irisOf(found, one));
  for (const [at, iri] of largest.entries()) {
    const rows = at < mostSeveral ? await rowsOf(run, hostsQuery(place, iri), mostPrefixes + 1) : undefined;
    const prefixes = rows?.map(commonPrefix) ?? [];
    if (prefixes.length === 0 || prefixes.length > mostPrefixes || !areApart(prefixes)) guesses.delete(iri);
    else guesses.set(iri, prefixes.toSorted());
  }
}

/** None begins another: an IRI that is counted behind two would make up for one that is behind none. */
const areApart = (prefixes: readonly string[]): boolean =>
  !prefixes.includes("") &&
  prefixes.every((one, at) => !prefixes.some((other, place) => place !== at && other.startsWith(one)));

const irisOf = (found: Guessed["found"], iri: string): number => found.get(iri)?.iris ?? 0;

/** Ends before its host does, if it has one. */
const isShort = (prefix: string): boolean => /^(?:[^:]*:(?:\/\/)?)?$/u.test(prefix);

/** The properties behind whose prefixes all of their IRIs are. */
async function provenOf(run: Run, place: Place, { found, guesses }: Guessed): Promise<ReadonlySet<string>> {
  const proven = new Set<string>();
  for (const batch of batches(run, guesses)) {
    const rows = batch.some(([, prefixes]) => prefixes.length > 0)
      ? await rowsOf(run, behindQuery(place, batch), batch.length)
      : [];
    const behind = new Map(rows?.map((row) => [iriOf(row.get("p")), numberIn(row, "n")]));
    for (const [iri, prefixes] of batch) {
      const count = prefixes.length === 0 ? 0 : behind.get(iri);
      if (count === found.get(iri)?.iris) proven.add(iri);
    }
  }
  return proven;
}

type Batch = readonly (readonly [iri: string, prefixes: readonly string[]])[];

/** As many as fit into one query. */
function batches({ mostKeys, mostText }: Run, guesses: Guessed["guesses"]): readonly Batch[] {
  const all: (readonly [string, readonly string[]])[][] = [];
  let [keys, text] = [0, 0];
  for (const [iri, prefixes] of guesses) {
    if (!isWritable(iri)) continue;
    const more = prefixes.reduce((sum, prefix) => sum + iri.length + prefix.length + 10, 0);
    if (all.length === 0 || keys + prefixes.length > mostKeys || text + more > mostText) {
      all.push([]);
      [keys, text] = [0, 0];
    }
    keys += prefixes.length;
    text += more;
    all.at(-1)?.push([iri, prefixes]);
  }
  return all;
}

const headOf = (place: Place): string => `SUBSTR(STR(?${place}), 1, ${longestHead})`;

const extremes = (text: string): string => `(COUNT(*) AS ?n) (MIN(${text}) AS ?first) (MAX(${text}) AS ?last)`;

/** IRIs, blank nodes, literals and other terms of each property, and the extremes of the IRIs. */
function kindsQuery(place: Place): string {
  const term = `?${place}`;
  const kind = `IF(isIRI(${term}), "i", IF(isBlank(${term}), "b", IF(isLiteral(${term}), "l", "t")))`;
  const head = `IF(isIRI(${term}), ${headOf(place)}, "")`;
  return `SELECT ?p ?k ${extremes("?x")} WHERE { ?s ?p ?o . BIND(${kind} AS ?k) BIND(${head} AS ?x) } GROUP BY ?p ?k`;
}

/** The extremes of a property's IRIs at each host. */
function hostsQuery(place: Place, iri: string): string {
  const host = `STRBEFORE(STRAFTER(STR(?${place}), "://"), "/")`;
  const groups = `?s ${written(iri)} ?o . FILTER(isIRI(?${place})) BIND(${host} AS ?a) BIND(${headOf(place)} AS ?x)`;
  return `SELECT ?a ${extremes("?x")} WHERE { ${groups} } GROUP BY ?a LIMIT ${mostPrefixes + 1}`;
}

/** The IRIs behind the prefixes of each property; none at an endpoint that compares texts without their case. */
function behindQuery(place: Place, batch: Batch): string {
  const rows = batch.flatMap(([iri, prefixes]) => prefixes.map((prefix) => `(${written(iri)} ${stringText(prefix)})`));
  const behind = `isIRI(?${place}) && STRSTARTS(STR(?${place}), ?x) && !STRSTARTS("A", "a")`;
  return `SELECT ?p (COUNT(*) AS ?n) WHERE { VALUES (?p ?x) { ${rows.join(" ")} } ?s ?p ?o . FILTER(${behind}) } GROUP BY ?p`;
}

type Row = ReadonlyMap<string, RDF.Term>;

/** Undefined when the answer is none that can be relied upon. */
async function rowsOf(run: Run, query: string, maxRows: number): Promise<readonly Row[] | undefined> {
  const outcome = await ask(run, { query, level: 1, maxRows });
  return outcome.ok && outcome.sound ? outcome.answer.rows : undefined;
}

const numberIn = (row: Row | undefined, name: string): number | undefined => {
  const term = row?.get(name);
  return term && wholeNumberOf(term);
};

/** The whole segments that both extremes begin with. */
function commonPrefix(row: Row | undefined): string {
  const [first = "", last = ""] = ["first", "last"].map((name) => row?.get(name)?.value);
  let end = 0;
  while (end < first.length && first[end] === last[end]) end++;
  return /^.*[/#:]/su.exec(first.slice(0, end))?.[0] ?? "";
}
