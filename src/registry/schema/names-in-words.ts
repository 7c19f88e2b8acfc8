import { plural } from "../find/words/forms.ts";
import { nameWords } from "../find/words/words.ts";
import { decodedName, iriParts } from "../../rdf/display-text.ts";
import { itemAt } from "../../values.ts";

/** `E12_`, `M175_`, `IAO_0000129 `: codes that vocabularies put in front of a name. */
const leadingCode = /^\p{Lu}{1,5}_?\d{1,4}[a-z]?[_-](?=.*\p{L}{3})/u;

/** A name of an IRI in lower-case words, abbreviations as they are; undefined when it is a code: short, or mostly digits. */
export function readableName(iri: string): string | undefined {
  return readableText(decodedName(iriParts(iri).local).replace(leadingCode, ""));
}

/** The same of a label. */
export function readableText(text: string): string | undefined {
  const words = nameWords(text);
  const letters = words.filter((word) => /\p{L}/u.test(word)).join("").length;
  const digits = words.join("").length - letters;
  if (letters < 3 || digits > 2 || words.length > 5 || letters > 40) return undefined;
  return words.map((word) => (/^\p{Lu}{2,}$/u.test(word) ? word : word.toLowerCase())).join(" ");
}

/** The noun is in front of these: roles in time, places of birth. */
const beforePreposition = /^(.+?)( (?:as|at|between|by|for|from|in|of|on|per|to|under|with|within) .+)/u;

/** The noun of a name: what its last word is, or the one in front of a preposition. */
export const nounOf = (name: string): string => (beforePreposition.exec(name)?.[1] ?? name).split(" ").at(-1) ?? name;

/** The English plural of a name in words. */
export function severalOf(name: string): string {
  const [, head = name, rest = ""] = beforePreposition.exec(name) ?? [];
  const at = head.lastIndexOf(" ") + 1;
  return `${head.slice(0, at)}${plural(head.slice(at))}${rest}`;
}

/** `one, two and three`. */
export const listing = (names: readonly string[]): string =>
  names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${itemAt(names, names.length - 1)}`;
