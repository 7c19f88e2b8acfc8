import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { literalInterpretation } from "../../../../shards/src/build-problem.ts";
import { learnCells } from "../../../../shards/src/load/cells.ts";
import { learn } from "../../../../shards/src/load/learn.ts";
import { hashOf } from "../../../../shards/src/rules/placement.ts";
import type { Cell } from "../../../../shards/src/rules/problem.ts";
import { openQueryAnswers } from "../../../../shards/src/rules/query-answers.ts";
import { featuresOf, readQueries } from "../../../../shards/src/rules/query-features.ts";
import type { OpenStore } from "../../../../shards/src/verify/answer-store.ts";
import { FedwayError } from "../../../../src/errors/fedway-error.ts";
import { storeOpener } from "../../../../src/hosting/file-store.ts";
import { newFolder } from "../../../support/scratch-folder.ts";

const type = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
const buckets = 2;
/** Ferries with names and sizes in both buckets; the first one is the largest. */
const ferries = ["anna", "berta", "carl", "dora", "emil", "frida"].map((name) => `urn:f/${name}`);
const data = ferries
  .map(
    (ferry, at) =>
      `<${ferry}> <${type}> <urn:Ferry> .\n<${ferry}> <urn:name> "n${at}" .\n<${ferry}> <urn:size> "${9 - at}" .\n`,
  )
  .join("");

const texts = {
  join: "SELECT ?n ?s { ?f <urn:name> ?n ; <urn:size> ?s }",
  largest: "SELECT ?n { ?f <urn:name> ?n ; <urn:size> ?s } ORDER BY DESC(?s) LIMIT 1",
  names: "SELECT ?n { ?f <urn:name> ?n }",
  any: "SELECT ?n { ?f <urn:name> ?n } LIMIT 2",
  nobody: 'SELECT ?f { ?f <urn:name> "nobody" ; <urn:size> ?s }',
  no: 'ASK { ?f <urn:name> "nobody" ; <urn:size> ?s }',
  counted: 'SELECT (COUNT(*) AS ?c) { ?f <urn:name> "nobody" ; <urn:size> ?s }',
} as const;
type Id = keyof typeof texts;
const ids = Object.keys(texts) as readonly Id[];

const folder = newFolder();

const inThread: OpenStore = storeOpener({
  timeoutMs: 20_000,
  memoryMb: 64,
  maxAnswerBytes: 1_000_000,
});

async function opened(openStore: OpenStore, text = data) {
  const path = join(folder, text === data ? "data.nt" : "data.nq");
  await writeFile(path, text);
  const learned = await learn([{ path }]);
  const read = await readQueries(ids.map((id) => ({ id, text: texts[id], same: [id] })));
  const queries = read.map((query) => featuresOf(query, literalInterpretation));
  const cells = await learnCells({ learned, buckets, patterns: queries.map(({ patterns }) => patterns) });
  const signal = new AbortController().signal;
  const answers = await openQueryAnswers({ learned, buckets, queries, cells }, { openStore, signal, totalMs: 60_000 });
  const wordOf = ({ predicate, bucket }: Cell): string => `${predicate.slice(4)} ${bucket}`;
  const words = (
    of: readonly (readonly number[] | undefined)[] | undefined,
  ): Readonly<Record<string, readonly string[]>> =>
    Object.fromEntries(
      ids.map((id, at) => [id, (of?.[at] ?? []).map((cell) => wordOf(cells.cells[cell]!)).toSorted()]),
    );
  return { answers, cells, words };
}

const both = ["name 0", "name 1", "size 0", "size 1"];

describe("cells that no shard may have alone", () => {
  it("are those without which the answer is another one", async () => {
    const { answers, words } = await opened(inThread);
    const bucket = hashOf(ferries[0]!) % buckets;
    expect(words(await answers?.neededCells())).toEqual({
      join: both,
      largest: [`name ${bucket}`, `size ${bucket}`],
      names: ["name 0", "name 1"],
      any: [],
      nobody: [],
      no: [],
      counted: [],
    });
    await answers?.close();
  });

  it("are all that are touched where no answer is known", async () => {
    const { answers, cells } = await opened(async () => ({
      answer: () => Promise.reject(new FedwayError("ENDPOINT_TIMEOUT", "Too slow.")),
      close: async () => {},
    }));
    expect(await answers?.neededCells()).toEqual(ids.map(() => undefined));
    expect(await answers?.sources(cells.cells.map(() => "base"))).toEqual(ids.map(() => ({})));
  });
});

describe("where answers come from", () => {
  const sourcesBy = async (keyOf: (cell: Cell) => string) => {
    const { answers, cells } = await opened(inThread);
    const sources = await answers?.sources(cells.cells.map(keyOf));
    await answers?.close();
    return Object.fromEntries(ids.map((id, at) => [id, sources?.[at]?.source]));
  };
  const empty = { nobody: "none", no: "none" } as const;

  it("is narrowed to the cells that are enough for an answer", async () => {
    const { answers, cells, words } = await opened(inThread);
    const bucket = hashOf(ferries[0]!) % buckets;
    const sources = (await answers?.sources(cells.cells.map((cell) => `h/${cell.bucket}`))) ?? [];
    const enough = words(await answers?.enoughCells(sources));
    expect({ largest: enough["largest"], join: enough["join"] }).toEqual({
      largest: [`name ${bucket}`, `size ${bucket}`],
      join: [],
    });
    await answers?.close();
  });

  it("is one shard when the largest ferry is whole in its bucket", async () =>
    expect(await sourcesBy(({ bucket }) => `h/${bucket}`)).toEqual({
      join: "several-shards",
      largest: "one-shard",
      names: "several-shards",
      any: "one-shard",
      counted: "one-shard",
      ...empty,
    }));

  it("is several shards when its name and size lie apart", async () =>
    expect(await sourcesBy(({ predicate }) => predicate)).toEqual({
      join: "several-shards",
      largest: "several-shards",
      names: "one-shard",
      any: "one-shard",
      counted: "one-shard",
      ...empty,
    }));
});

it("nothing is asked of data in named graphs, or of a store that cannot be opened", async () => {
  const named = data.replaceAll(" .\n", " <urn:g> .\n");
  expect((await opened(inThread, named)).answers).toBeUndefined();
  const full: OpenStore = () => Promise.reject(new FedwayError("ENDPOINT_FAILED", "No memory."));
  expect((await opened(full)).answers).toBeUndefined();
});
