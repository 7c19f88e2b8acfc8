import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { PropertyPartition } from "../../../../src/registry/descriptions/void-description.ts";
import { parseQuery } from "../../../../src/sparql/query.ts";
import { catalogEntry } from "../../../support/catalog-entry.ts";
import { publishedData, publishedQuestions, triplesOf } from "../../../support/published-questions.ts";
import { buildPublishedShards, publishedDatasets } from "../../../support/published-shards.ts";
import { truthfulDescription } from "../../../support/truthful-description.ts";
import { truthOf } from "../../../support/void-truth.ts";
import type { CatalogEntry } from "../../../../src/registry/catalog.ts";
import type { VoidDescription } from "../../../../src/registry/descriptions.ts";

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
interface Gold {
  readonly kind: "class" | "property";
  readonly iri: string;
}

/** All 595 questions in their order. */
export function questions(): readonly Question[] {
  return publishedQuestions().map(({ id, dataset, question, sparql }) => {
    // The syntax tree keeps the backslashes of `singer\#name`.
    const used = parseQuery(sparql).usedTerms.flatMap(({ terms }) => terms);
    const terms = used.map(({ kind, iri }): Gold => ({ kind, iri: iri.replaceAll("\\", "") }));
    return { id, dataset, question, terms };
  });
}

/** What a complete description of N-Triples says. */
function describedText(text: string, endpoint: string): VoidDescription {
  const triples = [...triplesOf(text)];
  if (triples.length === 0) throw new Error(`no triples for ${endpoint}`);
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

/** The nine datasets, each an endpoint whose entry says nothing, so that only its schema counts. */
export const nineEndpoints = (): readonly Described[] =>
  publishedDatasets.map((dataset, number) => {
    const entry = catalogEntry(`e${number}`);
    return { dataset, entry, description: describedText(publishedData(dataset), entry.url) };
  });

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
  for (const dataset of publishedDatasets) all.push(...(await shardsOf(dataset, join(folder, dataset))));
  return all;
}

async function shardsOf(dataset: string, folder: string): Promise<readonly Described[]> {
  if (!existsSync(join(folder, "manifest.json")))
    await buildPublishedShards(dataset, { mode: "balanced", output: folder });
  const manifest = JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8")) as Manifest;
  return manifest.shards.map(({ id, topic, file, triples }) => {
    // The texts of `shards/src/service/register.ts`.
    const about = topic === undefined ? "" : `: ${topic}`;
    const entry = catalogEntry(`${dataset}-${id}`, {
      title: topic ?? `${manifest.title} ${id}`,
      description: `${triples} triples of ${manifest.title}${about}.`,
      keywords: ["shard", dataset],
    });
    return { dataset, entry, description: describedText(readFileSync(join(folder, file), "utf8"), entry.url) };
  });
}
