import { describe, expect, it } from "vitest";
import { entriesFromCsv } from "../../../../../src/shards/load/queries/read-files.ts";
import type { QueryEntry } from "../../../../../src/shards/load/queries/read-files.ts";

const shouldRead = (text: string, ...entries: readonly Partial<QueryEntry>[]): void => {
  it(`${JSON.stringify(text)} has ${entries.length} entries`, () => {
    expect(entriesFromCsv(text)).toEqual(entries);
  });
};

describe("CSV", () => {
  shouldRead("");
  shouldRead("\n\n");
  shouldRead("id,sparql\n");
  shouldRead("id,sparql\na,ASK {}", { place: "line 2", id: "a", text: "ASK {}" });
  shouldRead("ID , Query\r\na,ASK {}\r\n", { place: "line 2", id: "a", text: "ASK {}" });
  shouldRead(
    "text\rASK {}\rASK { ?s ?p ?o }\r",
    { place: "line 2", text: "ASK {}" },
    { place: "line 3", text: "ASK { ?s ?p ?o }" },
  );
  shouldRead(
    'question,id,sparql\n"Who, and ""what""?",a,"ASK {\n  ?s ?p ""x, y""\r\n}"\n\n,b,ASK {}',
    { place: "line 2", id: "a", text: 'ASK {\n  ?s ?p "x, y"\r\n}', question: 'Who, and "what"?' },
    { place: "line 6", id: "b", text: "ASK {}" },
  );
  shouldRead('sparql,id\n"",', { place: "line 2", text: "" });
  shouldRead('sparql\n""""', { place: "line 2", text: '"' });
  shouldRead('id,sparql\n"a","ASK {}"', { place: "line 2", id: "a", text: "ASK {}" });
  shouldRead(
    "id,sparql\na\nb,ASK {},\nc,ASK {}",
    { place: "line 2", problem: "The record has 1 cells, the header has 2." },
    { place: "line 3", problem: "The record has 3 cells, the header has 2." },
    { place: "line 4", id: "c", text: "ASK {}" },
  );
  shouldRead("__proto__,sparql\nx,ASK {}", { place: "line 2", text: "ASK {}" });

  it("only the records asked for", () => {
    const text = "dataset,sparql\nx,ASK {}\ny,ASK { ?s ?p ?o }";
    expect(entriesFromCsv(text, { dataset: "y" })).toEqual([{ place: "line 3", text: "ASK { ?s ?p ?o }" }]);
  });

  it("a quoted cell of 10 MB", () => {
    const long = `"" ${"x\n".repeat(5 * 2 ** 20)}`;
    const [entry] = entriesFromCsv(`sparql\n"${long}"\n`);
    expect(entry?.text).toHaveLength(long.length - 1);
  });
});

const shouldRefuse = (text: string, message: RegExp, line: number): void => {
  it(`${JSON.stringify(text)} is refused`, () => {
    expect(() => entriesFromCsv(text)).toThrow(
      expect.objectContaining({
        code: "REQUEST_INVALID",
        message: expect.stringMatching(message) as string,
        details: expect.objectContaining({ where: { line } }) as object,
      }),
    );
  });
};

describe("what is no CSV of queries", () => {
  shouldRefuse("id,question\na,b", /no column is named sparql, query or text/, 1);
  shouldRefuse("\n\nid\n", /no column is named/, 3);
  shouldRefuse('sparql\n"ASK {}', /a quote on line 2 is never closed/, 2);
  shouldRefuse('sparql\nASK {}\nASK { ?s ?p "x" }', /a quote on line 3 stands in the middle/, 3);
  shouldRefuse('id,sparql\n"a\nb"c,ASK {}', /a quote on line 2 is followed by more text/, 2);
});
