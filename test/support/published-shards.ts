import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { storeOpener } from "../../src/hosting/file-store.ts";
import { runBuild } from "../../shards/src/service/commands.ts";
import { type ShardMode, readShardSpec } from "../../shards/src/spec.ts";
import { locateSpec } from "../../shards/src/spec-paths.ts";
import { newFolder } from "./scratch-folder.ts";

/** Not part of the project: its licence is share-alike. */
const folder = fileURLToPath(new URL("../../../shared/fkgqa/", import.meta.url));

/** Whether the nine datasets of the published questions are beside the project. */
export const hasPublishedData = existsSync(folder);

/** The path of one of its files. */
export const publishedFile = (name: string): string => join(folder, name);

interface PublishedQuestion {
  readonly id: string;
  readonly dataset: string;
  readonly question: string;
  readonly sparql: string;
}

const publishedQuestions = (): readonly PublishedQuestion[] =>
  JSON.parse(readFileSync(publishedFile("queries.json"), "utf8"));

/** The different queries of a dataset with their questions by id. */
export function publishedQueries(dataset: string) {
  const own = publishedQuestions().filter((each) => each.dataset === dataset);
  return [...Map.groupBy(own, ({ sparql }) => sparql)].map(([sparql, asked]) => ({
    sparql,
    questions: Object.fromEntries(asked.map(({ id, question }) => [id, question])),
  }));
}

/** Their names. */
export const publishedDatasets: readonly string[] =
  "battle_death car_1 concert_singer dog_kennels flight_2 network_1 pets_1 tvshow world_1".split(" ");

/** Where and how the shards of a dataset are built. */
interface PublishedBuild {
  readonly mode: ShardMode;
  /** Folder of the shards. */
  readonly output: string;
  /** Ids of the questions; absent: all of the dataset. */
  readonly questions?: ReadonlySet<string>;
  /** For the answers of its queries, in milliseconds. */
  readonly answersMs?: number;
  readonly signal?: AbortSignal;
}

/** Builds the shards of one of the nine datasets over its published queries. */
export async function buildPublishedShards(dataset: string, build: PublishedBuild) {
  const { mode, output, questions, answersMs, signal = new AbortController().signal } = build;
  const own = newFolder();
  const queries = questions === undefined ? publishedFile("queries.json") : join(own, "queries.json");
  if (questions !== undefined)
    writeFileSync(queries, JSON.stringify(publishedQuestions().filter(({ id }) => questions.has(id))));
  const spec = readShardSpec({
    dataset,
    inputs: [`data/${dataset}.nt`],
    queries,
    only: { dataset },
    mode,
    licence: "https://creativecommons.org/licenses/by-sa/4.0/",
  });
  const located = await locateSpec(spec, { baseDir: folder, readable: [folder, own], writable: [], output });
  return runBuild(located, {
    openStores: storeOpener,
    dryRun: false,
    signal,
    onProgress: () => {},
    ...(answersMs !== undefined && { answersMs }),
  });
}
