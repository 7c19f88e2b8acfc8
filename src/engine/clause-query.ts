import type * as RDF from "@rdfjs/types";
import { LRUCache } from "lru-cache";
import type { FederatedClause } from "../plan/query-plan.ts";
import { isPlainString, literalFromParts, termKey, termToText } from "../results/terms.ts";
import type { Bindings } from "../results/model.ts";
import { sizedByKey } from "../cache-size.ts";
import { itemAt } from "../values.ts";

/** Join keys for a bound join: every row binds every variable, to IRIs or literals (blank nodes have no name elsewhere). */
export interface KeyBlock {
  readonly variables: readonly string[];
  readonly rows: readonly (readonly RDF.Term[])[];
  /** The clause is asked for nothing else: all of its solutions come in one answer. */
  readonly only?: boolean;
}

/** A text that no other list of as many terms has. */
export function termsText(terms: readonly (RDF.Term | undefined)[]): string {
  let text = "";
  for (const term of terms) {
    const key = term ? termKey(term) : "";
    if (terms.length === 1) return key;
    text += `${key.length}:${key}`;
  }
  return text;
}

/** A key block's rows as solutions. */
export function keyRows({ variables, rows }: KeyBlock): Bindings[] {
  return rows.map((row) => new Map(variables.flatMap((name, index) => (row[index] ? [[name, row[index]]] : []))));
}

const XSD = "http://www.w3.org/2001/XMLSchema#";
/** The column of a constant. */
export const SOLUTION = "fedway_solution";

/** The columns that `clauseQuery` asks for. */
export function clauseColumns(clause: FederatedClause, keys?: KeyBlock): readonly string[] {
  const names = new Set([...clause.variables.map(({ name }) => name), ...(keys?.variables ?? [])]);
  // Blazegraph has no row for SELECT DISTINCT of nothing but keys.
  const isLone = clause.distinct && keys !== undefined && keys.rows.length > 1 && keys.variables.length === names.size;
  return names.size === 0 || isLone ? [...names, SOLUTION] : [...names];
}

/** How keys are written. */
interface KeyWriting {
  /** Says the same of the solutions as the keys, for endpoints without VALUES, which may know no AS either. */
  readonly condition?: string;
  /** In a subquery of their own. */
  readonly nested?: boolean;
  /** Plain strings also with their datatype, for endpoints that hold these as two terms. */
  readonly apart?: boolean;
}

/** The text that asks an endpoint for a clause's solutions, restricted to those compatible with a block of keys. */
export function clauseQuery(clause: FederatedClause, keys?: KeyBlock, writing: KeyWriting = {}): string {
  const { condition } = writing;
  const names = clauseColumns(clause, keys);
  // A clause without variables still has solutions to count.
  const constant = `(${names.length === 1 ? "1" : '""'} AS ?${SOLUTION})`;
  const counted = condition === undefined ? constant : "*";
  const projection = names.map((name) => (name === SOLUTION ? counted : `?${name}`)).join(" ");
  const select = clause.distinct ? "SELECT DISTINCT" : "SELECT";
  const limit = clause.limit === undefined ? "" : ` LIMIT ${clause.limit}`;
  const where =
    condition === undefined ? keyedPattern(clause, keys, writing) : conditionedPattern(clause.pattern, condition);
  return `${clause.prologue}${select} ${projection} WHERE ${where}${limit}`;
}

const conditionedPattern = (pattern: string, condition: string): string =>
  condition === "" ? pattern : `{ ${pattern} FILTER(${condition}) }`;

function keyedPattern(clause: FederatedClause, keys: KeyBlock | undefined, writing: KeyWriting): string {
  const pattern = withSubstituted(clause, keys, writing);
  if (!keys || keys.variables.length === 0) return pattern;
  const values = valuesBlock(keys, writing);
  const isNested = writing.nested === true || dropsKeys.test(pattern);
  const block = isNested ? `{ SELECT * { ${values} } }` : values;
  const isLast = holdsTags(keys) && (isNested || keys.variables.length > 1);
  // Virtuoso begins no path whose other end is not among the columns of its own SELECT.
  const joined = writing.nested === true ? `{ SELECT * ${pattern} }` : pattern;
  return isLast ? `{ ${joined} ${block} }` : `{ ${block} ${joined} }`;
}

/** In a SELECT DISTINCT of the clause's own, Blazegraph has no row for keys that do not stand in a subquery of their own. */
const dropsKeys = /\bSELECT\s+DISTINCT\b/iu;

/**
 * Virtuoso has no row for literals with a language that stand in VALUES of several columns, or in a subquery, before what they are
 * joined with.
 */
const holdsTags = ({ rows }: KeyBlock): boolean =>
  rows.some((row) => row.some((term) => term.termType === "Literal" && term.language !== ""));

/** True if the clause begins with triples that bind all of the keys' variables. */
export const takesKeysInside = ({ opening, substituted }: FederatedClause, { variables }: KeyBlock): boolean =>
  !substituted && variables.every((name) => opening?.includes(name) === true);

/**
 * The text that is evaluated here for the same solutions. Keys stand within the clause's braces where it begins with
 * triples that bind them: then they narrow what OPTIONAL, MINUS and EXISTS behind those are asked for, and no solution
 * that the clause has for them changes.
 */
export function evaluatedQuery(clause: FederatedClause, keys?: KeyBlock): string {
  const endpoint = { url: clause.endpoint.url };
  if (!keys || !takesKeysInside(clause, keys)) return clauseQuery({ ...clause, endpoint }, keys);
  const pattern = clause.pattern.replace("{", () => `{ ${valuesBlock(keys)} `);
  return clauseQuery({ ...clause, endpoint, pattern });
}

/**
 * The pattern with the keys in every group that needs them. Keys that come from a neighbour inside the same EXISTS stay
 * outside where that makes a difference: the neighbour is joined with.
 */
function withSubstituted(clause: FederatedClause, keys: KeyBlock | undefined, writing: KeyWriting): string {
  const { pattern, substitution, substituted } = clause;
  if (!keys || !substitution || !substituted) return pattern;
  const isReached = (name: string): boolean => substituted.includes(name) || !substitution.variables.includes(name);
  let text = pattern;
  for (const { at, variables } of substitution.sites.toReversed()) {
    const part = columns(keys, (name) => variables.includes(name) && isReached(name));
    if (part.variables.length > 0) text = `${text.slice(0, at)} ${valuesBlock(part, writing)} ${text.slice(at)}`;
  }
  return text;
}

/** The distinct rows of some of the columns. */
function columns(keys: KeyBlock, isWanted: (name: string) => boolean): KeyBlock {
  const at = [...keys.variables.keys()].filter((index) => isWanted(itemAt(keys.variables, index)));
  const rows = new Map<string, readonly RDF.Term[]>();
  for (const row of keys.rows) {
    const part = at.map((index) => itemAt(row, index));
    rows.set(termsText(part), part);
  }
  return { variables: at.map((index) => itemAt(keys.variables, index)), rows: [...rows.values()] };
}

function valuesBlock({ variables, rows }: KeyBlock, { apart = false }: KeyWriting = {}): string {
  const spellings = (term: RDF.Term, at: number): readonly string[] =>
    spellingsOf(term, apart && variables[at] !== KEY_NUMBER);
  const data = rows.flatMap((row) => combinations(row.map(spellings)).map((texts) => `(${texts.join(" ")})`)).join(" ");
  return `VALUES (${variables.map((name) => `?${name}`).join(" ")}) { ${data} }`;
}

/** The texts that stand for a key: a string is two terms to endpoints that hold it `apart`. */
export function spellingsOf(term: RDF.Term, apart: boolean): readonly string[] {
  const text = termToText(term);
  return apart && isPlainString(term) ? [text, `${text}^^<${XSD}string>`] : [text];
}

/** One of each list, in all ways. */
const combinations = (lists: readonly (readonly string[])[]): readonly (readonly string[])[] =>
  lists.reduce<readonly (readonly string[])[]>(
    (made, list) =>
      list.length === 1
        ? made.map((texts) => [...texts, ...list])
        : made.flatMap((texts) => list.map((text) => [...texts, text])),
    [[]],
  );

/** The column of a key's number. */
export const KEY_NUMBER = "fedway_key";
const RDF_NS = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";

/** Spellings that engines which store values return unchanged. Booleans, dates and times have none: they come back as 1, or with a zone. */
const canonical: Readonly<Record<string, RegExp>> = {
  string: /^/u,
  integer: /^(?:0|-?[1-9]\d{0,17})$/u,
  decimal: /^-?(?:0|[1-9]\d{0,14})\.\d{0,14}[1-9]$/u,
};

/** Keys as they are sent, and how an answer's rows are read. */
interface SentKeys {
  readonly keys: KeyBlock | undefined;
  /** The row as the join needs it, with the terms of its key; nothing when it matches none. */
  readonly own: (row: Bindings) => readonly Bindings[];
}

/**
 * Many engines store "01"^^xsd:integer, "1"^^xsd:int and "1"^^xsd:integer as one value: each of the three keys matches it,
 * and each match is spelled in the engine's own way. What an engine matches is for it to say: where a key could come back in
 * another spelling, the keys are numbered, and the number that comes back decides.
 */
export function numberKeys(keys: KeyBlock | undefined): SentKeys {
  if (!keys || keys.rows.every((row) => row.every((term) => hasOneSpelling(term))))
    return { keys, own: (row) => [row] };
  const rows = keys.rows.map((row, index) => [...row, literalFromParts(String(index))]);
  return {
    keys: { variables: [...keys.variables, KEY_NUMBER], rows },
    own(row) {
      const key = keys.rows[Number(row.get(KEY_NUMBER)?.value)];
      const own = new Map(row);
      own.delete(KEY_NUMBER);
      for (const [index, name] of keys.variables.entries()) {
        const [term, wanted] = [row.get(name), key?.[index]];
        if (!term || !wanted || term.equals(wanted)) continue;
        if (hasOneSpelling(wanted)) return [];
        own.set(name, wanted);
      }
      return [own];
    },
  };
}

/** No engine gives the term back spelled otherwise. */
export function hasOneSpelling(term: RDF.Term): boolean {
  if (term.termType !== "Literal") return true;
  if (term.language !== "") return term.language === term.language.toLowerCase();
  const { value } = term.datatype;
  if (!value.startsWith(XSD)) return value !== `${RDF_NS}langString`;
  const name = value.slice(XSD.length);
  return Object.hasOwn(canonical, name) && canonical[name]?.test(term.value) === true;
}

/** No engine takes another term for the same value. */
export const isSpelledOnce = (term: RDF.Term): boolean => term.termType !== "Literal" || isPlainString(term);

/**
 * The keys in blocks in which no two are one value in several spellings: Blazegraph writes all of
 * them as one, and Corese matches each as often as there are spellings.
 */
export function blocksOfValues(keys: KeyBlock): readonly KeyBlock[] {
  if (keys.rows.every((row) => row.every((term) => isSpelledOnce(term)))) return [keys];
  const seen = new Map<string, number>();
  const blocks: RDF.Term[][][] = [];
  for (const row of keys.rows) {
    const value = valuesText(row);
    const at = seen.get(value) ?? 0;
    seen.set(value, at + 1);
    (blocks[at] ??= []).push([...row]);
  }
  return blocks.length <= 1 ? [keys] : blocks.map((rows) => ({ variables: keys.variables, rows }));
}

/** A text that rows of keys have in common which some engine takes for the same values. */
export const valuesText = (row: readonly RDF.Term[]): string =>
  row
    .map((term) => valueText(term))
    .map((text) => `${text.length}:${text}`)
    .join("");

const hasZone = /(?:Z|[+-]\d\d:\d\d)$/u;
const moments: ReadonlySet<string> = new Set(["date", "dateTime"]);

/** A text that terms have in common which some engine takes for one value; rather too often than not. */
function valueText(term: RDF.Term): string {
  if (term.termType !== "Literal" || isPlainString(term)) return termKey(term);
  const { value, language, datatype } = term;
  if (language !== "") return `${value}@${language.toLowerCase()}`;
  if (!datatype.value.startsWith(XSD)) return termKey(term);
  const name = datatype.value.slice(XSD.length);
  const text = value.trim();
  if (name === "boolean") return text === "1" || text === "true" ? "1" : "0";
  const number = moments.has(name)
    ? Date.parse(name === "date" || hasZone.test(text) ? text : `${text}Z`)
    : Number(text);
  return Number.isNaN(number) ? termKey(term) : `${number}`;
}

// Keys of the first request to an endpoint, and of later ones once it has answered that. With one row a key, the answer is
// smaller than those that endpoints cut, which are looked into.
const FIRST = 256;
const MOST = 990;

/** How many keys are asked for at once. */
export interface KeyBlocks {
  /** Keys of the next block. */
  next(): number;
  /** True if a later block may be larger than the next one; absent: blocks do not wait for each other. */
  isGrowing?(): boolean;
}

interface Learned {
  next: number;
  limit: number;
}

/**
 * How many join keys one request to an endpoint may carry; learned from what the endpoint accepts. One that has not been
 * asked yet gets a smaller block first, so that little is lost if it refuses or is slow.
 */
export class BlockSizes {
  // More endpoints than a catalogue has: a cache a little smaller than a full walk forgets everything.
  readonly #learned = new LRUCache<string, Learned>(sizedByKey(8));

  /** The blocks for an endpoint; of at least this many keys, where larger ones were not refused. */
  at(endpoint: string, least = 1): Required<KeyBlocks> {
    return {
      next: () => {
        const { next, limit } = this.#of(endpoint);
        return Math.max(next, Math.min(least, limit));
      },
      isGrowing: () => {
        const { next, limit } = this.#of(endpoint);
        return next < limit;
      },
    };
  }

  /** A block of this many keys was answered. */
  accepted(endpoint: string, keys: number): void {
    const known = this.#of(endpoint);
    if (keys >= known.next) known.next = known.limit;
  }

  /** A block of this many keys was refused or timed out: no later one will be larger than half of it. */
  refused(endpoint: string, keys: number): void {
    const known = this.#of(endpoint);
    known.limit = Math.min(known.limit, Math.max(1, Math.floor(keys / 2)));
    known.next = Math.min(known.next, known.limit);
  }

  #of(endpoint: string): Learned {
    const known = this.#learned.get(endpoint) ?? { next: FIRST, limit: MOST };
    this.#learned.set(endpoint, known);
    return known;
  }
}
