import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { storeOpener } from "../../../src/hosting/file-store.ts";
import { createRandom } from "../../support/random.ts";
import { newFolder } from "../../support/scratch-folder.ts";

const graphs = Array.from({ length: 6 }, (_, at) => `urn:graph:${at}`);
const facts = graphs.flatMap((graph, at) =>
  Array.from({ length: 5 }, (_, row) => {
    const subject = row % 2 === 0 ? `<urn:s:${row}>` : `_:b${row}`;
    return `${subject} <urn:p:${at}> "${row}" <${graph}> .\n${subject} <urn:link> <urn:s:${at}> <${graph}> .\n`;
  }),
);
const select = "SELECT ?s ?v ?o";
const where = "{ ?s ?p ?v ; <urn:link> ?o FILTER(isLiteral(?v)) }";
const signal = new AbortController().signal;

let store: Awaited<ReturnType<ReturnType<typeof storeOpener>>>;
beforeAll(async () => {
  const path = join(newFolder(), "graphs.nq");
  await writeFile(path, facts.join(""));
  const open = storeOpener({
    timeoutMs: 60_000,
    memoryMb: 64,
    maxAnswerBytes: 1_000_000,
  });
  store = await open([{ path }], signal);
});
afterAll(() => store.close());

const rowsOf = (body: Uint8Array): number =>
  (
    JSON.parse(Buffer.from(body).toString()) as {
      results: { bindings: readonly unknown[] };
    }
  ).results.bindings.length;

const rowsFrom = async (some: readonly string[]): Promise<number> =>
  rowsOf((await store.answer(`${select} ${where}`, signal, some)).body);

it("a query over any of a store's graphs has the rows that it has FROM them", async () => {
  const random = createRandom(7);
  for (let round = 0; round < 40; round += 1) {
    const some = graphs.filter(() => random.chance(0.5));
    const from = some.length === 0 ? ["urn:graph:none"] : some;
    const { body } = await store.answer(`${select} ${from.map((iri) => `FROM <${iri}>`).join(" ")} ${where}`, signal);
    expect(await rowsFrom(from)).toBe(rowsOf(body));
  }
  expect(await rowsFrom(graphs)).toBe(180);
});

it("a query that was given up leaves nothing of its graphs", async () => {
  const product = Array.from({ length: 9 }, (_, at) => `?a${at} ?b${at} ?c${at} .`).join(" ");
  const stop = AbortSignal.timeout(200);
  await expect(store.answer(`SELECT (COUNT(*) AS ?n) { ${product} }`, stop, graphs)).rejects.toMatchObject({
    code: "CANCELLED",
  });
  expect(await rowsFrom(graphs.slice(0, 1))).toBe(5);
});
