import { itemAt } from "../../../../src/values.ts";
import { canonicalTerm, permutations, signaturesOf } from "../../package/canonical-rows.ts";
import { type GoldAnswer, isGoldAnswer } from "../../package/gold-answer.ts";
import type { Answer } from "../../package/whole-store.ts";

/** How an answer stands to the gold answer; shares from 0 to 1. */
export interface Accuracy {
  /** The same set of rows, whatever the names and the order of the columns. */
  readonly set: boolean;
  /** Also each row as often. */
  readonly multiset: boolean;
  /** Also in the same order, where the question's query has one; rows of a tie may change places. */
  readonly exact: boolean;
  /** Over distinct rows. Two empty answers are equal: 1. */
  readonly precision: number;
  readonly recall: number;
  readonly f1: number;
  /**
   * By the first gold row; in answers without an order what a random order gives on average. Null where the gold answer has one row
   * or none, which leaves nothing to rank.
   */
  readonly hit1: number | null;
  readonly hit5: number | null;
  readonly hit10: number | null;
  readonly mrr: number | null;
}

const noRows = { precision: 0, recall: 0, f1: 0 };
const allRows = { precision: 1, recall: 1, f1: 1 };
const fullAccuracy: Accuracy = { set: true, multiset: true, exact: true, ...allRows, ...ranked([true], true) };

/** Of a question without an answer. */
export const noAccuracyOf = (gold: GoldAnswer): Accuracy =>
  isRanked(gold) ? noAccuracy : { ...noAccuracy, ...unranked };

/** Also of an answer of another kind than the gold one. */
const noAccuracy: Accuracy = { set: false, multiset: false, exact: false, ...noRows, ...ranked([], true) };

/** Compares an answer with the gold answer, with the nearest one where several are right. */
export function accuracyOf({ alternatives = [], ...gold }: GoldAnswer, answer: Answer): Accuracy {
  const best = alternatives
    .map((each) => accuracyOfOne(each, answer))
    .reduce((better, each) => (rank(each) > rank(better) ? each : better), accuracyOfOne(gold, answer));
  return isRanked(gold) ? best : { ...best, ...unranked };
}

function isRanked(gold: GoldAnswer): boolean {
  if (gold.kind === "bindings") return gold.rows.length > 1;
  return gold.kind === "graph" && gold.triples.length > 1;
}

const unranked = { hit1: null, hit5: null, hit10: null, mrr: null };

function accuracyOfOne(gold: GoldAnswer, answer: Answer): Accuracy {
  if (answer.kind !== gold.kind) return noAccuracy;
  if (gold.kind === "boolean") return isGoldAnswer(gold, answer) ? fullAccuracy : noAccuracy;
  if (gold.kind === "graph") {
    const found = answer.kind === "graph" ? [...new Set(answer.lines)] : [];
    return scored([{ take: gold.triples.length, rows: gold.triples }], found, false);
  }
  return answer.kind === "bindings" ? bestOrder(gold, answer) : noAccuracy;
}

type GoldRows = GoldAnswer & { readonly kind: "bindings" };
type FoundRows = Answer & { readonly kind: "bindings" };

/** Rows as text, of which any `take` are right. */
interface TieRows {
  readonly take: number;
  readonly rows: readonly string[];
}

/** The accuracy in the order of columns that makes it highest. */
function bestOrder(gold: GoldRows, { columns, solutions }: FoundRows): Accuracy {
  const rows = solutions.map((solution) => columns.map((name) => canonicalTerm(solution[name])));
  if (gold.rows.length + rows.length === 0) return fullAccuracy;
  if (columns.length !== gold.columns.length) return noAccuracy;
  const classes = tieRows(gold);
  let best: Accuracy | undefined;
  for (const order of ordersOf(gold, rows)) {
    const found = rows.map((row) => JSON.stringify(order.map((at) => itemAt(row, at))));
    const each = scored(classes, found, gold.ordered);
    if (best === undefined || rank(each) > rank(best)) best = each;
    if (each.exact) break;
  }
  if (best === undefined) return noAccuracy;
  if (best.set) return best;
  // Signatures also know the order of more columns than can be tried.
  const { signature, multisetSignature } = signaturesOf(rows);
  if (signature !== gold.signature) return best;
  const multiset = multisetSignature === gold.multisetSignature;
  return { ...best, set: true, multiset, exact: multiset && !gold.ordered, ...allRows };
}

const rank = ({ exact, multiset, set, f1 }: Accuracy): number =>
  Number(exact) * 8 + Number(multiset) * 4 + Number(set) * 2 + f1;

function tieRows({ rows, ties }: GoldRows): readonly TieRows[] {
  let at = 0;
  return (ties ?? [{ take: rows.length }]).map(({ take, others = [] }) => {
    const own = rows.slice(at, (at += take));
    return { take, rows: [...own, ...others].map((row) => JSON.stringify(row)) };
  });
}

/** The orders of columns in which each has a value in common with that of the gold answer. */
function ordersOf(gold: GoldRows, rows: readonly (readonly string[])[]): readonly (readonly number[])[] {
  const golden = [...gold.rows, ...(gold.ties ?? []).flatMap(({ others = [] }) => others)];
  const wanted = gold.columns.map((_, at) => new Set(golden.map((row) => itemAt(row, at))));
  const fits = gold.columns.map((_, from) => {
    const values = new Set(rows.map((row) => itemAt(row, from)));
    return wanted.map((each) => !values.isDisjointFrom(each));
  });
  const orders = permutations([...gold.columns.keys()], mostOrders);
  return orders.filter((order) => orders.length === 1 || order.every((from, to) => fits[from]?.[to]));
}

const mostOrders = 720;

/** Rows that are right of those wanted and of those given. */
interface Overlap {
  readonly right: number;
  readonly wanted: number;
  readonly given: number;
}

const isSame = ({ right, wanted, given }: Overlap): boolean => right === wanted && right === given;

/** Each row of the answer counts for one class at most. */
function overlap(classes: readonly TieRows[], found: readonly string[]): Overlap {
  const left = new Map<string, number>();
  for (const row of found) left.set(row, (left.get(row) ?? 0) + 1);
  let [right, wanted] = [0, 0];
  for (const { take, rows } of classes) {
    let taken = 0;
    for (const row of rows) {
      const there = left.get(row) ?? 0;
      if (taken === take || there === 0) continue;
      left.set(row, there - 1);
      taken++;
    }
    right += taken;
    wanted += take;
  }
  return { right, wanted, given: found.length };
}

function distinctClasses(classes: readonly TieRows[]): readonly TieRows[] {
  const seen = new Set<string>();
  return classes.map(({ take, rows }) => {
    const fresh = [...new Set(rows)].filter((row) => !seen.has(row));
    for (const row of fresh) seen.add(row);
    return { take: Math.min(take, fresh.length), rows: fresh };
  });
}

/** @param ordered the order of the rows is that of the query */
function scored(classes: readonly TieRows[], found: readonly string[], ordered: boolean): Accuracy {
  const distinct = overlap(distinctClasses(classes), [...new Set(found)]);
  const { right, wanted, given } = distinct;
  if (wanted + given === 0) return fullAccuracy;
  const known = new Set(classes.flatMap(({ rows }) => rows));
  const isGold = found.map((row) => known.has(row));
  let at = 0;
  const isInOrder = classes.every((each) => isSame(overlap([each], found.slice(at, (at += each.take)))));
  return {
    set: isSame(distinct),
    multiset: isSame(overlap(classes, found)),
    exact: isInOrder && at === found.length,
    precision: given === 0 ? 0 : right / given,
    recall: wanted === 0 ? 0 : right / wanted,
    f1: (2 * right) / (wanted + given),
    ...ranked(isGold, ordered),
  };
}

/** Chances that a gold row is among the first, and the mean of one over the rank of the first one. */
function ranked(isGold: readonly boolean[], ordered: boolean): Pick<Accuracy, "hit1" | "hit5" | "hit10" | "mrr"> {
  const among = isGold.filter(Boolean).length;
  const hits: number[] = [];
  let [missed, mrr] = [1, 0];
  for (const [at, isRight] of isGold.entries()) {
    const chance = ordered ? Number(isRight) : Math.min(1, among / (isGold.length - at));
    mrr += (missed * chance) / (at + 1);
    missed *= 1 - chance;
    hits.push(1 - missed);
  }
  const hit = (k: number): number => hits[Math.min(k, hits.length) - 1] ?? 0;
  return { hit1: hit(1), hit5: hit(5), hit10: hit(10), mrr };
}
