import type { Config } from "../config/config.ts";
import { createExampleFederation } from "../hosting/examples/example-federation.ts";
import { createAddressGuard } from "../outbound/address-guard.ts";
import { type CatalogReport, checkCatalog } from "../registry/catalog/check-catalog.ts";
import { type DescribedOnce, type DescribeOnceOptions, describeTarget } from "../registry/compute/describe-once.ts";
import { findTarget } from "../registry/compute/find-target.ts";
import { localDispatch, openClients, openHosting } from "./open-clients.ts";
import { catalogSources, shapesFile } from "./open-registry.ts";

/**
 * Describes one endpoint without a service: looks for its publisher's description, then computes what is missing, with
 * the limits of the configuration. Keeps nothing. When time, requests or the signal end the run, what was found so far
 * is the result.
 * @throws FedwayError what `findTarget` throws, `ADDRESS_REFUSED`; when no query was answered, the error of the last one
 */
export async function describeOnce(
  config: Config,
  endpoint: string,
  options: DescribeOnceOptions,
): Promise<DescribedOnce> {
  const target = await findTarget(endpoint, catalogSources(config));
  const pool = openHosting(config);
  const examples = config.examples ? createExampleFederation(pool, config.limits.hostedMemoryMb) : undefined;
  const local = localDispatch(config, examples);
  const clients = openClients(config, local);
  try {
    const { url } = target.endpoint;
    if (local(url) !== undefined) return await describeTarget(clients.asker, target, { pauseMs: 0, ...options });
    const refused = createAddressGuard(config.allowAddresses).refuseUrl(url);
    if (refused !== undefined) throw refused;
    return await describeTarget(clients.asker, target, options);
  } finally {
    await Promise.all([clients.close(), pool.close()]);
  }
}

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
