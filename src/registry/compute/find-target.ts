import { FedwayError } from "../../errors/fedway-error.ts";
import type { CatalogEntry } from "../catalog/catalog.ts";
import { loadCatalog, type LoadCatalogOptions } from "../catalog/read-files.ts";
import type { DescribeTarget } from "./describer.ts";

const idPattern = /^[a-z0-9][a-z0-9._-]{0,63}$/u;

/**
 * The endpoint that a person names by its URL, or by the id it has in the catalogue's files.
 * @throws FedwayError `REQUEST_INVALID` for a URL with credentials (never repeated) or an interface that cannot be asked,
 *   `ENDPOINT_UNKNOWN`, `CATALOG_INVALID`
 */
export async function findTarget(named: string, options: LoadCatalogOptions) {
  const url = URL.parse(named);
  if (url !== null && (url.username !== "" || url.password !== "")) {
    throw new FedwayError("REQUEST_INVALID", "The URL holds a user name or a password; such endpoints are not asked.");
  }
  if (url !== null && /^https?:$/.test(url.protocol)) {
    const catalog = await loadCatalog(options).catch(() => undefined);
    const entry = catalog?.byUrl(named);
    const [bare = named] = named.split("#", 1);
    return entry === undefined ? { endpoint: { url: bare }, dataset: `${bare}#dataset` } : targetOf(entry, options);
  }
  if (!idPattern.test(named)) {
    throw new FedwayError("REQUEST_INVALID", "This is neither an http(s) URL nor the id of a catalogue entry.", {
      next: "Give a URL such as https://example.org/sparql, or an id such as people.",
    });
  }
  const { byId, entries } = await loadCatalog(options);
  const entry = byId(named);
  if (entry !== undefined) return targetOf(entry, options);
  throw new FedwayError("ENDPOINT_UNKNOWN", `The files of the catalogue have no endpoint "${named}".`, {
    endpoints: entries.slice(0, 20).map(({ id }) => id),
    next: "Give its URL; entries that were added to a running service are known to that service only.",
  });
}

function targetOf(entry: CatalogEntry, { baseUrl }: LoadCatalogOptions): DescribeTarget & { readonly dataset: string } {
  const { id, url, method, engine, rowCap } = entry;
  if (entry.interface !== "sparql") {
    const what = `"${id}" has the interface ${entry.interface}; it cannot be asked for a description.`;
    throw new FedwayError("REQUEST_INVALID", what);
  }
  return {
    endpoint: { id, url, ...(method !== undefined && { method }) },
    dataset: `${baseUrl}/endpoints/${id}#dataset`,
    ...(engine !== undefined && { engine }),
    ...(rowCap !== undefined && { rowCap }),
  };
}
