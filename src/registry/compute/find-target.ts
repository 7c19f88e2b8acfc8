import { FedwayError } from "../../errors/fedway-error.ts";
import { loadCatalog, type LoadCatalogOptions } from "../catalog/read-files.ts";
import { isCatalogId } from "../catalog/statements.ts";
import { targetOf } from "./describer.ts";

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
    return entry === undefined
      ? { endpoint: { url: bare }, dataset: `${bare}#dataset` }
      : targetOf(entry, options.baseUrl);
  }
  if (!isCatalogId(named)) {
    throw new FedwayError("REQUEST_INVALID", "This is neither an http(s) URL nor the id of a catalogue entry.", {
      next: "Give a URL such as https://example.org/sparql, or an id such as people.",
    });
  }
  const catalog = await loadCatalog(options);
  const entry = catalog.byId(named);
  if (entry !== undefined) return targetOf(entry, options.baseUrl);
  throw new FedwayError("ENDPOINT_UNKNOWN", `The files of the catalogue have no endpoint "${named}".`, {
    endpoints: catalog.entries.slice(0, 20).map(({ id }) => id),
    next: "Give its URL; entries that were added to a running service are known to that service only.",
  });
}
