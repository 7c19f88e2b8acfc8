import { describe, expect, it } from "vitest";
import { isUpdate, refusedQuery } from "../../../src/hosting/store-errors.ts";

const refused = (message: string, query = "SELECT *") => refusedQuery(message, { endpoint: "alpha", query });

describe("refusedQuery", () => {
  it("counts columns in UTF-16 code units", () => {
    expect(refused("error at 1:4: expected x", "🌍🌍é?").details.where?.column).toBe(6);
  });
  it("explains a relative IRI", () => {
    expect(refused("error at 1:1: expected IRI parsing failed").message).toMatch(/IRI is relative or malformed/);
  });
  it("shortens the list of expectations", () => {
    expect(refused(`error at 1:1: expected ${"x, ".repeat(300)}`).message.length).toBeLessThan(300);
  });
});

const shouldBeUpdate = (query: string, expected: boolean) => () => expect(isUpdate(query)).toBe(expected);

describe("isUpdate", () => {
  for (const word of ["INSERT DATA {}", "delete where {}", "WITH <g> DELETE {}", "LOAD <x>", "CLEAR ALL", "DROP ALL"]) {
    it(`knows ${word}`, shouldBeUpdate(word, true));
  }
  for (const word of ["CREATE GRAPH <g>", "ADD <a> TO <b>", "MOVE <a> TO <b>", "COPY <a> TO <b>"]) {
    it(`knows ${word}`, shouldBeUpdate(word, true));
  }
  it(
    "looks behind the prologue",
    shouldBeUpdate("# c\nBASE <http://x#> PREFIX a: <http://y#>\nPREFIX : <z> # INSERT\n DELETE {}", true),
  );
  it("is no query", shouldBeUpdate("SELECT * { ?s ?p 'INSERT DATA {}' }", false));
  it("is no comment", shouldBeUpdate("# INSERT DATA {}\nASK {}", false));
  it("is no longer word", shouldBeUpdate("INSERTS", false));
  it("is quick on hostile text", () => {
    const startMs = performance.now();
    expect(isUpdate(`${"PREFIX a: ".repeat(50_000)}<`)).toBe(false);
    expect(isUpdate(`${" #\n".repeat(200_000)}DROP ALL`)).toBe(true);
    expect(performance.now() - startMs).toBeLessThan(5_000);
  });
});
