import { createHash } from "node:crypto";
import { toFedwayError } from "../../../src/errors/fedway-error.ts";
import { compareText } from "../../../src/rdf/canonical.ts";
import { isWord, type Query } from "../../../src/sparql/query.ts";
import { type KeyedQuery, keyedQuery } from "../verify/uncut-query.ts";
import { cellsOf, signaturesOf } from "./canonical-rows.ts";
import { chosenQueries, tiedSolutions } from "./ties.ts";
import type { Answer, Solution, WholeStore } from "./whole-store.ts";

/** Rows in canonical terms, in the order of the columns; an unbound variable is an empty text. */
type Rows = readonly (readonly string[])[];

/** Rows that are equal in order: `take` of them are in the answer, whichever; `others` are those that `rows` does not show. */
interface TieClass {
  readonly take: number;
  readonly others?: Rows;
}

/** The answer of a query over the whole dataset, in a form that does not depend on the store that gave it. */
export type GoldAnswer = OneAnswer & {
  /** Answers that are as right, as LIMIT or OFFSET of a sub-SELECT goes through rows that are equal in order; at most 19 of them. */
  readonly alternatives?: readonly OneAnswer[];
};

type OneAnswer =
  | {
      readonly kind: "bindings";
      readonly columns: readonly string[];
      readonly rows: Rows;
      /** Of the set and of the multiset of rows, without the names of the columns and whatever their order. */
      readonly signature: string;
      readonly multisetSignature: string;
      /** The query has ORDER BY. */
      readonly ordered: boolean;
      /**
       * In the order of the answer: rows of one class may change places. Without ORDER BY all rows are one class. Absent where a
       * key cannot be shown beside the rows.
       */
      readonly ties?: readonly TieClass[];
      /** LIMIT or OFFSET, a sub-SELECT's too, goes through rows that are equal in order: other rows are as right. Absent: unknown. */
      readonly cutsTies?: boolean;
    }
  | { readonly kind: "boolean"; readonly value: boolean; readonly signature: string }
  | { readonly kind: "graph"; readonly triples: readonly string[]; readonly signature: string };

/** The gold answer, and its solutions as the store gave them. */
export interface FoundAnswer {
  readonly gold: GoldAnswer;
  readonly solutions: readonly Solution[];
}

/** Asks the whole dataset. @throws FedwayError as the store: the query takes too long, its answer is too large */
export async function findGoldAnswer(store: WholeStore, query: Query): Promise<FoundAnswer> {
  const unknown = { queries: [query], isComplete: false };
  const { queries, isComplete } = await chosenQueries(query, store).catch(() => unknown);
  const [first = query, ...more] = queries;
  const { gold, solutions } = await findAnswer(store, first);
  const distinct = new Map([[JSON.stringify(gold), gold]]);
  let isKnown = isComplete;
  for (const each of more) {
    const other = await findAnswer(store, each).catch(() => undefined);
    if (other === undefined) isKnown = false;
    else distinct.set(JSON.stringify(other.gold), other.gold);
  }
  const [, ...alternatives] = distinct.values();
  return { solutions, gold: withAlternatives(gold, alternatives, isKnown) };
}

function withAlternatives(gold: OneAnswer, alternatives: readonly OneAnswer[], isKnown: boolean): GoldAnswer {
  const others = alternatives.length > 0 ? { alternatives } : {};
  if (gold.kind !== "bindings") return { ...gold, ...others };
  const { cutsTies, ...answer } = gold;
  if (alternatives.length > 0) return { ...answer, cutsTies: true, ...others };
  return cutsTies === true || (cutsTies === false && isKnown) ? gold : answer;
}

/** The answer to a query whose sub-SELECTs leave no choice. */
async function findAnswer(store: WholeStore, query: Query): Promise<FoundAnswer> {
  const keyed = keyedQuery(query);
  if (keyed !== undefined) {
    try {
      const answer = await store.ask(keyed.text);
      if (answer.kind === "bindings") return slicedAnswer(query, keyed, answer.solutions);
    } catch (error) {
      // All that LIMIT leaves out may be too much; a key that is not grouped by cannot be shown.
      if (toFedwayError(error).code === "ENDPOINT_TIMEOUT") throw error;
    }
  }
  return plainAnswer(query, await store.ask(query.text));
}

const isOrdered = ({ tokens, outline: { tail } }: Query): boolean =>
  tokens.slice(tail.from, tail.to).some((token) => isWord(token, "ORDER"));

/** A solution with its canonical row and the text of its keys. */
interface Ranked {
  readonly solution: Solution;
  readonly row: readonly string[];
  readonly text: string;
}

function rankedOf(solution: Solution, columns: readonly string[]): Ranked {
  const row = cellsOf(solution, columns);
  return { solution, row, text: JSON.stringify(row) };
}

const byText = (left: Ranked, right: Ranked): number => compareText(left.text, right.text);

function slicedAnswer(query: Query, keyed: KeyedQuery, solutions: readonly Solution[]): FoundAnswer {
  const { columns } = keyed;
  const taken: Ranked[] = [];
  const ties: TieClass[] = [];
  for (const { tied, take } of tiedSolutions(keyed, solutions)) {
    const ranked = tied.map((solution) => rankedOf(solution, columns)).toSorted(byText);
    taken.push(...ranked.slice(0, take));
    const others = ranked.slice(take).map(({ row }) => row);
    ties.push({ take, ...(others.length > 0 && { others }) });
  }
  const cutsTies = ties.some(({ others }) => others !== undefined);
  const rows = taken.map(({ row }) => row);
  const gold = {
    kind: "bindings",
    columns,
    rows,
    ...signaturesOf(rows),
    ordered: isOrdered(query),
    ties,
    cutsTies,
  } as const;
  return { gold, solutions: taken.map(({ solution }) => shownOf(solution, columns)) };
}

const shownOf = (solution: Solution, columns: readonly string[]): Solution =>
  Object.fromEntries(columns.flatMap((name) => (solution[name] === undefined ? [] : [[name, solution[name]]])));

function plainAnswer(query: Query, answer: Answer): FoundAnswer {
  if (answer.kind === "boolean") {
    const { value } = answer;
    return { gold: { kind: "boolean", value, signature: digest(String(value)) }, solutions: [] };
  }
  if (answer.kind === "graph") {
    const triples = [...new Set(answer.lines)].toSorted(compareText);
    return { gold: { kind: "graph", triples, signature: digest(triples.join("\n")) }, solutions: [] };
  }
  const { columns, solutions } = answer;
  const rows = solutions.map((solution) => cellsOf(solution, columns));
  const ordered = isOrdered(query);
  return { gold: { kind: "bindings", columns, rows, ...signaturesOf(rows), ordered }, solutions };
}

const digest = (text: string): string => createHash("sha256").update(text).digest("hex");

/** True if an answer is one of those that the query may have: rows that are equal in order may come in any order. */
export const isGoldAnswer = ({ alternatives = [], ...gold }: GoldAnswer, answer: Answer): boolean =>
  [gold, ...alternatives].some((each) => isAnswer(each, answer));

function isAnswer(gold: OneAnswer, answer: Answer): boolean {
  if (answer.kind === "boolean") return gold.kind === "boolean" && gold.value === answer.value;
  if (answer.kind === "graph") {
    return gold.kind === "graph" && sameTexts(gold.triples, [...new Set(answer.lines)]);
  }
  if (gold.kind !== "bindings" || !sameTexts(gold.columns, answer.columns)) return false;
  const found = answer.solutions.map((solution) => JSON.stringify(cellsOf(solution, gold.columns)));
  const known = gold.rows.map((row) => JSON.stringify(row));
  if (found.length !== known.length) return false;
  // Without classes any order is taken for right.
  let at = 0;
  for (const { take, others = [] } of gold.ties ?? [{ take: known.length }]) {
    const candidates = [...known.slice(at, at + take), ...others.map((row) => JSON.stringify(row))];
    if (!isPartOf(found.slice(at, at + take), candidates)) return false;
    at += take;
  }
  return true;
}

const sameTexts = (left: readonly string[], right: readonly string[]): boolean =>
  left.length === right.length && isPartOf(left, right);

/** True if `all` has each text at least as often. */
function isPartOf(texts: readonly string[], all: readonly string[]): boolean {
  const counts = new Map<string, number>();
  for (const text of all) counts.set(text, (counts.get(text) ?? 0) + 1);
  return texts.every((text) => {
    const left = counts.get(text) ?? 0;
    counts.set(text, left - 1);
    return left > 0;
  });
}
