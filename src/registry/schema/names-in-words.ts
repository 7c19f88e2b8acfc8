import { iriParts, nameWords } from "./text.ts";

/** `E12_`, `M175_`, `IAO_0000129 `: codes that vocabularies put in front of a name. */
const leadingCode = /^\p{Lu}{1,5}_?\d{1,4}[a-z]?[_-](?=.*\p{L}{3})/u;

/** A name of an IRI in lower-case words, abbreviations as they are; undefined when it is a code: short, or mostly digits. */
export function readableName(iri: string): string | undefined {
  return readableText(decoded(iriParts(iri).local).replace(leadingCode, ""));
}

/** The same of a label. */
export function readableText(text: string): string | undefined {
  const words = nameWords(text);
  const letters = words.filter((word) => /\p{L}/u.test(word)).join("").length;
  const digits = words.join("").length - letters;
  if (letters < 3 || digits > 2 || words.length > 5 || letters > 40) return undefined;
  return words.map((word) => (/^\p{Lu}{2,}$/u.test(word) ? word : word.toLowerCase())).join(" ");
}

function decoded(local: string): string {
  try {
    return decodeURIComponent(local);
  } catch {
    return local;
  }
}

/** The noun is in front of these: roles in time, places of birth. */
const beforePreposition = /^(.+?)( (?:as|at|between|by|for|from|in|of|on|per|to|under|with|within) .+)$/u;

/** The noun of a name: what its last word is, or the one in front of a preposition. */
export const nounOf = (name: string): string => (beforePreposition.exec(name)?.[1] ?? name).split(" ").at(-1) ?? name;

/** The English plural of a name in words. What is not written in ASCII, and what is a plural already, stays. */
export function plural(name: string): string {
  const [, head = name, rest = ""] = beforePreposition.exec(name) ?? [];
  const at = head.lastIndexOf(" ") + 1;
  return `${head.slice(0, at)}${pluralWord(head.slice(at))}${rest}`;
}

const irregular: ReadonlyMap<string, string> = new Map(
  "person people,child children,foot feet,tooth teeth,mouse mice,goose geese,ox oxen,quiz quizzes,lens lenses,gas gases,leaf leaves,life lives,half halves,shelf shelves,wolf wolves,knife knives,hero heroes,echo echoes,potato potatoes,tomato tomatoes,cargo cargoes,taxon taxa,criterion criteria,phenomenon phenomena,medium media,bacterium bacteria,genus genera,corpus corpora,fungus fungi,nucleus nuclei,locus loci,stimulus stimuli,vertex vertices,matrix matrices,appendix appendices,datum data,spectrum spectra"
    .split(",")
    .map((pair) => [pair.replace(/ .*/, ""), pair.replace(/.* /, "")] as const),
);

/** Words without a plural, or that are one. */
const uncountable =
  /^(?:data|metadata|media|series|species|people|information|software|hardware|equipment|evidence|news|music|weather|research|staff|knowledge|personnel|sheep|fish|aircraft|taxa|genera|loci|children|criteria|feedback)$|(?:ics|men)$/;

function pluralWord(word: string): string {
  if (!/^[a-z]+$/.test(word)) return /[a-z]$/.test(word) && /^[\x20-\x7e]+$/.test(word) ? `${word}s` : word;
  const known = irregular.get(word);
  if (known !== undefined) return known;
  if (uncountable.test(word)) return word;
  if (/[a-z]{2,}sis$/.test(word)) return `${word.slice(0, -2)}es`;
  if (/(?<!hu|ger|ro|otto|sha|talis|cay)man$/.test(word)) return `${word.slice(0, -3)}men`;
  if (/(?:[^aeiou]|qu)y$/.test(word)) return `${word.slice(0, -1)}ies`;
  if (/(?:ss|us|is|as|os|x|z|ch|sh)$/.test(word)) return `${word}es`;
  return word.endsWith("s") ? word : `${word}s`;
}

/** `one, two and three`. */
export const listing = (names: readonly string[]): string =>
  names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1) ?? ""}`;
