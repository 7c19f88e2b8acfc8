import { expect, it } from "vitest";
import { problemText } from "../../../src/cli/output.ts";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import { toProblem } from "../../../src/errors/fedway-error.ts";

const textOf = (where: { line?: number; column?: number; endpoint?: string }, query?: string): string =>
  problemText(toProblem(new FedwayError("QUERY_SYNTAX", "Expected a brace.", { where, next: "Add one." })), query);

it("points a caret at the column", () =>
  expect(textOf({ line: 2, column: 5 }, "SELECT *\n\tWHRE { }").split("\n").slice(1)).toStrictEqual([
    "Expected a brace.",
    "at line 2, column 5",
    "  2 |  WHRE { }",
    "    |     ^",
    "next: Add one.",
    "",
  ]));

it("keeps the caret below its character in a very long line", () => {
  const query = `${"x".repeat(5000)}!${"y".repeat(5000)}`;
  const lines = textOf({ line: 1, column: 5001 }, query).split("\n");
  const caret = lines.find((line) => line.endsWith("^")) ?? "";
  const shown = lines[lines.indexOf(caret) - 1] ?? "";
  expect(shown[caret.length - 1]).toBe("!");
  expect(shown.length).toBeLessThan(200);
});

it("shows the line without a column", () => expect(textOf({ line: 1 }, "ASK")).toContain("  1 | ASK\nnext"));
it("survives a line that is not there", () =>
  expect(textOf({ line: 9, column: 1 }, "ASK")).toContain("line 9, column 1"));
it("names the endpoint", () => expect(textOf({ endpoint: "alpha" })).toContain("endpoint: alpha"));
it("keeps control characters off the terminal", () =>
  expect(textOf({ endpoint: "a\u001b[31mb" })).toContain("endpoint: a\\u001B[31mb"));
