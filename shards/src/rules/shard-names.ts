import { hash } from "node:crypto";
import { valueFor } from "../../../src/values.ts";

/** `opaque` ids say nothing about a shard's content: an agent that sees URLs has to find out by asking. */
export type ShardNaming = "readable" | "opaque";

const longestName = 40;

/** The words of an IRI's last segment: `singer_in_concert` and `SingerInConcert` are "singer in concert". */
export const wordsOf = (iri: string): string => {
  const local = segmentsOf(iri).at(-1) ?? iri;
  return plainWords(local) || local.slice(0, longestName);
};

const segmentsOf = (iri: string): readonly string[] => iri.split(/[/#:]/u).filter((part) => part !== "");

const plainWords = (segment: string): string =>
  segment
    .replaceAll(/(?<=\p{Ll}|\d)(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/gu, " ")
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .trim()
    .toLowerCase()
    .slice(0, longestName);

/**
 * Names of shards by their keys, fit for file names and paths of URLs: `[a-z0-9.-]`, at most 64 characters. Readable ones
 * are the last segment of the key's IRI with the number of the bucket (`person-1`). Keys that would be named alike have the
 * last two segments (`people-name`), or what the last one names (`ferry-class`, `ferry-property`), or a hash. They depend on
 * the keys alone, in any order.
 */
export function shardIdsOf(keys: readonly string[], naming: ShardNaming = "readable"): ReadonlyMap<string, string> {
  if (naming === "opaque") return new Map(keys.map((key) => [key, `s${digestOf(`shard ${key}`)}`]));
  const ids = new Map(keys.map((key) => [key, partsOf(key).last]));
  for (const forms of [["two", "kind"], []] as const) {
    for (const [id, alike] of Map.groupBy(keys, (key) => valueFor(ids, key))) {
      if (id !== "" && alike.length === 1) continue;
      const parts = new Map(alike.map((key) => [key, partsOf(key)]));
      const isApart = (form: (typeof forms)[number]): boolean =>
        id !== "" && new Set(parts.values().map((part) => part[form])).size === parts.size;
      const form = forms.find(isApart) ?? "hashed";
      for (const [key, part] of parts) ids.set(key, part[form]);
    }
  }
  return ids;
}

/** The forms of a key's id; `last` is empty where the last segment has nothing of ASCII. Only `hashed` has a dot. */
function partsOf(key: string) {
  if (key === "base") return { last: key, two: key, kind: key, hashed: key };
  if (key.startsWith("base/")) {
    const part = `base-${Number(key.slice(5)) + 1}`;
    return { last: part, two: part, kind: part, hashed: part };
  }
  const bucketAt = key.startsWith("h/") ? key.lastIndexOf("/") : key.length;
  const bucket = bucketAt === key.length ? "" : `-${Number(key.slice(bucketAt + 1)) + 1}`;
  const slugs = segmentsOf(key.slice(2, bucketAt)).slice(-2).map(slugOf);
  const last = slugs.at(-1) ?? "";
  const two = slugs
    .join("-")
    .slice(-longestName)
    .replaceAll(/^-+|(?<!-)-+$/gu, "");
  return {
    last: last === "" ? "" : `${last}${bucket}`,
    two: `${two}${bucket}`,
    kind: `${last}-${key.startsWith("v/") ? "property" : "class"}${bucket}`,
    hashed: `${two || key.slice(0, 1)}${bucket}.${digestOf(key)}`,
  };
}

/** Words without accents, as far as they have letters or digits of ASCII. */
const slugOf = (segment: string): string =>
  plainWords(segment)
    .normalize("NFKD")
    .replaceAll(/\p{M}+/gu, "")
    .replaceAll(/[^a-z0-9]+/gu, "-")
    .replaceAll(/^-+|(?<!-)-+$/gu, "");

const digestOf = (text: string): string => hash("sha256", text).slice(0, 10);
