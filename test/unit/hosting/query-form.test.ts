import { describe, expect, it } from "vitest";
import { answerKindOf, hasDatasetClause, isUpdate } from "../../../src/hosting/query-form.ts";
import { processorMsOf } from "../../support/held-loop.ts";

const shouldSee = (text: string, kind: string | undefined): void =>
  it(`${JSON.stringify(text.slice(0, 60))} asks for ${kind ?? "nothing known"}`, () =>
    expect(answerKindOf(text)).toBe(kind));

shouldSee("SELECT * {}", "bindings");
shouldSee("ask{}", "boolean");
shouldSee("Construct WHERE {}", "quads");
shouldSee("DESCRIBE<urn:x>", "quads");
shouldSee("# SELECT\n  ASK {}", "boolean");
shouldSee("PREFIX ask: <urn:select#> SELECT * {}", "bindings");
shouldSee("prefix:<urn:x>base<urn:y>#c\rPREFIX a.b-c: <urn:z>\nDESCRIBE a.b-c:d", "quads");
shouldSee("INSERT DATA {}", undefined);
shouldSee("SELECTED", undefined);
shouldSee("", undefined);
shouldSee(`${" ".repeat(500_000)}#${"x".repeat(500_000)}`, undefined);
shouldSee("PREFIX ".repeat(100_000), undefined);
shouldSee("PREFIX a: <".repeat(50_000), undefined);

const shouldBeUpdate = (query: string, expected: boolean) => () => expect(isUpdate(query)).toBe(expected);

describe("hasDatasetClause", () => {
  it.each([
    "SELECT * FROM <urn:g> {}",
    "select ('<' AS ?x) from named<urn:g> {}",
    'CONSTRUCT { ?s ?p "a\\"" } FROM ex:g WHERE {}',
    "SELECT (?a<?b AS ?c)FROM<urn:g>{}",
    'SELECT ("""a"b""" AS ?x) # no\nFROM <urn:g> {}',
  ])("finds one in %j", (text) => expect(hasDatasetClause(text)).toBe(true));

  it.each([
    "SELECT ?FROM { ?FROM <urn:from> $from }",
    "SELECT * { ?s FROM:x ex:FROM, ex:a\\,FROM, 'FROM <g>', \"FROM <g>\"@from }",
    "SELECT * {} # FROM <urn:g>",
    "SELECT * { ?s ?p '''it's FROM <g>''', <http://e.org/FROM> }",
    'SELECT * { ?s ?p "cut off FROM <g>',
  ])("finds none in %j", (text) => expect(hasDatasetClause(text)).toBe(false));

  it("is quick on hostile text", async () => {
    const texts = ['"""\\', "'\\'", "<a", "\\", "?", "# ", "a\\"].map((part) => part.repeat(200_000));
    expect(await processorMsOf(() => texts.some(hasDatasetClause))).toBeLessThan(5_000);
  });
});

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
  it("is quick on hostile text", async () => {
    const ms = await processorMsOf(() => {
      expect(isUpdate(`${"PREFIX a: ".repeat(50_000)}<`)).toBe(false);
      expect(isUpdate(`${" #\n".repeat(200_000)}DROP ALL`)).toBe(true);
    });
    expect(ms).toBeLessThan(5_000);
  });
});
