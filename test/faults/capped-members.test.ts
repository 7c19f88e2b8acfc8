import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { answerDifference, bindingsAnswer, canonicalRow, canonicalText } from "../support/canonical-answer.ts";
import { endpointTurtle, federationTurtle } from "../support/catalog-folder.ts";
import { startFederation, type Federation } from "../support/federation-harness.ts";
import { type LimitedEndpoint, startLimitedEndpoint } from "../support/limited-endpoint.ts";
import { mergedAnswer } from "../support/merged-federation.ts";

// Members that cut their answers without a word: an answer is whole, or it says that it is not.

/** What is seen of a member with more rows than it gives: the cut, or the whole answer where keys or a count are sent. */
type Seen = "cut" | "whole";
const queries: readonly (readonly [name: string, seen: Seen, query: string])[] = [
  ["alone", "cut", "SELECT * { SERVICE <m> { ?s <x:age> ?v } }"],
  ["SILENT", "cut", "SELECT * { SERVICE SILENT <m> { ?s <x:age> ?v } }"],
  ["COUNT alone", "whole", "SELECT (COUNT(*) AS ?c) { SERVICE <m> { ?s <x:age> ?v } }"],
  ["a join", "whole", "SELECT * { SERVICE <a> { ?s <x:n> ?n } SERVICE <m> { ?s <x:age> ?v } }"],
  ["a join of one key", "cut", "SELECT * { SERVICE <a> { <x:s0> <x:n> ?n } SERVICE <m> { ?n <x:all> ?v } }"],
  ["UNION", "cut", "SELECT * { { SERVICE <a> { ?s <x:n> ?v } } UNION { SERVICE <m> { ?s <x:age> ?v } } }"],
  ["OPTIONAL", "whole", "SELECT * { SERVICE <a> { ?s <x:n> ?n } OPTIONAL { SERVICE <m> { ?s <x:age> ?v } } }"],
  ["OPTIONAL behind it", "cut", "SELECT * { SERVICE <m> { ?s <x:age> ?v } OPTIONAL { SERVICE <a> { ?s <x:n> ?n } } }"],
  ["MINUS", "whole", "SELECT * { SERVICE <a> { ?s <x:n> ?n } MINUS { SERVICE <m> { ?s <x:age> ?v } } }"],
  ["MINUS behind it", "cut", "SELECT * { SERVICE <m> { ?s <x:age> ?v } MINUS { SERVICE <a> { ?s <x:n> ?n } } }"],
  [
    "COUNT of a UNION",
    "whole",
    "SELECT (COUNT(*) AS ?c) { { SERVICE <a> { ?s <x:n> ?v } } UNION { SERVICE <m> { ?s <x:age> ?v } } }",
  ],
  [
    "COUNT here",
    "cut",
    "SELECT (COUNT(*) AS ?c) { SERVICE <m> { ?s <x:age> ?v } OPTIONAL { SERVICE <a> { ?s <x:n> ?n } } }",
  ],
  ["a pattern over the federation", "cut", "SELECT * { ?s <x:age> ?v }"],
  ["a join over the federation", "whole", "SELECT * { ?s <x:n> ?n . ?s <x:age> ?v }"],
  ["OPTIONAL over the federation", "whole", "SELECT * { ?s <x:n> ?n OPTIONAL { ?s <x:age> ?v } }"],
  ["MINUS over the federation", "cut", "SELECT * { ?s <x:age> ?v MINUS { ?s <x:n> ?n } }"],
];

interface Case {
  readonly rowCap: number;
  /** The catalogue tells it. */
  readonly isKnown: boolean;
  /** Rows that the member has beyond its cap. */
  readonly beyond: number;
  /** Names of the queries that it is asked; all of them by default. */
  readonly only?: readonly string[];
}
const cases: readonly Case[] = [
  { rowCap: 1_000, isKnown: false, beyond: -1 },
  { rowCap: 1_000, isKnown: false, beyond: 0 },
  { rowCap: 1_000, isKnown: false, beyond: 300 },
  { rowCap: 1_000, isKnown: true, beyond: -1 },
  { rowCap: 1_000, isKnown: true, beyond: 0 },
  { rowCap: 1_000, isKnown: true, beyond: 300 },
  { rowCap: 777, isKnown: true, beyond: 300, only: ["alone", "UNION", "a join", "a pattern over the federation"] },
  { rowCap: 5_000, isKnown: false, beyond: 300, only: ["a join of one key", "MINUS behind it", "OPTIONAL"] },
  { rowCap: 5_000, isKnown: true, beyond: 300, only: ["alone", "a pattern over the federation"] },
];

const names = Array.from({ length: 2_000 }, (_, n) => `<x:s${2 * n}> <x:n> <x:o> .`).join("\n");
const agesOf = ({ rowCap, beyond }: Case): string =>
  Array.from({ length: rowCap + beyond }, (_, n) => `<x:s${n}> <x:age> "${n}" .\n<x:o> <x:all> "${n}" .`).join("\n");

const endpoints: LimitedEndpoint[] = [];
let federation: Federation;
/** What is learned of an endpoint stays, so that each query has one of its own. */
const idOf = (at: number, query: number): string => `m${at}-${query}`;
const urlOf = (at: number, query: number): string => `${endpoints[at + 1]?.url ?? ""}/${query}`;

beforeAll(async () => {
  const files: Record<string, string> = {};
  endpoints.push(await startLimitedEndpoint({ data: names }));
  for (const [at, { rowCap, isKnown }] of cases.entries()) {
    endpoints.push(await startLimitedEndpoint({ data: agesOf(cases[at] as Case), rowCap }));
    for (const query of queries.keys()) {
      const [id, all] = [idOf(at, query), `all-${idOf(at, query)}`];
      files[`${id}.ttl`] = endpointTurtle(id, urlOf(at, query), ...(isKnown ? [`fedway:rowCap ${rowCap}`] : []));
      files[`${all}.ttl`] = federationTurtle(all, `fedway:member "a", "${id}"`);
    }
  }
  federation = await startFederation({ a: endpoints[0]?.url ?? "" }, {}, files);
});
afterAll(async () => {
  await federation.close();
  await Promise.all(endpoints.map((endpoint) => endpoint.close()));
});

async function ask(at: number, query: number, partial: boolean) {
  const text = queries[query]?.[2] ?? "";
  const id = idOf(at, query);
  const table = await federation.table(
    text.replaceAll("<a>", `<${endpoints[0]?.url}>`).replaceAll("<m>", `<${urlOf(at, query)}>`),
    { partial, timeoutMs: 240_000, ...(!text.includes("SERVICE") && { federationId: `all-${id}` }) },
  );
  const rows = table.rows.map((row) =>
    canonicalRow(row.flatMap((cell, n) => (cell === null ? [] : [[table.columns[n] ?? "", canonicalText(cell)]]))),
  );
  return {
    ...table,
    answer: bindingsAnswer(rows, false),
    source: table.sources.find(({ endpoint }) => endpoint === id),
  };
}

describe.each([...cases.entries()].map(([at, one]) => Object.assign({ at }, one)))(
  "a member with $beyond rows beyond its cap of $rowCap (known: $isKnown)",
  ({ at, ...one }) => {
    const asked = queries.map(([name, seen, text], query) => ({ name, seen, text, query }));
    const told = asked.filter(({ name }) => one.only?.includes(name) ?? true);
    it.each(told)("gives or says what is true: $name", async ({ name, seen, text, query }) => {
      const expected = mergedAnswer([names, agesOf(one)], text.replaceAll(/SERVICE (?:SILENT )?<\w>/gu, ""));
      // As many rows as a known cap may be all there are, which nobody can tell.
      const isCut = seen === "cut" && (one.beyond > 0 || (one.beyond === 0 && one.isKnown));
      const full = await ask(at, query, false);
      if (!isCut) {
        expect([full.status, answerDifference(expected, full.answer)]).toEqual(["ok", undefined]);
        return;
      }
      const partial = await ask(at, query, true);
      if (name === "SILENT") expect(full).toMatchObject({ status: "partial" });
      else expect(full).toMatchObject({ status: "failed", diagnosis: { code: "ENDPOINT_PARTIAL" } });
      expect(partial).toMatchObject({ status: "partial", source: { status: "partial", reason: "row-cap" } });
    });
  },
);
