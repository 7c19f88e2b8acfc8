import { describe, expect, it } from "vitest";
import { engineAnswer } from "../../support/engine-answer.ts";

const shouldGive = (query: string, expected: readonly string[]) =>
  it(query, async () => expect((await engineAnswer(query)).toSorted()).toEqual(expected.toSorted()));

describe("CONSTRUCT leaves out what is no triple", () => {
  const data = `VALUES (?s ?o) { (<x:a> 1) ("text" <x:b>) (UNDEF 2) }`;
  shouldGive(`CONSTRUCT { ?s <x:p> <x:o> } { ${data} }`, ["<x:a> <x:p> <x:o>"]);
  shouldGive(`CONSTRUCT { <x:s> ?o <x:o> } { ${data} }`, ["<x:s> <x:b> <x:o>"]);
  shouldGive(`CONSTRUCT { <x:s> <x:p> ?s } { ${data} }`, ["<x:s> <x:p> <x:a>", '<x:s> <x:p> "text"']);
  shouldGive(`CONSTRUCT { <x:s> ?b <x:o> . ?b <x:p> <x:o> } { BIND(BNODE() AS ?b) FILTER(false) }`, []);
  it("such as one whose predicate is a blank node", async () => {
    const lines = await engineAnswer(`CONSTRUCT { <x:s> ?b <x:o> . ?b <x:p> ?b } { BIND(BNODE() AS ?b) }`);
    expect(lines).toEqual([expect.stringMatching(/^(_:\S+) <x:p> \1$/)]);
  });
  shouldGive(`CONSTRUCT { 1 <x:p> <x:o> . <x:s> <x:p> true } {}`, [
    '<x:s> <x:p> "true"^^<http://www.w3.org/2001/XMLSchema#boolean>',
  ]);
  shouldGive(`CONSTRUCT { ?s <x:p> ?s } { VALUES ?s { <x:a> <x:a> } }`, ["<x:a> <x:p> <x:a>"]);
});

describe("blank nodes of a template", () => {
  it("are other ones for each solution, whatever they are called", async () => {
    const rows = Array.from({ length: 12 }, (_, n) => n).join(" ");
    const lines = await engineAnswer(
      `CONSTRUCT { _:b <x:p> ?n . _:b1 <x:q> ?n . [] <x:r> ?n } { VALUES ?n { ${rows} } }`,
    );
    expect(new Set(lines.map((line) => line.split(" ")[0])).size).toBe(36);
  });
  it("are one within a solution", async () => {
    const lines = await engineAnswer(`CONSTRUCT { _:b <x:p> [ <x:q> _:b ] } { VALUES ?n { 1 2 } }`);
    expect(new Set(lines.flatMap((line) => line.match(/_:\S+/gu) ?? [])).size).toBe(4);
  });
  shouldGive(`CONSTRUCT { ?s <x:p> <x:o> } { VALUES ?s { <x:a> <x:b> } } ORDER BY ?s LIMIT 1`, ["<x:a> <x:p> <x:o>"]);
});

describe.each(["REDUCED", "DISTINCT"])("%s keeps terms apart", (word) => {
  const shouldKeep = (name: string, values: string, rows: number) =>
    it(name, async () => {
      const variables = values.startsWith("((") ? "(?a ?b)" : "?a";
      const data = values.startsWith("((") ? values.slice(1, -1) : values;
      const names = variables.replaceAll(/[()]/gu, "");
      expect(await engineAnswer(`SELECT ${word} ${names} { VALUES ${variables} { ${data} } }`)).toHaveLength(rows);
    });
  shouldKeep("of one text", `"x:y" "x:y"@en "x:y"@de "x:y"^^<x:y> <x:y>`, 5);
  shouldKeep("of one value", `1 1.0 1e0 "1" "01"^^<http://www.w3.org/2001/XMLSchema#integer>`, 5);
  shouldKeep("whose columns join to one text", `(("a" "bc") ("ab" "c") ("a-b" "c") ("a" "b-c"))`, 4);
  shouldKeep("one of which is unbound", `((UNDEF "UNDEF") ("UNDEF" UNDEF) ("UNDEF" "UNDEF") (UNDEF UNDEF))`, 4);
  shouldKeep("whose 32-bit hashes are equal (MurmurHash3)", `"v40595" "v114311" "v65759" "v230030"`, 4);
});

describe("nodes of BNODE()", () => {
  const shouldCount = (name: string, pattern: string, expected: number) =>
    it(name, async () => {
      const [row] = await engineAnswer(`SELECT (COUNT(DISTINCT ?b) AS ?n) { ${pattern} }`);
      expect(row).toContain(`"${expected}"`);
    });
  const eleven = `VALUES ?v { "x1" "a" "a" "a" "a" "a" "a" "a" "a" "a" "x" }`;
  shouldCount("are other ones for each solution", `${eleven} BIND(BNODE("x") AS ?b)`, 11);
  shouldCount("are other ones without a string", `${eleven} BIND(BNODE() AS ?b)`, 11);
  shouldCount("are other ones whatever their labels", `{ SELECT (BNODE(?v) AS ?b) { ${eleven} } }`, 11);
  shouldCount(
    "are other ones in two subselects",
    `{ SELECT (BNODE("x") AS ?b) {} } { SELECT (BNODE("x") AS ?b) {} }`,
    0,
  );
  shouldCount("are one within a solution", `BIND(BNODE("x") AS ?b) BIND(BNODE("x") AS ?c) FILTER(?b = ?c)`, 1);
  shouldCount("have strings as labels", `VALUES ?v { 1 "x"@en <x:y> UNDEF } BIND(BNODE(?v) AS ?b)`, 0);
  it("are one in all columns of a row, and no column of their own", async () => {
    const rows = await engineAnswer(`SELECT * { VALUES ?v { "x" } BIND(BNODE(?v) AS ?b) BIND(BNODE("x") AS ?c) }`);
    expect(rows).toEqual([expect.stringMatching(/^(_:\S+) \1 "x"$/u)]);
  });
});
