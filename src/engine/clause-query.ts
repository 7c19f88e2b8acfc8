import type * as RDF from "@rdfjs/types";
import { LRUCache } from "lru-cache";
import type { FederatedClause } from "../plan/query-plan.ts";
import { termKey, termToText, literalFromParts } from "../results/terms.ts";
import type { Bindings } from "../results/model.ts";
import { sizedByKey } from "../cache-size.ts";

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

const SOLUTION = "fedway_solution";

/** The columns that `clauseQuery` asks for. */
export function clauseColumns(clause: FederatedClause, keys?: KeyBlock): readonly string[] {
  const names = new Set([...clause.variables.map(({ name }) => name), ...(keys?.variables ?? [])]);
  return names.size === 0 ? [SOLUTION] : [...names];
}

/**
 * The text that asks an endpoint for a clause's solutions, restricted to those compatible with a block of keys.
 * @param condition says the same of the solutions as the keys, for endpoints without VALUES, which may know no AS either
 */
export function clauseQuery(clause: FederatedClause, keys?: KeyBlock, condition?: string): string {
  const names = clauseColumns(clause, keys);
  // A clause without variables still has solutions to count.
  const counted = condition === undefined ? `(1 AS ?${SOLUTION})` : "*";
  const projection = names[0] === SOLUTION ? counted : names.map((name) => `?${name}`).join(" ");
  const select = clause.distinct ? "SELECT DISTINCT" : "SELECT";
  const limit = clause.limit === undefined ? "" : ` LIMIT ${clause.limit}`;
  if (condition !== undefined) {
    const where = condition === "" ? clause.pattern : `{ ${clause.pattern} FILTER(${condition}) }`;
    return `${clause.prologue}${select} ${projection} WHERE ${where}${limit}`;
  }
  const pattern = withSubstituted(clause, keys);
  const where = keys && keys.variables.length > 0 ? `{ ${valuesBlock(keys)} ${pattern} }` : pattern;
  return `${clause.prologue}${select} ${projection} WHERE ${where}${limit}`;
}

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
function withSubstituted(clause: FederatedClause, keys?: KeyBlock): string {
  const { pattern, substitution, substituted } = clause;
  if (!keys || !substitution || !substituted) return pattern;
  const isReached = (name: string): boolean => substituted.includes(name) || !substitution.variables.includes(name);
  let text = pattern;
  for (const { at, variables } of substitution.sites.toReversed()) {
    const part = columns(keys, (name) => variables.includes(name) && isReached(name));
    if (part.variables.length > 0) text = `${text.slice(0, at)} ${valuesBlock(part)} ${text.slice(at)}`;
  }
  return text;
}

/** The distinct rows of some of the columns. */
function columns(keys: KeyBlock, isWanted: (name: string) => boolean): KeyBlock {
  const at = [...keys.variables.keys()].filter((index) => isWanted(keys.variables[index] ?? ""));
  const rows = new Map<string, readonly RDF.Term[]>();
  for (const row of keys.rows) {
    const part = at.flatMap((index) => row[index] ?? []);
    rows.set(termsText(part), part);
  }
  return { variables: at.flatMap((index) => keys.variables[index] ?? []), rows: [...rows.values()] };
}

function valuesBlock({ variables, rows }: KeyBlock): string {
  const data = rows.map((row) => `(${row.map(termToText).join(" ")})`).join(" ");
  return `VALUES (${variables.map((name) => `?${name}`).join(" ")}) { ${data} }`;
}

/** The column of a key's number. */
export const KEY_NUMBER = "fedway_key";
const XSD = "http://www.w3.org/2001/XMLSchema#";
const RDF_NS = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";

/** Spellings that engines which store values return unchanged. */
const canonical: Readonly<Record<string, RegExp>> = {
  string: /^/u,
  integer: /^(?:0|-?[1-9]\d{0,17})$/u,
  decimal: /^-?(?:0|[1-9]\d{0,14})\.\d{0,14}[1-9]$/u,
  boolean: /^(?:true|false)$/u,
  date: /^\d{4}-\d\d-\d\d$/u,
  dateTime: /^\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):\d\d:\d\dZ?$/u,
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
