import { afterAll, beforeAll, expect, test } from "vitest";
import { toFedwayError } from "../../src/errors/fedway-error.ts";
import { parseQuery } from "../../src/sparql/query.ts";
import { expectedAnswer, suiteDifference } from "../support/w3c/suite-answer.ts";
import { startSuiteWays, type SuiteWays, type Way } from "../support/w3c/suite-ways.ts";
import { usesNamedGraphs } from "./w3c-deviations.ts";
import { jenaFolder, queryCases, suiteText, type QueryCase } from "../support/w3c/suite.ts";

// Jena's own tests of queries: over two documents, which Fedway evaluates alone, and split over two SPARQL members.
const ways = ["files", "split"] as const;
const outcomes = ["right", "refused", "otherwise ordered", "extension", "unread", "wrong"] as const;
/** Property functions and other meanings that ARQ gives to IRIs, which no other engine knows. */
const extensions = /jena\.(?:hpl\.hp\.com|apache\.org)\/ARQ\/(?:property|list)|<java:|rdfs:member|\bstr:/u;

interface Outcome {
  readonly is: (typeof outcomes)[number];
  readonly words: string;
}

let suite: SuiteWays;
let cases: readonly QueryCase[] = [];

beforeAll(async () => {
  if (jenaFolder === undefined) return;
  cases = queryCases(["jena"]);
  // The way that hosts all data of the cases is not asked.
  suite = await startSuiteWays([]);
});
afterAll(async () => suite?.close());

async function outcomeOf(way: Way, one: QueryCase): Promise<Outcome> {
  const expected = await expectedAnswer(one.result).catch((error: unknown) => String(error));
  if (typeof expected === "string") return { is: "unread", words: expected };
  const text = suiteText(one.query);
  try {
    // The engine of the first way reads queries that no route lets through.
    parseQuery(`BASE <${one.query}>\n${text}`);
    const inOrder = expected.inOrder && /\bORDER\s+BY\b/iu.test(text);
    const found = suiteDifference(expected, await suite.answer(way, one, expected.kind), { inOrder, lax: one.lax });
    if (found === undefined) return { is: "right", words: "" };
    // Rows that tie, and terms between which SPARQL has no order, may come in any.
    if (inOrder && !/^ {2}[-+]/mu.test(found)) return { is: "otherwise ordered", words: found };
    return { is: extensions.test(text) ? "extension" : "wrong", words: found };
  } catch (error) {
    const { code, message, kind } = toFedwayError(error);
    const isRefused = code !== "INTERNAL" && kind.status < 500;
    return { is: isRefused ? "refused" : "unread", words: `${code} ${message}` };
  }
}

test.skipIf(jenaFolder === undefined)("Jena's own tests", { timeout: 3_600_000 }, async () => {
  const table = new Map<string, Record<string, number>>();
  const list: string[] = [];
  for (const one of cases) {
    const name = one.query.split("/").slice(4).join("/");
    for (const way of ways) {
      // Documents have no named graphs.
      if (way === "files" && usesNamedGraphs(one)) continue;
      const { is, words } = await outcomeOf(way, one);
      const key = `${way} ${name.split("/")[0]}`;
      const row = table.get(key) ?? Object.fromEntries(outcomes.map((each) => [each, 0]));
      table.set(key, { ...row, [is]: (row[is] ?? 0) + 1 });
      if (is !== "right") list.push(`${is} ${way} ${name}: ${words.slice(0, 400)}`);
    }
  }
  const sums = ways.map((way) => {
    const rows = [...table].filter(([key]) => key.startsWith(`${way} `)).map(([, row]) => row);
    return `${way}: ${outcomes.map((name) => `${rows.reduce((sum, row) => sum + (row[name] ?? 0), 0)} ${name}`).join(", ")}`;
  });
  const rows = [...table].map(([key, row]) => `${key}: ${outcomes.map((name) => `${row[name]} ${name}`).join(", ")}`);
  console.log([`${cases.length} tests`, ...sums, ...rows, ...list.toSorted()].join("\n"));
  expect(cases.length).toBeGreaterThan(0);
});
