import type * as RDF from "@rdfjs/types";
import { toFedwayError } from "../../../src/errors/fedway-error.ts";
import { amountText } from "../../../src/figures.ts";
import { documentOf, type EditableCatalog } from "../../../src/registry/catalog.ts";
import type { ShardDataset, FinishedShard } from "../finished-folder.ts";
import { entryIdOf, shardUrl } from "../shard-entry.ts";
import { dataFactory } from "../../../src/rdf/triple-index.ts";
import type { VoidDescription } from "../../../src/registry/descriptions.ts";
import type { Source } from "../materialise/manifest.ts";

type CatalogWrite = Parameters<EditableCatalog["write"]>[0];

/** Parts that registering works with. */
export interface RegisterParts {
  readonly catalog: EditableCatalog;
  readonly publicUrl: string;
  readonly log: { warn(about: object, message: string): void };
}

/**
 * Puts the shards of a dataset and the federation over them into the catalogue. Documents of this very version stay as
 * they are, so that what an operator wrote into them is kept; an id that is taken by something else is left to it. Entries
 * of shards that the dataset had before and has no more go.
 * @returns ids of the endpoints that are new or changed
 */
export async function registerShards(dataset: ShardDataset, parts: RegisterParts): Promise<readonly string[]> {
  const { publicUrl, log } = parts;
  const changed: string[] = [];
  const documents = [
    ...dataset.shards.map((shard) => shardDocument(dataset, shard, publicUrl)),
    // A dataset without triples has no shards.
    ...(dataset.shards.length > 0 ? [federationDocument(dataset)] : []),
  ];
  for (const document of documents) {
    try {
      const isNew = await write(document, dataset, parts);
      if (isNew && document.kind === "endpoint") changed.push(document.id);
    } catch (error) {
      const { code, message } = toFedwayError(error);
      log.warn({ dataset: dataset.dataset, id: document.id, code, reason: message }, "shard not registered");
    }
  }
  await removeShards(prefix(publicUrl, dataset.dataset), urlsOf([dataset], publicUrl), parts);
  return changed;
}

async function write(
  document: CatalogWrite,
  { dataset, version }: ShardDataset,
  parts: RegisterParts,
): Promise<boolean> {
  const { catalog, publicUrl, log } = parts;
  const existing = catalog.document(document.kind, document.id);
  if (existing !== undefined) {
    const theirs = versionOf(existing.quads);
    if (theirs === version) return false;
    const url = catalog.byId(document.id)?.url ?? "";
    const isOurs =
      theirs !== undefined && (document.kind === "federation" || url.startsWith(prefix(publicUrl, dataset)));
    if (!isOurs) {
      log.warn({ dataset, id: document.id }, "shard not registered: the catalogue has another entry with its id");
      return false;
    }
  }
  await catalog.write(document);
  return true;
}

const prefix = (publicUrl: string, dataset: string): string => `${publicUrl}/shards/${dataset}/`;

const urlsOf = (datasets: readonly ShardDataset[], publicUrl: string): ReadonlySet<string> =>
  new Set(datasets.flatMap(({ dataset, shards }) => shards.map(({ id }) => shardUrl(publicUrl, dataset, id))));

/** Takes entries of shards with URLs that begin so out of the catalogue, but for those that are hosted. */
async function removeShards(own: string, hosted: ReadonlySet<string>, { catalog, log }: RegisterParts): Promise<void> {
  for (const { id, url, keywords } of catalog.entries) {
    if (!url.startsWith(own) || !keywords.includes("shard") || hosted.has(url)) continue;
    try {
      await catalog.remove("endpoint", id);
    } catch (error) {
      const { code, message } = toFedwayError(error);
      // Another replica was faster.
      if (code !== "ENDPOINT_UNKNOWN") log.warn({ id, code, reason: message }, "shard not taken out of the catalogue");
    }
  }
}

/** Takes entries of shards out of the catalogue that are not hosted any more, and federations of which nothing is left. */
export async function unregisterLost(datasets: readonly ShardDataset[], parts: RegisterParts): Promise<void> {
  const { catalog, publicUrl } = parts;
  await removeShards(`${publicUrl}/shards/`, urlsOf(datasets, publicUrl), parts);
  const known = new Set(datasets.map(({ dataset }) => dataset));
  for (const federation of catalog.federations) {
    const document = catalog.document("federation", federation.id);
    const isOurs = document?.origin === "api" && versionOf(document.quads) !== undefined;
    if (isOurs && !known.has(federation.id) && catalog.membersOf(federation).length === 0) {
      await catalog.remove("federation", federation.id);
    }
  }
}

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
const versionOf = (quads: readonly RDF.Quad[]): string | undefined =>
  quads.find(({ predicate }) => predicate.value === `${dcterms}hasVersion`)?.object.value;

/** The catalogue's document of one shard. It says what the triples are about, not which rule put them there. */
function shardDocument(dataset: ShardDataset, shard: FinishedShard, publicUrl: string): CatalogWrite {
  const id = entryIdOf(dataset.dataset, shard.id);
  const quads = documentOf("endpoint", {
    id,
    title: shard.topic ?? `${dataset.title} ${shard.id}`,
    description: `${amountText(shard.triples, "triple")} of ${dataset.title}${shard.topic === undefined ? "" : `: ${shard.topic}`}.`,
    url: shardUrl(publicUrl, dataset.dataset, shard.id),
    license: dataset.licence,
    keywords: ["shard", dataset.dataset],
    engine: "oxigraph",
    // Rules for classes place all triples of a subject alike, whichever they are; those for predicates take it apart. With
    // the version, an entry that could not be written anew makes no promise about shards of later ones.
    ...(!shard.key.startsWith("v/") && {
      subjectPartition: `${prefix(publicUrl, dataset.dataset)}#subjects-${dataset.version}`,
    }),
  });
  return {
    kind: "endpoint",
    id,
    mode: "put",
    quads: withMore(quads, dataset),
  };
}

/** The catalogue's document of the federation over all shards of a dataset. */
function federationDocument(dataset: ShardDataset): CatalogWrite {
  const id = dataset.dataset;
  const quads = documentOf("federation", {
    id,
    title: dataset.title,
    description: `All ${dataset.shards.length} shards of ${dataset.title}: ${amountText(dataset.triples, "triple")}.`,
    members: dataset.shards.map((shard) => entryIdOf(id, shard.id)),
  });
  return { kind: "federation", id, mode: "put", quads: withMore(quads, dataset) };
}

/** The description of a shard with what its entry calls it, and what the manifest says of its data and where that comes from. */
export function withOrigin(
  found: VoidDescription,
  { title, description }: { readonly title: string; readonly description?: string | undefined },
  { licence, citation, source, built }: Source & { readonly built?: VoidDescription["built"] },
): VoidDescription {
  const { citation: _, origin: __, built: ___, ...rest } = found;
  return {
    ...rest,
    title,
    ...(description !== undefined && { description }),
    license: licence,
    ...(citation !== undefined && { citation }),
    ...(source !== undefined && { origin: source }),
    ...(built !== undefined && { built }),
  };
}
