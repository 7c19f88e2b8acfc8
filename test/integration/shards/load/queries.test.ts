import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import {
  collectQueries,
  type LoadedQueries,
  loadQueries,
  entriesFromCsv,
  entriesFromJson,
  type QueryEntry,
} from "../../../../shards/src/load/load-queries.ts";
import { newFolder } from "../../../support/scratch-folder.ts";

type LoadOptions = Parameters<typeof loadQueries>[1];

const jsonText = async (text: string, options: LoadOptions = {}): Promise<LoadedQueries> =>
  collectQueries(entriesFromJson(text, options.only), options);
const json = (entries: unknown, options?: LoadOptions): Promise<LoadedQueries> =>
  jsonText(JSON.stringify(entries), options);

const one = "ASK { ?s ?p 1 }";
const two = "ASK { ?s ?p 2 }";

describe("entries", () => {
  it("keep the order of the source; the first field with a text counts", async () => {
    const { queries, questions, rejected } = await json([
      { id: "b", sparql: one, query: "no", question: " How many? " },
      { id: 7, query: two, text: "no" },
      { text: "ASK {}" },
    ]);
    expect(queries).toEqual([
      { id: "b", text: one, question: "How many?", same: ["b"] },
      { id: "7", text: two, same: ["7"] },
      { id: "query-3", text: "ASK {}", same: ["query-3"] },
    ]);
    expect([questions, rejected]).toEqual([3, []]);
  });

  it("with the same text become one; a blank more is another text", async () => {
    const { queries, questions } = await json([
      { id: "a", sparql: one, question: "First?" },
      { id: "b", sparql: `${one} ` },
      { id: "c", sparql: one, question: "Second?" },
    ]);
    expect(queries.map(({ id, same, question }) => [id, same, question])).toEqual([
      ["a", ["a", "c"], "First?"],
      ["b", ["b"], undefined],
    ]);
    expect(questions).toBe(3);
  });

  it("can leave prefixes to be declared in front of them", async () => {
    const { queries, rejected } = await json(
      [
        { id: "a", sparql: "ASK { ?s :p v:o }" },
        { id: "b", sparql: "PREFIX v: <urn:own:> ASK { ?s :p v:o }" },
        { id: "c", sparql: "ASK {\n ?s }" },
      ],
      { prefixes: { "": "urn:x:", v: "urn:v:" } },
    );
    const prologue = "PREFIX : <urn:x:> PREFIX v: <urn:v:>";
    expect(queries.map(({ text }) => text)).toEqual([
      `${prologue}\nASK { ?s :p v:o }`,
      `${prologue}\nPREFIX v: <urn:own:> ASK { ?s :p v:o }`,
    ]);
    // The line is that of the text as it was given.
    expect(rejected).toMatchObject([{ id: "c", line: 2 }]);
  });

  it("can be those of one dataset", async () => {
    const entries = [
      { id: "a", dataset: "x", sparql: one },
      { id: "b", dataset: "y", sparql: two },
      { id: "c", sparql: "ASK {}" },
    ];
    expect((await json(entries, { only: { dataset: "y" } })).queries.map(({ id }) => id)).toEqual(["b"]);
    await expect(json(entries, { only: { constructor: "y" } })).rejects.toThrow("There are no queries.");
  });
});

const shouldReject = (entry: unknown, expected: Readonly<Record<string, unknown>>): void => {
  it(`leaves out ${JSON.stringify(entry).slice(0, 100)}`, async () => {
    const limits = { maxQueryBytes: 1_000 };
    const { queries, rejected } = await json([{ id: "good", sparql: one }, entry], { limits });
    expect(queries.map(({ id }) => id)).toEqual(["good"]);
    expect(rejected).toHaveLength(1);
    expect(rejected[0]).toMatchObject({ place: "entry 2", ...expected });
  });
};

describe("what cannot be used", () => {
  shouldReject({ id: "x", sparql: "SELECT * {\n  ?s ?p }" }, { id: "x", code: "QUERY_SYNTAX", line: 2, column: 9 });
  shouldReject({ id: "x", sparql: "ASK { ?s p:q ?o }" }, { code: "QUERY_SYNTAX", line: 1, column: 10 });
  shouldReject({ id: "x", sparql: "" }, { code: "QUERY_MISSING" });
  shouldReject({ id: "x", sparql: "DELETE WHERE { ?s ?p ?o }" }, { code: "UPDATE_REFUSED" });
  shouldReject({ id: "x", sparql: "ASK { SERVICE <urn:e> { ?s ?p ?o } }" }, { code: "REQUEST_INVALID" });
  shouldReject({ id: "good", sparql: two }, { id: "good", message: 'The id "good" is taken by another query.' });
  shouldReject({ id: "x", sparql: `ASK { ?s ?p "${"é".repeat(500)}" }` }, { id: "x", code: "QUERY_TOO_LARGE" });
  shouldReject({ id: "x" }, { id: "x", message: "The entry has no text under sparql, query or text." });
  shouldReject({ id: "x", sparql: ["ASK {}"] }, { id: "x", code: "REQUEST_INVALID" });
  shouldReject([one], { id: "query-2", message: "The entry must be an object." });
  shouldReject(null, { id: "query-2", message: "The entry must be an object." });
  shouldReject({ id: `x\n\u0000${"y".repeat(300)}`, sparql: "no" }, { id: `x ${"y".repeat(198)}` });

  it("an id that belongs to a query that was left out is free", async () => {
    const { queries } = await json([
      { id: "x", sparql: "no" },
      { id: "x", sparql: one },
    ]);
    expect(queries.map(({ id }) => id)).toEqual(["x"]);
  });

  it("a query of 10 MB is left out without a look at it", async () => {
    const { rejected } = await json([
      { id: "a", sparql: one },
      { id: "b", sparql: `ASK { ?s ?p "${"x".repeat(10 * 2 ** 20)}" }` },
    ]);
    expect(rejected.map(({ id, code }) => [id, code])).toEqual([["b", "QUERY_TOO_LARGE"]]);
    expect(rejected[0]?.message.length).toBeLessThan(100);
  });
});

describe("other formats of questions", () => {
  const folder = newFolder();
  const load = async (name: string, text: string) => {
    await writeFile(join(folder, name), text);
    const { queries, rejected } = await loadQueries(join(folder, name));
    return { queries: queries.map(({ id, question, text: query }) => [id, question, query]), rejected };
  };

  it("QALD JSON: the English question counts, else the first; answers are not looked at", async () => {
    const spoken = (language: string, string: string) => ({ language, string });
    const { queries, rejected } = await load(
      "qald.json",
      JSON.stringify({
        dataset: { id: "qald" },
        questions: [
          {
            id: 1,
            question: [spoken("de", "Wie viele?"), spoken("en", "How many?")],
            query: { sparql: one },
            answers: [{}],
          },
          { id: "2", question: [spoken("fr", "Combien ?")], query: { sparql: two } },
          { id: "3", question: "Plain?", query: {} },
        ],
      }),
    );
    expect(queries).toEqual([
      ["1", "How many?", one],
      ["2", "Combien ?", two],
    ]);
    expect(rejected).toMatchObject([
      { id: "3", place: "entry 3", message: "The entry has no text under sparql, query or text." },
    ]);
  });

  it("JSON Lines: a line that is no JSON is left out with its number", async () => {
    const lines = [
      JSON.stringify({ id: "a", sparql: one, question: "First?" }),
      "",
      "{no",
      JSON.stringify({ query: two }),
    ];
    const { queries, rejected } = await load("lines.jsonl", lines.join("\r\n"));
    expect(queries).toEqual([
      ["a", "First?", one],
      ["query-3", undefined, two],
    ]);
    expect(rejected).toMatchObject([{ place: "line 3", message: expect.stringMatching(/not valid JSON/) as string }]);
  });
});

const shouldRefuse = (
  name: string,
  load: () => Promise<LoadedQueries>,
  expected: { code: string; message: RegExp },
): void => {
  it(name, async () => {
    const { code, message } = expected;
    await expect(load()).rejects.toMatchObject({ code, message: expect.stringMatching(message) as string });
  });
};

const invalid = (message: RegExp): { code: string; message: RegExp } => ({ code: "REQUEST_INVALID", message });

describe("sources without queries", () => {
  shouldRefuse("an empty array", () => json([]), invalid(/^There are no queries\.$/));
  shouldRefuse("an object", () => json({ sparql: one }), invalid(/must be a JSON array/));
  shouldRefuse("QALD without questions", () => json({ questions: [] }), invalid(/^There are no queries\.$/));
  shouldRefuse("a number", () => json(5), invalid(/must be a JSON array/));
  shouldRefuse("no JSON", () => jsonText("[{"), invalid(/not valid JSON/));
  shouldRefuse("an empty text", () => jsonText(""), invalid(/not valid JSON/));
  shouldRefuse(
    "no query that can be used",
    () => json([{ id: "a", sparql: "ASK {\n?s" }, { id: "b" }]),
    invalid(/^None of the 2 queries can be used\. The first, "a": .* \(line 2, column 3\)$/),
  );
  shouldRefuse("more queries than allowed", () => json([{}, {}], { limits: { maxQueries: 1 } }), {
    code: "REQUEST_TOO_LARGE",
    message: /more than 1 queries/,
  });
});

it("other work goes on while many queries are parsed", async () => {
  let turns = 0;
  let isDone = false;
  const turn = (): void => {
    turns++;
    if (!isDone) setImmediate(turn);
  };
  setImmediate(turn);
  const entries = Array.from({ length: 400 }, (_, index) => ({ sparql: `ASK { ?s <urn:p${index}> ?o }` }));
  expect((await json(entries)).questions).toBe(400);
  isDone = true;
  expect(turns).toBeGreaterThanOrEqual(10);
});

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

const shouldRefuseCsv = (text: string, message: RegExp, line: number): void => {
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
  shouldRefuseCsv("id,question\na,b", /no column is named sparql, query or text/, 1);
  shouldRefuseCsv("\n\nid\n", /no column is named/, 3);
  shouldRefuseCsv('sparql\n"ASK {}', /a quote on line 2 is never closed/, 2);
  shouldRefuseCsv('sparql\nASK {}\nASK { ?s ?p "x" }', /a quote on line 3 stands in the middle/, 3);
  shouldRefuseCsv('id,sparql\n"a\nb"c,ASK {}', /a quote on line 2 is followed by more text/, 2);
});

let folder: string;
const place = (name: string): string => join(folder, name);

beforeAll(async () => {
  folder = newFolder();
  await mkdir(place("rq"));
  await mkdir(place("empty"));
  await writeFile(place("rq/b.rq"), "# Which dogs\r\n#+ are old?\r\n\r\n# no\r\nASK { ?s ?p 1 }");
  await writeFile(place("rq/a.rq"), "ASK {}");
  await writeFile(place("rq/c.rq"), "ASK {");
  await writeFile(place("rq/notes.txt"), "no query");
  await writeFile(place("secret"), "ASK { ?s ?p 2 }");
  await symlink(place("secret"), place("rq/d.rq"));
  await mkdir(place("rq/e.rq"));
  await writeFile(place("queries.json"), '[{"id": "j", "sparql": "ASK {}"}]');
  await writeFile(place("QUERIES.CSV"), "\uFEFFid,sparql\nk,ASK {}");
  await writeFile(place("latin.json"), Buffer.from([0x5b, 0x22, 0xe9, 0x22, 0x5d]));
});

describe("a folder", () => {
  it("gives its .rq files in the order of their names, with their first comments as questions", async () => {
    const { queries, rejected } = await loadQueries(place("rq"));
    expect(queries.map(({ id, question }) => [id, question])).toEqual([
      ["a", undefined],
      ["b", "Which dogs are old?"],
    ]);
    expect(rejected.map(({ id, place: where, code, line }) => [id, where, code, line])).toEqual([
      ["c", "c.rq", "QUERY_SYNTAX", 1],
      ["d", "d.rq", "REQUEST_INVALID", undefined],
      ["e", "e.rq", "REQUEST_INVALID", undefined],
    ]);
  });
});

describe("a file", () => {
  it("may be JSON", async () => {
    expect((await loadQueries(place("queries.json"))).queries).toEqual([{ id: "j", text: "ASK {}", same: ["j"] }]);
  });

  it("may be CSV, with a byte order mark", async () => {
    expect((await loadQueries(place("QUERIES.CSV"))).queries).toEqual([{ id: "k", text: "ASK {}", same: ["k"] }]);
  });
});

const shouldRefuseFile = (
  name: string,
  expected: { code: string; message: RegExp },
  limits?: { maxBytes?: number; maxQueries?: number },
): void => {
  it(`${name} is refused: ${expected.message.source}`, async () => {
    const loading = loadQueries(place(name), { ...(limits && { limits }) });
    await expect(loading).rejects.toMatchObject({
      code: expected.code,
      message: expect.stringMatching(expected.message) as string,
    });
  });
};

describe("what cannot be read", () => {
  shouldRefuseFile("missing.json", { code: "REQUEST_INVALID", message: /"missing.json" cannot be read/ });
  shouldRefuseFile("secret", { code: "REQUEST_INVALID", message: /neither JSON, JSON Lines nor CSV/ });
  shouldRefuseFile("latin.json", { code: "REQUEST_INVALID", message: /not UTF-8/ });
  shouldRefuseFile("empty", { code: "REQUEST_INVALID", message: /There are no queries/ });
  shouldRefuseFile("queries.json", { code: "REQUEST_TOO_LARGE", message: /larger than 10 bytes/ }, { maxBytes: 10 });
  // The files of a folder count together.
  shouldRefuseFile("rq", { code: "REQUEST_TOO_LARGE", message: /larger than/ }, { maxBytes: 55 });
  shouldRefuseFile("rq", { code: "REQUEST_TOO_LARGE", message: /more than 4 queries/ }, { maxQueries: 4 });
});
