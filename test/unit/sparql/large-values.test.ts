import { describe, expect, it } from "vitest";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import { parseQuery, tokenize } from "../../../src/sparql/query.ts";

const query = (data: string, variables = "?a"): string =>
  `PREFIX : <http://e/>\nSELECT * { VALUES ${variables} {${data}} ?s ?p ?a }`;

function refusal(text: string): FedwayError {
  try {
    parseQuery(text);
  } catch (error) {
    if (error instanceof FedwayError) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

describe("large VALUES blocks", () => {
  const cells = [`<http://e/a>`, `:b`, `"c"@en-GB`, `"""d"""^^:e`, `1`, `-2.5`, `+3e4`, `true`, `UNDEF`, `'f'`];
  const many = Array.from({ length: 4_000 }, (_, at) => cells[at % cells.length]).join(" ");

  it("are read, whatever their cells are", () => {
    const { text, outline } = parseQuery(query(many));
    const [values] = outline.where?.elements ?? [];
    expect(text).toBe(query(many));
    expect(values).toMatchObject({ kind: "values", rows: { length: 4_000 } });
  });

  it("may have many columns or none", () => {
    const names = Array.from({ length: 2_000 }, (_, at) => `?v${at}`).join(" ");
    expect(() => parseQuery(query(`(${"1 ".repeat(2_000)})`.repeat(20), `(${names})`))).not.toThrow();
    expect(() => parseQuery(query("()".repeat(2_000), "()"))).not.toThrow();
  });

  it("keep the place of what is wrong behind them", () => {
    const text = `${query(`\n${"1 ".repeat(3_000)}\n 2`)} }`;
    expect(refusal(text)).toMatchObject({ code: "QUERY_SYNTAX", details: { where: { line: 4 } } });
    expect(refusal(text).details.where?.column).toBe(text.length - text.lastIndexOf("\n") - 1);
  });

  it.each([
    ["a variable", `${many} ?x`],
    ["an IRI that is not absolute", `${many} <x>`],
    ["a sign alone", `${many} - 1`],
    ["half a literal", `${many} "x"^^`],
    ["a row in brackets", `${many} (1)`],
    ["a blank node", `${many} _:b`],
  ])("with %s are not valid", (_, data) => {
    expect(refusal(query(data))).toMatchObject({ code: "QUERY_SYNTAX", details: { where: { line: 2 } } });
  });

  it.each([
    ["too short", "(1)"],
    ["too long", "(1 2 3)"],
    ["not closed", "(1 2"],
    ["bare", "1 2"],
  ])("with a row that is %s are not valid", (_, row) => {
    expect(refusal(query(`${"(1 2)".repeat(1_000)}${row}`, "(?a ?b)")).code).toBe("QUERY_SYNTAX");
  });

  it("beyond 50,000 tokens are refused", () => {
    expect(refusal(query("1 ".repeat(500_000)))).toMatchObject({
      code: "QUERY_TOO_LARGE",
      message: "The query has more than 50000 tokens of VALUES data.",
      details: { next: "Send its values in several queries." },
    });
  });
});

it("looks for keywords in a long word once", () => {
  const before = process.cpuUsage();
  expect(tokenize("EFI".repeat(13).concat(" ").repeat(1_000))).toHaveLength(1_000);
  const { user } = process.cpuUsage(before);
  expect(user / 1_000).toBeLessThan(1_000);
});
