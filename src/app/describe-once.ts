import type { Config } from "../config/config.ts";
import { createExampleFederation } from "../hosting/example-federation.ts";
import { createAddressGuard } from "../outbound/address-guard.ts";
import {
  type DescribedOnce,
  type DescribeOnceOptions,
  describeTarget,
  findTarget,
} from "../registry/compute/describe-once.ts";
import { openCredentialFile } from "../outbound/credential-file.ts";
import { localDispatch, openClients, openHosting } from "./open-clients.ts";
import { catalogSources } from "./catalog-files.ts";

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
  const { url } = target.endpoint;
  const known = "id" in target.endpoint ? target.endpoint.id : undefined;
  const credentials = config.credentials === undefined ? undefined : await openCredentialFile(config.credentials);
  const clients = openClients(config, local, { credentials, fileUrl: (id) => (id === known ? url : undefined) });
  try {
    if (local(url) !== undefined) return await describeTarget(clients.asker, target, { pauseMs: 0, ...options });
    const refused = createAddressGuard(config.allowAddresses).refuseUrl(url);
    if (refused !== undefined) throw refused;
    return await describeTarget(clients.asker, target, options);
  } finally {
    await Promise.all([clients.close(), pool.close()]);
  }
}
