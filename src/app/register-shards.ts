import type { Logger } from "pino";
import { toFedwayError } from "../errors/fedway-error.ts";
import type { CatalogWrite, EditableCatalog } from "../registry/catalog/catalog.ts";
import type { ShardDataset } from "../shards/shard-folder.ts";
import { federationDocument, shardDocument, shardUrl, versionOf } from "./describe-shards.ts";

/** What registering works with. */
export interface RegisterParts {
  readonly catalog: EditableCatalog;
  readonly publicUrl: string;
  readonly log: Pick<Logger, "warn">;
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
