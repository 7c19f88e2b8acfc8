import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { storeOpener } from "../../../../src/hosting/file-store.ts";
import type { CatalogEntry } from "../../../../src/registry/catalog/catalog.ts";
import type { PropertyPartition, VoidDescription } from "../../../../src/registry/void/void-description.ts";
import { runBuild } from "../../../../src/shards/service/commands.ts";
import { readShardSpec } from "../../../../src/shards/spec.ts";
import { locateSpec } from "../../../../src/shards/spec-paths.ts";
import { parseQuery } from "../../../../src/sparql/parse-query.ts";
import { usedTerms } from "../../../../src/sparql/used-terms.ts";
import type { Triple } from "../../../support/described-data.ts";
import { truthfulDescription } from "../../../support/truthful-description.ts";
import { truthOf } from "../../../support/void-truth.ts";

/** Not part of the project: its licence is share-alike. */
const source = new URL("../../../../../shared/fkgqa/", import.meta.url);
export const isMissing = !existsSync(source);

/** An endpoint as a search meets it. */
export interface Described {
  readonly dataset: string;
  readonly entry: CatalogEntry;
  readonly description?: VoidDescription | undefined;
}

/** A published question, and the classes and properties of the published query as keys of the search index. */
export interface Question {
  readonly id: string;
  readonly dataset: string;
  readonly question: string;
  readonly terms: readonly Gold[];
}

/** A class or property of a published query. */
export interface Gold {
  readonly kind: "class" | "property";
  readonly iri: string;
}

/** All 595 questions in their order. */
export function questions(): readonly Question[] {
  const stored = JSON.parse(readFileSync(new URL("queries.json", source), "utf8")) as readonly {
    readonly id: string;
    readonly dataset: string;
    readonly question: string;
    readonly sparql: string;
  }[];
  return stored.map(({ id, dataset, question, sparql }) => {
    // The syntax tree keeps the backslashes of `singer\#name`.
    const used = usedTerms(parseQuery(sparql)).flatMap(({ terms }) => terms);
    const terms = used.map(({ kind, iri }): Gold => ({ kind, iri: iri.replaceAll("\\", "") }));
    return { id, dataset, question, terms };
  });
}

const line = /^(\S+) (\S+) (.+) \.$/u;

/** What a complete description of a file of N-Triples says. */
function describedFiles(paths: readonly string[], endpoint: string): VoidDescription {
  const lines = paths.flatMap((path) => readFileSync(path, "utf8").split("\n"));
  const triples = lines.flatMap((each): Triple[] => {
    const [, subject, predicate, object] = line.exec(each) ?? [];
    return subject === undefined || predicate === undefined || object === undefined
      ? []
      : [[subject, predicate, object]];
  });
  if (triples.length === 0) throw new Error(`no triples in ${paths.join(", ")}`);
  const description = truthfulDescription(truthOf(triples));
  return {
    ...description,
    endpoint,
    classPartitions: description.classPartitions
      .map((partition) => ({ ...partition, properties: sorted(partition.properties) }))
      .toSorted((left, right) => (right.entities?.value ?? 0) - (left.entities?.value ?? 0)),
    propertyPartitions: sorted(description.propertyPartitions),
  };
}

const sorted = (properties: readonly PropertyPartition[]): readonly PropertyPartition[] =>
  properties.toSorted((left, right) => (right.triples?.value ?? 0) - (left.triples?.value ?? 0));

const entryOf = (id: string, texts: Pick<CatalogEntry, "title" | "description" | "keywords">): CatalogEntry => ({
  id,
  url: `http://127.0.0.1/${id}/sparql`,
  interface: "sparql",
  notes: [],
  blocksService: false,
  needsUserAgent: false,
  pseudoServices: [],
  rawQueries: false,
  ...texts,
});

const datasets = readdirIfThere("data").map((file) => file.replace(/\.nt$/u, ""));

function readdirIfThere(folder: string): readonly string[] {
  return isMissing ? [] : readdirSync(new URL(folder, source)).toSorted();
}

/** The nine datasets, each an endpoint whose entry says no more than its name, or nothing at all. */
export function nineEndpoints(named: boolean): readonly Described[] {
  return datasets.map((dataset, number) => {
    const entry = named
      ? entryOf(dataset.replaceAll("_", "-"), { title: dataset, keywords: [] })
      : entryOf(`e${number}`, { title: `E${number}`, keywords: [] });
    const path = fileURLToPath(new URL(`data/${dataset}.nt`, source));
    return { dataset, entry, description: describedFiles([path], entry.url) };
  });
}

interface Manifest {
  readonly title: string;
  readonly shards: readonly {
    readonly id: string;
    readonly topic?: string;
    readonly file: string;
    readonly triples: number;
  }[];
}

/** The shards of all nine in balanced mode, with the entries that the catalogue gets of them. */
export async function shardEndpoints(folder: string): Promise<readonly Described[]> {
  const all: Described[] = [];
  for (const dataset of datasets) all.push(...(await shardsOf(dataset, join(folder, dataset))));
  return all;
}

async function shardsOf(dataset: string, folder: string): Promise<readonly Described[]> {
  if (!existsSync(join(folder, "manifest.json"))) await build(dataset, folder);
  const manifest = JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8")) as Manifest;
  return manifest.shards.map(({ id, topic, file, triples }) => {
    // The texts of `src/shards/service/register.ts`.
    const about = topic === undefined ? "" : `: ${topic}`;
    const entry = entryOf(`${dataset}-${id}`, {
      title: topic ?? `${manifest.title} ${id}`,
      description: `${triples} triples of ${manifest.title}${about}.`,
      keywords: ["shard", dataset],
    });
    return { dataset, entry, description: describedFiles([join(folder, file)], entry.url) };
  });
}

async function build(dataset: string, output: string): Promise<void> {
  const folder = fileURLToPath(source);
  const spec = readShardSpec({
    dataset,
    inputs: [`data/${dataset}.nt`],
    queries: "queries.json",
    only: { dataset },
    mode: "balanced",
    licence: "https://creativecommons.org/licenses/by-sa/4.0/",
  });
  const located = await locateSpec(spec, { baseDir: folder, readable: [folder], writable: [], output });
  await runBuild(located, {
    openStores: storeOpener,
    dryRun: false,
    signal: new AbortController().signal,
    onProgress: () => {},
  });
}
