import { Store } from "oxigraph";
import { expect, it } from "vitest";
import { rowsOf, type StoreAnswer, type AnswerStore, askStore } from "../../../../shards/src/verify/answer-store.ts";
import { parseQuery } from "../../../../src/sparql/query.ts";
import { randomExistsQuery, randomFrom, randomQuads } from "./exists-queries.ts";

const cases = Number(process.env["KNOWN_SUBSELECT_CASES"] ?? 120);
const firstSeed = 20_260;
const signal = new AbortController().signal;

interface AskedStore extends AnswerStore {
  readonly asked: string[];
}

function storeOf(quads: string): AskedStore {
  const store = new Store();
  store.load(quads, { format: "application/n-quads" });
  const asked: string[] = [];
  const answer = async (query: string): Promise<StoreAnswer> => {
    asked.push(query);
    const isGraph = parseQuery(query).kind === "quads";
    const mediaType = isGraph ? "application/n-triples" : "application/sparql-results+json";
    const body = store.query(query, { results_format: isGraph ? "application/n-triples" : "json" });
    if (typeof body !== "string") throw new TypeError("The store answers in another form.");
    return { mediaType, body: Buffer.from(body) };
  };
  return { asked, answer, close: async () => {} };
}

const isEmpty = (rows: readonly string[]): boolean => rows.length === 0 || rows[0] === "false";

it("queries whose subselects in EXISTS are asked first have the answers that they have as they are", async () => {
  const tally = { replaced: 0, filled: 0, exists: 0, notExists: 0 };
  for (let seed = firstSeed; seed < firstSeed + cases; seed++) {
    const random = randomFrom(seed);
    const store = storeOf(randomQuads(random));
    const query = randomExistsQuery(random);
    const expected = rowsOf(await store.answer(query, signal));
    store.asked.length = 0;
    const found = rowsOf(await askStore(store, query, signal));
    const last = store.asked.at(-1) ?? "";
    expect(found, `seed ${seed}: ${query}\n${last}`).toStrictEqual(expected);
    if (last !== query) {
      tally.replaced += 1;
      tally[query.includes("NOT EXISTS") ? "notExists" : "exists"] += 1;
      if (!isEmpty(expected)) tally.filled += 1;
    }
  }
  console.info(`known subselects: ${JSON.stringify(tally)} of ${cases}, seeds from ${firstSeed}`);
  expect(tally.replaced / cases).toBeGreaterThan(0.45);
  expect(tally.filled / tally.replaced).toBeGreaterThan(0.6);
  expect(Math.min(tally.exists, tally.notExists)).toBeGreaterThan(cases / 8);
});
