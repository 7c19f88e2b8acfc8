import { describe, expect, it } from "vitest";
import { accuracyOf } from "../../../../shards/src/evaluate/score/accuracy.ts";
import { signaturesOf } from "../../../../shards/src/package/canonical-rows.ts";
import type { GoldAnswer } from "../../../../shards/src/package/gold-answer.ts";
import type { Answer } from "../../../../shards/src/package/whole-store.ts";

type Rows = readonly (readonly string[])[];

/** Rows of one word each, a letter a column: `"A1 B2"`. */
const rowsOf = (text: string): Rows => (text === "" ? [] : text.split(" ").map((row) => row.split("")));
const names = ["x", "y", "z", "u", "v", "w", "t"];

function gold(
  text: string,
  more: { ordered?: boolean; ties?: readonly [number, string?][]; width?: number } = {},
): GoldAnswer {
  const rows = rowsOf(text).map((row) => row.map((value) => `"${value}"`));
  const columns = names.slice(0, more.width ?? rows[0]?.length ?? 1);
  const others = (words: string | undefined) =>
    words === undefined ? {} : { others: rowsOf(words).map((row) => row.map((value) => `"${value}"`)) };
  const ties = more.ties?.map(([take, words]) => ({ take, ...others(words) }));
  return {
    kind: "bindings",
    columns,
    rows,
    ...signaturesOf(rows),
    ordered: more.ordered ?? false,
    ...(ties && { ties }),
  };
}

const answer = (text: string, width = rowsOf(text)[0]?.length ?? 1): Answer => {
  const columns = names.slice(0, width).map((name) => `other_${name}`);
  const term = (value: string) => ({ type: "literal", value });
  const solutions = rowsOf(text).map((row) =>
    Object.fromEntries(row.map((value, at) => [columns[at] ?? "", term(value)])),
  );
  return { kind: "bindings", columns, solutions };
};

const boolean = (value: boolean) => ({ kind: "boolean", value, signature: "s" }) as const;
const graph = (...triples: readonly string[]) => ({ kind: "graph", triples, lines: triples, signature: "s" }) as const;

const right = {
  set: true,
  multiset: true,
  exact: true,
  precision: 1,
  recall: 1,
  f1: 1,
  hit1: 1,
  hit5: 1,
  hit10: 1,
  mrr: 1,
};
const wrong = {
  set: false,
  multiset: false,
  exact: false,
  precision: 0,
  recall: 0,
  f1: 0,
  hit1: 0,
  hit5: 0,
  hit10: 0,
  mrr: 0,
};
/** Nothing is ranked where the gold answer has one row or none. */
const unranked = { hit1: null, hit5: null, hit10: null, mrr: null };

describe("accuracy:", () => {
  it.each<[string, GoldAnswer, Answer, object]>([
    ["names do not count", gold("a1 b2"), answer("a1 b2"), right],
    ["nor the order of columns", gold("a1 b2"), answer("1a 2b"), right],
    ["columns that look alike are tried", gold("ab ba ac"), answer("ba ab ca"), right],
    ["nor that of rows, without ORDER BY", gold("a b c"), answer("c a b"), right],
    ["a duplicate is the same set", gold("a b"), answer("a b b"), { ...right, multiset: false, exact: false }],
    [
      "two empty answers are equal, whatever their columns",
      gold("", { width: 2 }),
      answer("", 1),
      { ...right, ...unranked },
    ],
    ["rows for none", gold(""), answer("a b"), { ...wrong, ...unranked }],
    ["none for rows", gold("a b"), answer(""), { ...wrong }],
    ["another number of columns has no row in common", gold("a b"), answer("a1 b2"), wrong],
    // Of 4 rows given 2 are right, of 3 wanted 2: F1 4/7. A random order: first of 4 with chance 1/2, else second of 3 with 2/3, else third.
    [
      "some rows",
      gold("a b c"),
      answer("a b x y"),
      {
        ...wrong,
        precision: 0.5,
        recall: 2 / 3,
        f1: 4 / 7,
        hit1: 0.5,
        hit5: 1,
        hit10: 1,
        mrr: 1 / 2 + 1 / 6 / 1 + 1 / 6 / 3,
      },
    ],
    [
      "order counts with ORDER BY",
      gold("a b", { ordered: true, ties: [[1], [1]] }),
      answer("b a"),
      { ...right, exact: false },
    ],
    ["but not among ties", gold("a b", { ordered: true, ties: [[2]] }), answer("b a"), right],
    ["ties that LIMIT cuts: either", gold("a b", { ordered: true, ties: [[1], [1, "c d"]] }), answer("a d"), right],
    [
      "ties that LIMIT cuts: not both",
      gold("a b", { ordered: true, ties: [[1], [1, "c d"]] }),
      answer("a c d"),
      { ...right, set: false, multiset: false, exact: false, precision: 2 / 3, f1: 4 / 5 },
    ],
    [
      "alternatives: the nearest",
      { ...gold("a b"), alternatives: [gold("x y"), gold("c d")] },
      answer("c e"),
      { set: false, precision: 0.5, recall: 0.5 },
    ],
    ["alternatives that are right", { ...gold("a b"), alternatives: [gold("c d")] }, answer("d c"), right],
    [
      "rank of the first gold row",
      gold("a b", { ordered: true, ties: [[1], [1]] }),
      answer("u v w x y a"),
      { ...wrong, precision: 1 / 6, recall: 1 / 2, f1: 1 / 4, hit10: 1, mrr: 1 / 6 },
    ],
    [
      "one gold row has no rank",
      gold("a", { ordered: true, ties: [[1]] }),
      answer("u a"),
      { ...wrong, ...unranked, precision: 1 / 2, recall: 1, f1: 2 / 3 },
    ],
    [
      "more columns than can be tried, by signature",
      gold("abcdefg bcdefga"),
      answer("gabcdef abcdefg"),
      { set: true, multiset: true, exact: true, f1: 1 },
    ],
    ["yes for yes", boolean(true), boolean(true), { ...right, ...unranked }],
    ["no for yes", boolean(true), boolean(false), { ...wrong, ...unranked }],
    ["rows for yes", boolean(true), answer("a"), { ...wrong, ...unranked }],
    ["triples", graph("a", "b"), graph("b", "a", "a"), right],
    ["triples that lack", graph("a", "b"), graph("a"), { set: false, precision: 1, recall: 0.5, exact: false }],
  ])("%s", (_, wanted, found, accuracy) => {
    const close = Object.entries(accuracy).map(([name, value]: [string, number | boolean | null]) => [
      name,
      typeof value === "number" ? expect.closeTo(value, 9) : value,
    ]);
    expect(accuracyOf(wanted, found)).toMatchObject(Object.fromEntries(close));
  });
});
