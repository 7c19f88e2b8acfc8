import { createHash } from "node:crypto";
import type * as RDF from "@rdfjs/types";
import { dataFactory } from "../rdf/data-factory.ts";
import type { CatalogEntry, CatalogWrite } from "../registry/catalog/catalog.ts";
import { documentOf } from "../registry/catalog/document-fields.ts";
import type { VoidDescription } from "../registry/void/void-description.ts";
import type { Source } from "../shards/materialise/manifest.ts";
import type { FinishedShard, ShardDataset } from "../shards/shard-folder.ts";

/** The URL of a shard's endpoint. */
export const shardUrl = (publicUrl: string, dataset: string, shard: string): string =>
  `${publicUrl}/shards/${dataset}/${shard}/sparql`;

const mostIdLength = 64;

/** The catalogue id of a shard; a long one is cut and made unique by a hash. */
export function entryIdOf(dataset: string, shard: string): string {
  const id = `${dataset}-${shard}`;
  if (id.length <= mostIdLength) return id;
  return `${id.slice(0, mostIdLength - 9)}-${createHash("sha256").update(id).digest("hex").slice(0, 8)}`;
}

const numbers = new Intl.NumberFormat("en");
const triplesText = (triples: number): string => `${numbers.format(triples)} ${triples === 1 ? "triple" : "triples"}`;

const dcterms = "http://purl.org/dc/terms/";

/** Statements that the catalogue keeps beside the fields it knows. */
function withMore(quads: readonly RDF.Quad[], dataset: ShardDataset): readonly RDF.Quad[] {
  const [first] = quads;
  if (first === undefined) return quads;
  const say = (property: string, object: RDF.Quad_Object): RDF.Quad =>
    dataFactory.quad(first.subject, dataFactory.namedNode(`${dcterms}${property}`), object);
  const { version, citation, source } = dataset;
  return [
    ...quads,
    say("hasVersion", dataFactory.literal(version)),
    ...(citation === undefined ? [] : [say("bibliographicCitation", dataFactory.literal(citation))]),
    ...(source === undefined ? [] : [say("source", dataFactory.namedNode(source))]),
  ];
}

/** The version of a dataset that a catalogue document was written for. */
export const versionOf = (quads: readonly RDF.Quad[]): string | undefined =>
  quads.find(({ predicate }) => predicate.value === `${dcterms}hasVersion`)?.object.value;

/** The catalogue's document of one shard. It says what the triples are about, not which rule put them there. */
export function shardDocument(dataset: ShardDataset, shard: FinishedShard, publicUrl: string): CatalogWrite {
  const id = entryIdOf(dataset.dataset, shard.id);
  const quads = documentOf("endpoint", {
    id,
    title: shard.topic ?? `${dataset.title} ${shard.id}`,
    description: `${triplesText(shard.triples)} of ${dataset.title}${shard.topic === undefined ? "" : `: ${shard.topic}`}.`,
    url: shardUrl(publicUrl, dataset.dataset, shard.id),
    license: dataset.licence,
    keywords: ["shard", dataset.dataset],
    engine: "oxigraph",
  });
  return { kind: "endpoint", id, mode: "put", quads: withMore(quads, dataset) };
}

/** The catalogue's document of the federation over all shards of a dataset. */
export function federationDocument(dataset: ShardDataset): CatalogWrite {
  const id = dataset.dataset;
  const quads = documentOf("federation", {
    id,
    title: dataset.title,
    description: `All ${dataset.shards.length} shards of ${dataset.title}: ${triplesText(dataset.triples)}.`,
    members: dataset.shards.map((shard) => entryIdOf(id, shard.id)),
  });
  return { kind: "federation", id, mode: "put", quads: withMore(quads, dataset) };
}

/** The description of a shard with what its entry calls it and what the manifest says of where the data comes from. */
export function withOrigin(
  found: VoidDescription,
  { title, description }: Pick<CatalogEntry, "title" | "description">,
  { licence, citation, source }: Source,
): VoidDescription {
  const { citation: _, origin: __, ...rest } = found;
  return {
    ...rest,
    title,
    ...(description !== undefined && { description }),
    license: licence,
    ...(citation !== undefined && { citation }),
    ...(source !== undefined && { origin: source }),
  };
}
