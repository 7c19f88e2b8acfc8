import { Store } from "oxigraph";
import { describe, expect, it } from "vitest";
import { type StoreAnswer, askStore, rowsOfTerms } from "../../../../shards/src/verify/answer-store.ts";

const subselect = "{ SELECT ?x { ?y <urn:q> ?x } }";
const exists = (body: string): string => `SELECT * { ?a <urn:p> ?b FILTER EXISTS { ${body} FILTER(?b = ?x) } }`;
const query = exists(subselect);
const asked = `\nSELECT DISTINCT ?x\nWHERE { ${subselect} } LIMIT 10001`;

const term = (value: string, more: object = {}): object => ({ type: "literal", value, ...more });
const answerOf = (solutions: readonly object[]): StoreAnswer => ({
  mediaType: "application/sparql-results+json",
  body: Buffer.from(JSON.stringify({ head: { vars: [] }, results: { bindings: solutions } })),
});

/** What a store is asked that answers the first query so. */
async function askedWith(text: string, first: StoreAnswer | Error): Promise<readonly string[]> {
  const texts: string[] = [];
  const store = {
    answer: async (each: string): Promise<StoreAnswer> => {
      texts.push(each);
      if (texts.length > 1 || !(first instanceof Error)) return first instanceof Error ? answerOf([]) : first;
      throw first;
    },
    close: async () => {},
  };
  await askStore(store, text, new AbortController().signal);
  return texts;
}

describe("a store is asked", () => {
  const shouldAsk = (name: string, first: StoreAnswer | Error, ...texts: readonly string[]): void =>
    it(name, async () => expect(await askedWith(query, first)).toEqual(texts));
  const numbers = (count: number): StoreAnswer =>
    answerOf(Array.from({ length: count }, (_, at) => ({ x: term(String(at)) })));

  shouldAsk(
    "for the subselect, then for the query with its solutions",
    answerOf([{ x: term("a") }, {}, { x: { type: "uri", value: "urn:b" } }]),
    asked,
    exists('{ VALUES (?x) { ("a") (UNDEF) (<urn:b>) } }'),
  );
  shouldAsk(
    "for the query as it is when solutions cannot be written",
    answerOf([{ x: { type: "bnode", value: "b" } }]),
    asked,
    query,
  );
  shouldAsk("for the query as it is when there is no solution", answerOf([]), asked, query);
  shouldAsk("for the query as it is when its subselect has no answer", new Error("time"), asked, query);
  shouldAsk("for the query as it is when an answer is none", { ...answerOf([]), body: Buffer.from("{") }, asked, query);
  shouldAsk("for the query as it is when solutions are too many", numbers(10_001), asked, query);

  it("for a query with as many solutions as may be", async () => {
    const texts = await askedWith(query, numbers(10_000));
    expect(texts).toHaveLength(2);
    expect(texts[1]?.match(/\("\d+"\)/gu)).toHaveLength(10_000);
  });

  it("for those subselects that can be replaced", async () => {
    const text = exists(`${subselect} { SELECT ?z { ?z <urn:r> 1 } }`);
    const texts = await askedWith(text, answerOf([{ x: term("a") }]));
    expect(texts.slice(2)).toEqual([text.replace(subselect, '{ VALUES (?x) { ("a") } }')]);
  });

  it.each(["SELECT * { ?a <urn:p> ?b }", "SELECT nothing"])("for nothing else: %s", async (text) => {
    expect(await askedWith(text, answerOf([]))).toEqual([text]);
  });

  it("no more when the caller has given up", async () => {
    const store = {
      answer: (_: string, signal: AbortSignal) => Promise.reject<StoreAnswer>(signal.reason),
      close: async () => {},
    };
    await expect(askStore(store, query, AbortSignal.abort(new Error("enough")))).rejects.toThrow("enough");
  });
});

describe("terms", () => {
  const written = (each: object): string | undefined => rowsOfTerms(["x"], [{ x: each }])?.[0]?.[0];
  const texts = ["", "a", "'\"", "a\\b", "\n\r\t", "}#{", "\u0000\u0007", "漢😀", "\\n"];
  const literals = [
    ...texts.map((text) => term(text)),
    term("a", { "xml:lang": "en-gb" }),
    // As this store writes them, which keeps the values of numbers, not the digits.
    term("1", { datatype: "http://www.w3.org/2001/XMLSchema#integer" }),
    term("0.30000000000000004", { datatype: "http://www.w3.org/2001/XMLSchema#double" }),
    term("x", { datatype: "urn:type#é" }),
  ];
  const iris = ["urn:a", "http://a/b?c=d#e", "http://a/'(é)", "mailto:a@b", "http://a/b//.c"].map((value) => ({
    type: "uri",
    value,
  }));

  it.each([...literals, ...iris])("are the same when a store reads them: %j", (each) => {
    const text = `BASE <http://base/> SELECT * { VALUES ?x { ${written(each)} } }`;
    const answer = new Store().query(text, { results_format: "json" });
    if (typeof answer !== "string") throw new TypeError("The store answers in another form.");
    const plain = { datatype: undefined, ...each };
    expect(JSON.parse(answer)).toMatchObject({ results: { bindings: [{ x: JSON.parse(JSON.stringify(plain)) }] } });
  });

  it.each([
    { type: "bnode", value: "b" },
    { type: "triple", value: { subject: {} } },
    { type: "uri", value: "a/b" },
    { type: "uri", value: "urn:a> <urn:b" },
    { type: "uri", value: "urn:a b" },
    { type: "uri", value: "urn:a\\u0020" },
    { type: "uri", value: "http://a/b/../c" },
    { type: "uri", value: "http://a/." },
    term("\\u0041"),
    term("a\ufffd"),
    term("a", { "xml:lang": "en } #" }),
    term("a", { "xml:lang": "en", "its:dir": "ltr" }),
    term("a", { datatype: "urn:x> } #" }),
    term("a", { datatype: 1 }),
    { type: "literal", value: 1 },
    { type: "other", value: "a" },
    "a",
  ])("that may become others are refused: %j", (each) => {
    expect(rowsOfTerms(["x"], [{ x: each }])).toBeUndefined();
  });

  it("that are too long together are refused", () => {
    const solutions = Array.from({ length: 10 }, () => ({ x: term("a".repeat(99_998)) }));
    expect(rowsOfTerms(["x"], solutions)).toHaveLength(10);
    expect(rowsOfTerms(["x"], [...solutions, { x: term("a") }])).toBeUndefined();
  });

  it("are refused when there is none for a variable", () => {
    expect(rowsOfTerms(["x", "y"], [{ x: term("a") }])).toBeUndefined();
    expect(rowsOfTerms(["x", "toString"], [{ x: term("a") }])).toBeUndefined();
    expect(rowsOfTerms(["x", "y"], [{ x: term("a") }, { y: term("b") }])).toEqual([
      ['"a"', "UNDEF"],
      ["UNDEF", '"b"'],
    ]);
  });
});
