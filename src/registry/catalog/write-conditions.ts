import { FedwayError } from "../../errors/fedway-error.ts";
import { nearest } from "../../errors/nearest.ts";
import type { Catalog, CatalogDocument, CatalogEntry, CatalogWrite } from "./catalog.ts";
import { looseKey, type UrlKey } from "./create-catalog.ts";
import type { Described } from "./describe-document.ts";

/** @throws FedwayError `PRECONDITION_FAILED` unless the document has the etag; "*" stands for any */
export function checkMatch(ifMatch: string | undefined, existing: CatalogDocument | undefined): void {
  if (ifMatch === undefined || (existing !== undefined && (ifMatch === "*" || ifMatch === existing.etag))) return;
  throw new FedwayError("PRECONDITION_FAILED", "The document is not the one that was read before.", {
    next: "Read it again, then repeat the change.",
  });
}

/**
 * Whether a document may be written where there is, or is not, one already.
 * @throws FedwayError `ENTRY_CONFLICT`, `ENDPOINT_UNKNOWN`, `FEDERATION_UNKNOWN`, `PRECONDITION_FAILED`
 */
export function checkCondition(change: CatalogWrite, existing: CatalogDocument | undefined, catalog: Catalog): void {
  const { kind, id, mode } = change;
  if (mode === "create" && existing !== undefined) {
    throw new FedwayError("ENTRY_CONFLICT", `The catalogue already has the ${kind} "${id}".`, {
      next: "Replace it, or choose another identifier.",
    });
  }
  if (mode === "replace" && existing === undefined) throw documentUnknown(kind, id, catalog);
  checkMatch(change.ifMatch, existing);
}

/** The error of a document that is not there. */
export function documentUnknown(kind: CatalogDocument["kind"], id: string, catalog: Catalog): FedwayError {
  if (kind === "federation") return new FedwayError("FEDERATION_UNKNOWN", `There is no federation "${id}".`);
  const ids = catalog.entries.map((entry) => entry.id);
  return new FedwayError("ENDPOINT_UNKNOWN", `There is no endpoint "${id}" in the catalogue.`, {
    endpoints: nearest(id, ids),
  });
}

/** Which entries have which URLs. */
export interface UrlOwners {
  readonly keyOf: UrlKey;
  /** The entries whose URLs have this loose key. */
  readonly alike: (loose: string) => readonly CatalogEntry[];
}

/**
 * One URL is one endpoint. For a URL that is new to the catalogue, another scheme or a slash at the end makes no
 * difference: it is very likely the same endpoint. Where files say otherwise, they are believed.
 * @throws FedwayError `ENTRY_CONFLICT`
 */
export function refuseTakenUrl(described: Described, catalog: Catalog, { keyOf, alike }: UrlOwners): void {
  if (described.kind !== "endpoint") return;
  const { id, url } = described.value;
  const key = keyOf(url) ?? url;
  const before = catalog.byId(id);
  const isKept = before !== undefined && keyOf(before.url) === key;
  const candidates = [catalog.byUrl(url), ...(isKept ? [] : alike(looseKey(key)))];
  const other = candidates.find((entry) => entry !== undefined && entry.id !== id);
  if (other === undefined) return;
  throw new FedwayError("ENTRY_CONFLICT", `The endpoint "${other.id}" has this URL already: ${other.url}`, {
    endpoints: [other.id],
  });
}
