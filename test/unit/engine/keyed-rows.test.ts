import { expect, it } from "vitest";
import { KeyedRows } from "../../../src/engine/evaluated-clause.ts";
import type { Bindings } from "../../../src/results/model.ts";
import { namedNode } from "../../support/result-terms.ts";

/** `x=1 y=2` as a solution with IRIs. */
const row = (text: string): Bindings =>
  new Map(
    text
      .split(" ")
      .filter((cell) => cell !== "")
      .map((cell) => [cell.slice(0, 1), namedNode(`urn:${cell.slice(2)}`)] as const),
  );
const shown = (solution: Bindings): string =>
  [...solution]
    .map(([name, { value }]) => `${name}=${value.slice(4)}`)
    .toSorted()
    .join(" ");

const shouldJoin = (name: string, rows: readonly string[], keys: readonly string[], expected: readonly string[]) =>
  it(name, () => {
    const solutions = keys.map((key) => row(key));
    const variables = [...(solutions[0]?.keys() ?? [])];
    const block = { variables, rows: solutions.map((key) => Array.from(key.values())) };
    expect([...new KeyedRows(rows.map((one) => row(one))).joined(block)].map((one) => shown(one))).toEqual(expected);
  });

shouldJoin("rows that bind the key", ["x=1 y=1", "x=2 y=2", "x=1 y=3"], ["x=1"], ["x=1 y=1", "x=1 y=3"]);
shouldJoin("equal rows stay two", ["x=1", "x=1"], ["x=1"], ["x=1", "x=1"]);
shouldJoin("no partner", ["x=1"], ["x=2"], []);
shouldJoin("a row that leaves the key unbound fits every key", ["y=1"], ["x=1", "x=2"], ["x=1 y=1", "x=2 y=1"]);
shouldJoin(
  "the key's other part must fit",
  ["x=1", "y=2", "x=2"],
  ["x=1 y=1", "x=1 y=2"],
  ["x=1 y=1", "x=1 y=2", "x=1 y=2"],
);
shouldJoin("values in other columns are other keys", ["x=1 y=2"], ["x=2 y=1"], []);

it("one list of rows serves blocks with other variables", () => {
  const rows = new KeyedRows([row("x=1 y=1"), row("x=2 y=1")]);
  const joined = (name: string) => [...rows.joined({ variables: [name], rows: [[namedNode("urn:1")]] })].length;
  expect([joined("x"), joined("y"), joined("x")]).toEqual([1, 2, 1]);
});
