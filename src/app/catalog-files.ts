import { existsSync, realpathSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { Config } from "../config/config.ts";
import { createAddressGuard } from "../outbound/address-guard.ts";
import { FedwayError } from "../errors/fedway-error.ts";
import { packageFile } from "../package-file.ts";
import { type Catalog, type CatalogReport, checkCatalog, listIds, refreshPublished } from "../registry/catalog.ts";
import { readDocuments } from "../store/sqlite/database.ts";
import { databaseFile } from "./backup-state.ts";

const publishedFacts = fileURLToPath(packageFile("catalog/published/"));
const ownCatalog = fileURLToPath(packageFile("catalog/"));
const exampleCatalog = fileURLToPath(packageFile("catalog/examples/"));

/** SHACL shapes of catalogue files. */
export const shapesFile = fileURLToPath(packageFile("catalog/shapes/entry-shapes.ttl"));

/** Where a folder really lies; as it is written where there is none. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}

/** Files of any other folder are the operator's own; a link to one of Fedway's is none. */
const folderOf = (path: string) => ({
  path,
  isOperators: ![ownCatalog, exampleCatalog].map(realPath).includes(realPath(path)),
});

const catalogFolder = ({ catalogDir }: Pick<Config, "catalogDir">): string =>
  catalogDir ?? (existsSync("./catalog") ? "./catalog" : ownCatalog);

/** Where a catalogue's folder has its published facts. */
const publishedFolder = (catalogDir: string): string => join(catalogDir, "published", "/");

/** Where the files of the catalogue lie, and what their relative URLs mean. */
export const catalogSources = (config: Config) => ({
  dirs: [catalogFolder(config), ...(config.examples ? [exampleCatalog] : [])].map(folderOf),
  // The operator's win.
  published: [publishedFolder(catalogFolder(config)), publishedFacts],
  baseUrl: config.publicUrl,
});

/**
 * Checks catalogue folders, the configuration's when none is named.
 * @throws FedwayError `CATALOG_INVALID` when a folder cannot be read
 */
export async function checkCatalogFiles(config: Config, folders: readonly string[]): Promise<CatalogReport> {
  const dirs = (folders.length === 0 ? [catalogFolder(config)] : folders).map(folderOf);
  return checkCatalog({ dirs, baseUrl: config.publicUrl, shapesFile, refuseUrl: urlRefusals(config) });
}

/** Why requests to a URL would be refused, by who wrote it. @throws FedwayError `CONFIG_INVALID` */
export function urlRefusals({ allowAddresses }: Pick<Config, "allowAddresses">) {
  const [anybodys, operators] = [createAddressGuard(allowAddresses), createAddressGuard(allowAddresses, "operator")];
  return (url: string, isOperators: boolean): string | undefined => {
    const refused = (isOperators ? operators : anybodys).refuseUrl(url);
    return refused && `${refused.message} ${refused.details.next}`;
  };
}

/** Ids of the catalogue: those of its files, and of changes in the data folder's database. @throws FedwayError */
export async function catalogIds(config: Config, signal: AbortSignal) {
  const { dataDir, redisUrl } = config;
  const database = join(dataDir, databaseFile);
  const isThere = redisUrl === undefined && existsSync(database);
  const changes = isThere ? (prefix: string) => readDocuments(database, prefix) : undefined;
  return listIds({ ...catalogSources(config), signal }, changes);
}

/** Takes a collection of published facts into the catalogue's folder. @throws FedwayError `REQUEST_INVALID` */
export async function refreshCatalogFiles(config: Config, file: string) {
  const folder = publishedFolder(catalogFolder(config));
  return { folder, ...(await refreshPublished(file, folder)) };
}

/** @throws FedwayError `CATALOG_INVALID` when nothing of what is there can be used */
export function refuseEmpty({ entries, problems }: Catalog, config: Config): void {
  if (entries.length > 0 || problems.length === 0) return;
  throw new FedwayError("CATALOG_INVALID", `No file of the catalogue ${catalogFolder(config)} can be used.`, {
    next: `Begin with ${problems[0]?.file}: ${problems[0]?.reason}`,
  });
}
