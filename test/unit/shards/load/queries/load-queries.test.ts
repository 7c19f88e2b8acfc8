import { describe, expect, it } from "vitest";
import {
  type LoadedQueries,
  type LoadOptions,
  queriesFromText,
} from "../../../../../src/shards/load/queries/load-queries.ts";

const json = (entries: unknown, options?: LoadOptions): Promise<LoadedQueries> =>
  queriesFromText(JSON.stringify(entries), "json", options);

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
  shouldRefuse("a number", () => json(5), invalid(/must be a JSON array/));
  shouldRefuse("no JSON", () => queriesFromText("[{", "json"), invalid(/not valid JSON/));
  shouldRefuse("an empty text", () => queriesFromText("", "json"), invalid(/not valid JSON/));
  shouldRefuse(
    "no query that can be used",
    () => json([{ id: "a", sparql: "ASK {\n?s" }, { id: "b" }]),
    invalid(/^None of the 2 queries can be used\. The first, "a": .* \(line 2, column 3\)$/),
  );
  shouldRefuse("more queries than allowed", () => json([{}, {}], { limits: { maxQueries: 1 } }), {
    code: "REQUEST_TOO_LARGE",
    message: /more than 1 queries/,
  });
  shouldRefuse("more bytes than allowed", () => json([{ id: "é" }], { limits: { maxBytes: 12 } }), {
    code: "REQUEST_TOO_LARGE",
    message: /larger than 12 bytes/,
  });
  it("a mark at the beginning is none of the text", async () => {
    expect((await queriesFromText(`\uFEFF[{"sparql":"ASK {}"}]`, "json")).questions).toBe(1);
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
