import { describe, expect, it } from "vitest";
import { engineAnswer } from "../../support/engine-answer.ts";
import { processorMsOf } from "../../support/held-loop.ts";

const ten = (name: string): string => `CONCAT(${Array.from({ length: 10 }, () => name).join(", ")})`;
/** A text that grows tenfold with each BIND: 100,000 characters in ?c5, then more than a mebibyte. */
const grown = `BIND("x" AS ?c0) ${[1, 2, 3, 4, 5].map((n) => `BIND(${ten(`?c${n - 1}`)} AS ?c${n})`).join(" ")}`;
const six = `${grown} BIND(${ten("?c5")} AS ?c6) BIND(${ten("?c6")} AS ?c7)`;
const lengthOf = (expression: string, where = grown): string => `SELECT (STRLEN(${expression}) AS ?n) { ${where} }`;
const integer = (value: number): string => `"${value}"^^<http://www.w3.org/2001/XMLSchema#integer>`;

const shouldBeUnbound = (name: string, query: string) =>
  it(name, async () => {
    expect(await engineAnswer(query)).toEqual(["-"]);
  });

describe("a text over a mebibyte is an error of the expression that computes it", () => {
  it("and below it is computed", async () => {
    expect(await engineAnswer(lengthOf("?c5"))).toEqual([integer(100_000)]);
    expect(await engineAnswer(lengthOf("?c6", six))).toEqual([integer(1_000_000)]);
  });

  shouldBeUnbound("by CONCAT", lengthOf("?c7", six));
  shouldBeUnbound("inside another function", lengthOf(`UCASE(${ten("?c6")})`, six));
  shouldBeUnbound(
    "by CONCAT of thousands of arguments",
    lengthOf(`CONCAT(${Array.from({ length: 2_800 }, () => "?c6").join(",")})`, six),
  );
  shouldBeUnbound("by ENCODE_FOR_URI", lengthOf(`ENCODE_FOR_URI(${ten(`REPLACE(?c5, "x", "é")`)})`));
  shouldBeUnbound("by REPLACE", lengthOf(`REPLACE(?c5, "x", "${"y".repeat(1_000)}")`));
  shouldBeUnbound("by REPLACE with many references", lengthOf(`REPLACE(?c5, "x+", "${"$0".repeat(1_000)}")`));
  shouldBeUnbound("by GROUP_CONCAT", `SELECT (STRLEN(GROUP_CONCAT(?c6)) AS ?n) { ${six} VALUES ?a { 1 2 3 } }`);

  it("also where it is handed on", async () => {
    const query = `SELECT (COALESCE(SHA512(?c7), "too long") AS ?n) { ${six} VALUES ?a { 1 2 } }`;
    expect(await engineAnswer(query)).toEqual([`"too long"`, `"too long"`]);
  });
});

describe("regular expressions", () => {
  const matching = (pattern: string): string => `SELECT (REGEX("aaaa", ${pattern}) AS ?n) {}`;
  const repeated = (text: string, count: number): string => JSON.stringify(text.repeat(count));

  it("of 4,096 characters are taken", async () => {
    expect(await engineAnswer(matching(repeated("a?", 2_048)))).toHaveLength(1);
    expect(await engineAnswer(matching(repeated("a?", 2_048)))).not.toEqual(["-"]);
  });

  // An error of the expression would leave rows out without a word.
  const shouldEndTheQuery = (name: string, query: string, message: RegExp): void =>
    it(name, async () => {
      const code = "EVALUATION_TOO_LARGE";
      await expect(engineAnswer(query)).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
    });

  shouldEndTheQuery(
    "of more end the query",
    matching(repeated("a", 300_000)),
    /"a{100}" has more than 4096 characters/u,
  );
  shouldEndTheQuery("that repeat too much end the query", matching(repeated("a{1000}", 100)), /repeats too much/u);
  shouldEndTheQuery(
    "that are large end the query over a long text",
    `SELECT (REGEX(?c6, ${repeated("a?", 1_000)}) AS ?n) { ${six} }`,
    /too large for a text of 1000000 characters/u,
  );

  it("replace what they find", async () => {
    const query = `SELECT (REPLACE("banana", "(a)(n)?", "[$1$2\\\\$$3]") AS ?n) {}`;
    expect(await engineAnswer(query)).toEqual([`"b[an$][an$][a$]"`]);
    expect(await engineAnswer(`SELECT (REPLACE("a.b", ".", "$0", "q") AS ?n) {}`)).toEqual([`"a$0b"`]);
  });

  it("end in time when every search looks at the whole text", async () => {
    const text = `REPLACE(?c5, "xx", "ab")`;
    const query = `SELECT (REPLACE(${text}, "(a|b)*c|a", "") AS ?n) { ${grown} }`;
    const ms = await processorMsOf(async () =>
      expect(engineAnswer(query)).rejects.toThrow("takes too long in REPLACE"),
    );
    expect(ms).toBeLessThan(20_000);
  });
});
