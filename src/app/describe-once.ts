import { fileURLToPath } from "node:url";
import type { Config } from "../config/config.ts";
import { FedwayError } from "../errors/fedway-error.ts";
import { createExampleFederation, type ExampleFederation } from "../hosting/examples/example-federation.ts";
import type { AskedEndpoint, Catalog, CatalogEntry } from "../registry/catalog/catalog.ts";
import { type DescribedOnce, type DescribeOnceOptions, describeTarget } from "../registry/compute/describe-once.ts";
import type { DescribeTarget } from "../registry/compute/describer.ts";
import { loadCatalog } from "../registry/catalog/read-files.ts";
import { createAddressGuard } from "../outbound/address-guard.ts";
import type { LocalDispatch } from "../outbound/sparql-client.ts";
import { openClients, openHosting } from "./open-clients.ts";

type Target = DescribeTarget & { readonly dataset: string };

const exampleCatalog = fileURLToPath(new URL("../../catalog/examples/", import.meta.url));
const idPattern = /^[a-z0-9][a-z0-9._-]{0,63}$/u;

/**
 * Describes one endpoint without a service: looks for its publisher's description, then computes what is missing, with
 * the limits of the configuration. Keeps nothing. When time, requests or the signal end the run, what was found so far
 * is the result.
 * @throws FedwayError `REQUEST_INVALID` for a URL with credentials or an interface that cannot be asked,
 *   `ENDPOINT_UNKNOWN`, `ADDRESS_REFUSED`; when no query was answered, the error of the last one
 */
export async function describeOnce(
  config: Config,
  endpoint: string,
  options: DescribeOnceOptions,
): Promise<DescribedOnce> {
  const target = await findTarget(config, endpoint);
  const hosted = hostedId(config, target.endpoint.url);
  const refused = hosted === undefined ? guardOf(config).refuseUrl(target.endpoint.url) : undefined;
  if (refused !== undefined) throw refused;
  const pool = openHosting(config);
  const examples = hosted === undefined ? undefined : createExampleFederation(pool, config.limits.hostedMemoryMb);
  const clients = openClients(config, localDispatch(config, examples));
  try {
    return await describeTarget(clients.asker, target, hosted === undefined ? options : { pauseMs: 0, ...options });
  } finally {
    await Promise.all([clients.close(), pool.close()]);
  }
}

const guardOf = ({ allowAddresses }: Config) => createAddressGuard(allowAddresses);

/** @throws FedwayError that never repeats what could be a password */
async function findTarget(config: Config, endpoint: string): Promise<Target> {
  const url = URL.parse(endpoint);
  if (url !== null && (url.username !== "" || url.password !== "")) {
    throw new FedwayError("REQUEST_INVALID", "The URL holds a user name or a password; such endpoints are not asked.");
  }
  if (url !== null && /^https?:$/.test(url.protocol)) {
    const catalog = await readCatalog(config).catch(() => undefined);
    return targetOf(config, endpoint.split("#", 1)[0] ?? endpoint, catalog?.byUrl(endpoint));
  }
  if (!idPattern.test(endpoint)) {
    throw new FedwayError("REQUEST_INVALID", "This is neither an http(s) URL nor the id of a catalogue entry.", {
      next: "Give a URL such as https://example.org/sparql, or an id such as people.",
    });
  }
  const catalog = await readCatalog(config);
  const entry = catalog.byId(endpoint);
  if (entry === undefined) throw unknownId(endpoint, catalog);
  return targetOf(config, entry.url, entry);
}

const readCatalog = ({ catalogDir, examples, publicUrl }: Config): Promise<Catalog> =>
  loadCatalog({ dirs: [{ path: catalogDir }, ...(examples ? [{ path: exampleCatalog }] : [])], baseUrl: publicUrl });

function unknownId(id: string, { entries }: Catalog): FedwayError {
  return new FedwayError("ENDPOINT_UNKNOWN", `The files of the catalogue have no endpoint "${id}".`, {
    endpoints: entries.slice(0, 20).map((entry) => entry.id),
    next: "Give its URL; entries that were added to a running service are known to that service only.",
  });
}

function targetOf({ publicUrl }: Config, url: string, entry: CatalogEntry | undefined): Target {
  if (entry === undefined) return { endpoint: { url }, dataset: `${url}#dataset` };
  const { id, method, engine, rowCap } = entry;
  if (entry.interface !== "sparql") {
    const what = `"${id}" has the interface ${entry.interface}; it cannot be asked for a description.`;
    throw new FedwayError("REQUEST_INVALID", what);
  }
  const endpoint: AskedEndpoint = { id, url: entry.url, ...(method !== undefined && { method }) };
  return {
    endpoint,
    dataset: `${publicUrl}/endpoints/${id}#dataset`,
    ...(engine !== undefined && { engine }),
    ...(rowCap !== undefined && { rowCap }),
  };
}

/** The example that this service would host under a URL. */
function hostedId({ examples, publicUrl }: Config, url: string): string | undefined {
  const prefix = `${publicUrl}/hosted/`;
  if (!examples || !url.startsWith(prefix) || !url.endsWith("/sparql")) return undefined;
  return url.slice(prefix.length, -"/sparql".length);
}

const localDispatch =
  (config: Config, examples: ExampleFederation | undefined): LocalDispatch =>
  (url) => {
    const endpoint = examples?.get(hostedId(config, url) ?? "");
    return endpoint && ((query) => endpoint.query(query));
  };
