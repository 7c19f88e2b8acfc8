import type { StoredDocument } from "../../store/store.ts";
import type { CatalogDocument } from "./catalog.ts";
import { reasonOf } from "./catalog-problem.ts";
import type { UrlKey } from "./create-catalog.ts";
import { type Described, describeDocument } from "./describe-document.ts";
import { documentKey, keyOfDescribed, parseDocument } from "./parse-document.ts";
import { EntryProblem } from "./statements.ts";

/** A change over the API, as it lies over the files: a document of its own, or a tombstone. */
export interface Overlay {
  /** See `documentKey`. */
  readonly key: string;
  readonly kind: CatalogDocument["kind"];
  readonly id: string;
  /** The stored text, from which everything else is derived. */
  readonly stored: string;
  /** Version in the store, for compare-and-set. */
  readonly storeVersion: number;
  readonly deleted: boolean;
  /** ISO 8601. */
  readonly changedAt: string;
  /** Hash of the file that it was laid over. */
  readonly over?: string;
  readonly described?: Described;
  /** Comparison key of an endpoint's URL. */
  readonly urlKey?: string;
  /** Why the stored document cannot be used. */
  readonly problem?: string;
}

/** What is stored of a change. */
export interface OverlayRecord {
  readonly changedAt: string;
  readonly over?: string;
  /** Turtle, with this service's own IRIs relative to its public URL; absent in a tombstone. */
  readonly turtle?: string;
}

const keyPattern = /^catalog\/(endpoint|federation)\/([a-z0-9][a-z0-9._-]{0,63})$/;

/** Prefix of all changes in the store. */
export const overlayPrefix = "catalog/";

export const overlayKey = (kind: CatalogDocument["kind"], id: string): string =>
  `${overlayPrefix}${documentKey(kind, id)}`;

/** The text under which a change is stored. */
export const encodeOverlay = (overlay: OverlayRecord): string => JSON.stringify({ format: 1, ...overlay });

/** What the stored text says; undefined when it is no such text. */
export function decodeOverlay(stored: string): OverlayRecord | undefined {
  try {
    const value: unknown = JSON.parse(stored);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is OverlayRecord {
  if (typeof value !== "object" || value === null) return false;
  const isText = (name: string): boolean => typeof Reflect.get(value, name) === "string";
  const isTextIfThere = (name: string): boolean => !(name in value) || isText(name);
  return Reflect.get(value, "format") === 1 && isText("changedAt") && isTextIfThere("over") && isTextIfThere("turtle");
}

/** How overlays are read. */
export interface OverlayReading {
  readonly baseUrl: string;
  readonly keyOf: UrlKey;
}

/** A stored change; undefined for other documents. One that cannot be read becomes an overlay with a problem. */
export function readOverlay(
  { key: storeKey, value, version }: StoredDocument,
  reading: OverlayReading,
): Overlay | undefined {
  const [, kind, id] = keyPattern.exec(storeKey) ?? [];
  if ((kind !== "endpoint" && kind !== "federation") || id === undefined) return undefined;
  const overlay = { key: documentKey(kind, id), kind, id, stored: value, storeVersion: version } as const;
  const record = decodeOverlay(value);
  if (record === undefined) {
    return { ...overlay, deleted: false, changedAt: "", problem: "The stored change cannot be read." };
  }
  const { changedAt, over, turtle } = record;
  const known = { ...overlay, changedAt, ...(over !== undefined && { over }) };
  if (turtle === undefined) return { ...known, deleted: true };
  try {
    const described = describeDocument(parseDocument(turtle, reading.baseUrl));
    if (described.kind !== kind || described.id !== id) throw new EntryProblem(`It is about "${described.id}".`);
    const urlKey = keyOfDescribed(described, reading.keyOf);
    return { ...known, deleted: false, described, ...(urlKey !== undefined && { urlKey }) };
  } catch (problem) {
    return { ...known, deleted: false, problem: `The stored change cannot be used: ${reasonOf(problem)}` };
  }
}
