import { createHash } from "node:crypto";
import type { EditableCatalog } from "../registry/catalog.ts";

/** Id of the entry that an endpoint with this URL has for the life of one command. */
export const onceId = (url: string): string => `once-${createHash("sha256").update(url).digest("hex").slice(0, 12)}`;

/** The URL of an endpoint as its entry has it. */
export const withoutFragment = (url: string): string => url.split("#", 1)[0] ?? url;

/** True for such an id. */
export const isOnceId = (id: string): boolean => /^once-[0-9a-f]{12}$/.test(id);

/** Removes the entries of commands that were killed. @throws FedwayError `STORE_FAILED` */
export async function removeOnceEntries(catalog: EditableCatalog): Promise<void> {
  for (const { id } of catalog.entries) if (isOnceId(id)) await catalog.remove("endpoint", id);
}
