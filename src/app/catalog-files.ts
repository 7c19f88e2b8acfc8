import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Config } from "../config/config.ts";
import { createAddressGuard } from "../outbound/address-guard.ts";
import { FedwayError } from "../errors/fedway-error.ts";
import { packageFile } from "../package-file.ts";
import type { Catalog } from "../registry/catalog/catalog.ts";
import { type CatalogReport, checkCatalog } from "../registry/catalog/check-catalog.ts";
import { refreshPublished } from "../registry/published/refresh-published.ts";

const publishedFacts = fileURLToPath(packageFile("catalog/published/"));
const exampleCatalog = fileURLToPath(packageFile("catalog/examples/"));

/** SHACL shapes of catalogue files. */
export const shapesFile = fileURLToPath(packageFile("catalog/shapes/entry-shapes.ttl"));

/** Where a catalogue's folder has its published facts. */
const publishedFolder = (catalogDir: string): string => join(catalogDir, "published", "/");

/** Where the files of the catalogue lie, and what their relative URLs mean. */
export const catalogSources = ({ catalogDir, examples, publicUrl }: Config) => ({
  dirs: [{ path: catalogDir }, ...(examples ? [{ path: exampleCatalog }] : [])],
  // The operator's win.
  published: [publishedFolder(catalogDir), publishedFacts],
  baseUrl: publicUrl,
});

/**
 * Checks catalogue folders, the configuration's when none is named.
 * @throws FedwayError `CATALOG_INVALID` when a folder cannot be read
 */
export async function checkCatalogFiles(config: Config, folders: readonly string[]): Promise<CatalogReport> {
  const { allowAddresses, catalogDir, publicUrl: baseUrl } = config;
  const guard = createAddressGuard(allowAddresses);
  const dirs = (folders.length === 0 ? [catalogDir] : folders).map((path) => ({ path }));
  return checkCatalog({ dirs, baseUrl, shapesFile, refuseUrl: (url) => guard.refuseUrl(url)?.message });
}

/** Takes a collection of published facts into the catalogue's folder. @throws FedwayError `REQUEST_INVALID` */
export async function refreshCatalogFiles({ catalogDir }: Config, file: string) {
  const folder = publishedFolder(catalogDir);
  return { folder, ...(await refreshPublished(file, folder)) };
}

/** @throws FedwayError `CATALOG_INVALID` when nothing of what is there can be used */
export function refuseEmpty({ entries, problems }: Catalog, { catalogDir }: Config): void {
  if (entries.length > 0 || problems.length === 0) return;
  throw new FedwayError("CATALOG_INVALID", `No file of the catalogue ${catalogDir} can be used.`, {
    next: `Begin with ${problems[0]?.file}: ${problems[0]?.reason}`,
  });
}
