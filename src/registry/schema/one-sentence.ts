import type { CatalogEntry } from "../catalog/catalog.ts";
import type { ClassPartition, Count, VoidDescription } from "../void/void-description.ts";
import { iriParts, nameWords, plainText } from "./text.ts";
import { wellKnownPrefixes } from "../../rdf/well-known-prefixes.ts";

const longest = 200;
const mostClasses = 3;
/** Namespaces whose classes say how data is kept, not what it is about. */
const housekeeping = new Set([
  "owl",
  "rdf",
  "rdfs",
  "sd",
  "void",
  "void-ext",
  "sh",
  "virtrdf",
  "swrl",
  "wikibase",
  "xsd",
]);

/**
 * One sentence of at most 200 characters, made by a template, on what an endpoint has: its most frequent kinds of things and how many, what about (keywords of
 * the entry, else well-known vocabularies), which endpoints it links to. Undefined when the description knows none of that.
 */
export function oneSentence(description: VoidDescription, entry?: Pick<CatalogEntry, "keywords">): string | undefined {
  const things = thingsText(description);
  if (things === undefined) return undefined;
  const links = linksText(description);
  const abouts = [aboutText(description, entry, 3), aboutText(description, entry, 1), ""];
  const candidates = [...abouts.map((about) => about + links), ""].map((rest) => `${things}${rest}.`);
  return candidates.find((candidate) => candidate.length <= longest) ?? plainText(things, longest - 1);
}

function thingsText(description: VoidDescription): string | undefined {
  const kinds = description.classPartitions
    .filter(isAboutThings)
    .map(kindText)
    .filter((kind) => kind !== undefined);
  const shown = [...new Map(kinds.map((kind) => [kind.name, kind])).values()].slice(0, mostClasses);
  if (shown.length > 0) return `Describes ${listing(shown.map(({ text }) => text))}`;
  const listed = description.classPartitions.length;
  if (listed > 0) {
    const least = description.classesComplete ? "" : "at least ";
    return `Describes ${least}${listed === 1 ? "one kind" : `${numberText(listed)} kinds`} of things`;
  }
  const triples = description.triples === undefined ? undefined : amount(description.triples);
  return triples === undefined || triples === "" ? undefined : `Holds ${triples} triples`;
}

function isAboutThings({ class: iri, entities }: ClassPartition): boolean {
  const prefix = wellKnownPrefixes.get(iriParts(iri).namespace);
  return entities?.value !== 0 && (prefix === undefined || !housekeeping.has(prefix));
}

/** `320,960 proteins`; undefined for names that are codes rather than words. */
function kindText({ class: iri, entities }: ClassPartition): { name: string; text: string } | undefined {
  const name = readableName(iriParts(iri).local);
  if (name === undefined) return undefined;
  const count = entities === undefined ? "" : amount(entities);
  const isOne = entities?.value === 1 && entities.status === "exact";
  return { name, text: count === "" ? plural(name) : `${count} ${isOne ? name : plural(name)}` };
}

/** Number in words that keep its status; empty where a sample says nothing about the number. */
function amount({ value, status }: Count): string {
  if (!Number.isFinite(value) || value < 0 || status === "sampled") return "";
  if (status === "exists" || status === "lowerBound") return value < 2 ? "" : `at least ${numberText(value)}`;
  return status === "claimed" ? `about ${numberText(value)}` : numberText(value);
}

const numberText = (value: number): string => value.toLocaleString("en-US");

/** A local name in lower-case words (abbreviations stay); undefined when it is a code: short, or mostly digits. */
function readableName(local: string): string | undefined {
  const words = nameWords(local);
  const lettered = words.filter((word) => /\p{L}/u.test(word));
  const letters = lettered.join("").length;
  const digits = words.join("").length - letters;
  if (letters < 3 || digits > 2 || words.length > 5 || letters > 40) return undefined;
  return words.map((word) => (/^\p{Lu}{2,}$/u.test(word) ? word : word.toLowerCase())).join(" ");
}

function plural(name: string): string {
  if (/(?:[^aeiou]|qu)y$/.test(name)) return `${name.slice(0, -1)}ies`;
  if (/(?:data|series|species|people|ics|information)$/.test(name)) return name;
  return /(?:s|x|z|ch|sh)$/.test(name) ? `${name}es` : /[a-z]$/i.test(name) ? `${name}s` : name;
}

function aboutText(
  description: VoidDescription,
  entry: Pick<CatalogEntry, "keywords"> | undefined,
  most: number,
): string {
  const keywords = (entry?.keywords ?? []).map((keyword) => plainText(keyword, 30)).filter((each) => each !== "");
  if (keywords.length > 0) return ` (${keywords.slice(0, most).join(", ")})`;
  const known = description.namespaces
    .map((namespace) => wellKnownPrefixes.get(namespace))
    .filter((prefix) => prefix !== undefined && !housekeeping.has(prefix));
  const vocabularies = [...new Set(known)].slice(0, most);
  return vocabularies.length === 0 ? "" : ` in terms of ${vocabularies.join(", ")}`;
}

function linksText({ linksets }: VoidDescription): string {
  const targets = [...new Set(linksets.flatMap(({ targetEndpoint }) => targetEndpoint ?? []))].toSorted();
  const shown = targets.slice(0, 3).map((target) => plainText(target, 30));
  return shown.length === 0 ? "" : `, linked to ${listing(shown)}`;
}

const listing = (names: readonly string[]): string =>
  names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1) ?? ""}`;
