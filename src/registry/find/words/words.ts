const marks = /\p{Mn}+/gu;
/** Letters that stay when accents are gone, in the letters that people type for them: Latin, Greek, Cyrillic. */
const letters = new Map(
  [
    "ßss æae œoe øo đd ðd łl ıi þth ħh ŋng ŧt",
    "αa βb γg δd εe ζz ηi θth ιi κk λl μm νn ξx οo πp ρr σs ςs τt υy φf χch ψps ωo",
    "аa бb вv гg ґg дd еe єye жzh зz иi іi кk лl мm нn оo пp рr сs тt уu фf хkh цts чch шsh щshch ъ ыy ь эe юyu яya ђdj ћc љlj њnj џdz",
  ]
    .join(" ")
    .split(" ")
    .map((pair) => [pair.charAt(0), pair.slice(1)] as const),
);
const special = new RegExp(`[${[...letters.keys()].join("")}]`, "g");

/**
 * Lower case without accents and compatibility forms, in Latin letters where there is one for it, so that `Übersee`, `UBERSEE`
 * and `übersee` are one word, and `Þorsteinsson` and `Thorsteinsson`, `Москва` and `Moskva`.
 */
export function fold(text: string): string {
  return text
    .normalize("NFKD")
    .replace(marks, "")
    .toLowerCase()
    .replace(special, (letter) => letters.get(letter) ?? letter);
}

const longestText = 100;

/** A text as its folded words with single spaces; 100 characters of it. */
export const foldedWords = (text: string): string =>
  (
    fold(text.slice(0, longestText * 2))
      .match(/[\p{L}\p{N}]+/gu)
      ?.join(" ") ?? ""
  ).slice(0, longestText);

/** The same without spaces: a name whatever its case, accents and separators. */
export const foldedName = (name: string): string => fold(name).replace(/[^\p{L}\p{N}]+/gu, "");

const longestName = 120;
const namePattern = /\p{Lu}?\p{Ll}+|\p{Lu}+(?!\p{Ll})|\p{N}+|\p{L}+/gu;

/**
 * The words of a name, as written: split at case changes, digits and everything that is neither letter nor digit
 * (`HTTPServer_url2` gives HTTP, Server, url, 2). At most the first 120 characters are looked at.
 */
export const nameWords = (name: string): readonly string[] => name.slice(0, longestName).match(namePattern) ?? [];

/** The same in lower case, as a text. */
export const nameText = (name: string): string => nameWords(name).join(" ").toLowerCase();

const longestWord = 64;
const separators = /[^\p{L}\p{N}\p{M}]+/u;
const isAscii = /^[\p{ASCII}]*$/u;
const asciiWords = /[A-Za-z0-9]+/g;
const maybeCompound = /[a-z][A-Z]|[A-Z]{2}[a-z]|\d[A-Za-z]|[A-Za-z]\d/;

/** One word as written, folded, and its parts when it is a compound (`hasPart2`: has, part, 2). */
export interface Word {
  readonly whole: string;
  readonly parts: readonly string[];
}

const noParts: readonly string[] = [];

/** The words of a text, in order. */
export function wordsOf(text: string): readonly Word[] {
  // Nearly all names and most texts are ASCII, which needs no folding but of case.
  if (isAscii.test(text)) return (text.match(asciiWords) ?? []).map(asciiWord);
  return text
    .normalize("NFC")
    .split(separators)
    .filter((word) => word !== "")
    .map((word) => word.slice(0, longestWord))
    .map((word) => ({ whole: fold(word), parts: compoundParts(word).map(fold) }))
    .filter(({ whole }) => whole !== "");
}

function asciiWord(written: string): Word {
  const word = written.slice(0, longestWord);
  const parts = maybeCompound.test(word) ? compoundParts(word).map((part) => part.toLowerCase()) : noParts;
  return { whole: word.toLowerCase(), parts };
}

function compoundParts(word: string): readonly string[] {
  const parts = nameWords(word);
  return parts.length > 1 ? parts : noParts;
}
