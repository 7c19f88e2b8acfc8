import { describe, expect, it } from "vitest";
import { engineAnswer, testEngine } from "../../support/engine-answer.ts";

const values = (name: string, count: number): string =>
  `VALUES ?${name} { ${Array.from({ length: count }, (_, n) => n).join(" ")} }`;
/** 10,000 solutions of 300 bytes each. */
const many = `${values("a", 100)} ${values("b", 100)}`;
const small = testEngine({}, 1024 * 1024);

describe("what one evaluation holds is bounded", () => {
  const shouldBeRefused = (name: string, query: string) =>
    it(name, async () => {
      const answer = engineAnswer(query, small);
      await expect(answer).rejects.toMatchObject({ code: "ANSWER_TOO_LARGE" });
      await expect(answer).rejects.toThrow("hold more than 1 MiB");
    });

  shouldBeRefused("by ORDER BY", `SELECT ?a { ${many} } ORDER BY ?b`);
  shouldBeRefused(
    "by the keys of ORDER BY",
    `SELECT ?a { ${values("a", 1_000)} } ORDER BY CONCAT("${"x".repeat(1_000)}", STR(?a))`,
  );
  shouldBeRefused("by GROUP BY", `SELECT (COUNT(*) AS ?n) { ${many} } GROUP BY ?a ?b`);
  shouldBeRefused(
    "by aggregates over distinct values",
    `SELECT (COUNT(DISTINCT CONCAT(STR(?a), "${"x".repeat(100)}", STR(?b))) AS ?n) { ${many} }`,
  );
  shouldBeRefused("by COUNT of distinct rows", `SELECT (COUNT(DISTINCT *) AS ?n) { ${many} }`);
  shouldBeRefused("by GROUP_CONCAT", `SELECT (GROUP_CONCAT("${"x".repeat(1_000)}") AS ?n) { ${many} } GROUP BY ?a`);
  shouldBeRefused("by DISTINCT", `SELECT DISTINCT ?a ?b ("${"x".repeat(100)}" AS ?c) { ${many} }`);
  shouldBeRefused("by CONSTRUCT", `CONSTRUCT { [] <p:p> ?a, ?b } { ${many} }`);
  shouldBeRefused(
    "by a join",
    `SELECT ?a { { SELECT ?a ?b { ${many} } } { SELECT ?b ?c { ${values("b", 100)} ${values("c", 101)} } } }`,
  );
  shouldBeRefused("by OPTIONAL", `SELECT ?a { ${values("a", 2)} OPTIONAL { ${many} } }`);
  shouldBeRefused("by MINUS", `SELECT ?a { ${values("a", 2)} MINUS { ${many} } }`);
});

describe("what is let go counts no more", () => {
  it("rows behind a LIMIT", async () => {
    expect(await engineAnswer(`SELECT ?a { ${many} } ORDER BY DESC(?b) ?a LIMIT 2`, small)).toEqual([
      `"0"^^<http://www.w3.org/2001/XMLSchema#integer>`,
      `"1"^^<http://www.w3.org/2001/XMLSchema#integer>`,
    ]);
  });

  it("one operator after the other", async () => {
    const part = (n: number): string =>
      `{ SELECT DISTINCT ?a ?b { ${values("a", 50)} ${values("b", 50)} } OFFSET ${n} }`;
    const parts = Array.from({ length: 8 }, (_, n) => part(n)).join(" UNION ");
    expect(await engineAnswer(`SELECT (COUNT(*) AS ?n) { ${parts} }`, testEngine({}, 8 * 1024 * 1024))).toHaveLength(1);
  });

  it("groups are few, however many rows they have", async () => {
    const query = `SELECT ?a (COUNT(*) AS ?n) (MAX(?b) AS ?m) { ${many} } GROUP BY ?a`;
    expect(await engineAnswer(query, small)).toHaveLength(100);
  });
});

describe("others have their turn", () => {
  const shouldTakeTurns = (name: string, query: string) =>
    it(name, async () => {
      let turns = 0;
      const timer = setInterval(() => turns++, 1);
      await engineAnswer(query);
      clearInterval(timer);
      expect(turns).toBeGreaterThan(5);
    });

  const more = `${values("a", 200)} ${values("b", 300)}`;
  shouldTakeTurns("while rows are sorted", `SELECT ?a { ${more} } ORDER BY ?b DESC(?a)`);
  shouldTakeTurns("while rows are grouped", `SELECT (SUM(?a) AS ?n) { ${more} } GROUP BY ?b`);
  shouldTakeTurns("while rows are compared", `SELECT DISTINCT ?a { ${more} }`);
  shouldTakeTurns(
    "while nothing matches",
    `SELECT ?a { ${values("a", 500)} OPTIONAL { ${values("b", 300)} FILTER(?a = ?b + 0.5) } }`,
  );
});

describe("the order of terms", () => {
  const ordered = async (terms: string, direction = ""): Promise<string[]> =>
    engineAnswer(`SELECT ?a { VALUES ?a { ${terms} } } ORDER BY ${direction}(?a)`);

  it("is unbound, IRIs, numbers, strings, other literals", async () => {
    const integer = (n: number): string => `"${n}"^^<http://www.w3.org/2001/XMLSchema#integer>`;
    const expected = ["-", "<a:b>", integer(2), integer(10), `"10"`, `"b"`, `"c"@en`];
    expect(await ordered(`"b" 10 <a:b> UNDEF "10" 2 "c"@en`)).toEqual(expected);
    expect(await ordered(`"b" 10 <a:b> UNDEF "10" 2 "c"@en`, "DESC")).toEqual(expected.toReversed());
  });

  it("keeps equal rows in the order they came in", async () => {
    const rows = Array.from({ length: 3_000 }, (_, n) => `(${n % 3} ${n})`).join(" ");
    const answer = await engineAnswer(`SELECT ?b { VALUES (?a ?b) { ${rows} } } ORDER BY ?a`);
    const numbers = answer.map((line) => Number(/\d+/u.exec(line)?.[0]));
    expect(numbers).toEqual([0, 1, 2].flatMap((rest) => Array.from({ length: 1_000 }, (_, n) => 3 * n + rest)));
  });
});
