import { iriParts, nameWords } from "../schema/text.ts";

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

/** What a text is indexed under: its words and the parts of its compounds. */
export function indexWords(text: string): string[] {
  return wordsOf(text).flatMap(({ whole, parts }) =>
    parts.length === 0 ? whole : [whole].concat(parts.filter((part) => part.length > 1)),
  );
}

const longestQuery = 500;
const longestIri = 2_048;
const mostQueryWords = 12;
/** Words of questions rather than of descriptions; searched for only when a query has no others. */
const stopWords = new Set(
  "a about all an and any are at be by can do does endpoint endpoints find for from has have how i in into is it list many me of on or show that the their them there these this to was were what when where which who whose with".split(
    " ",
  ),
);

/** Words that every question may have, whatever it is about; beside those, some that a description may be searched by. */
const questionStopWords = new Set(
  "a about all an and any are as at be been between both but by can could data dataset datasets did different distinct do does each either endpoint endpoints every find for from gave give given had has have her his how i if in into is it its least list many me more most much my no not of on one only or other our out over please return s show so some tell than that the their them then there these they this those to under up us was we were what when where whether which who whom whose why will with would you your".split(
    " ",
  ),
);

/** Whether a folded word of a question says nothing of what is looked for. */
export const isStopWord = (word: string): boolean => questionStopWords.has(word);

const iriPattern = /^<?[a-z][a-z0-9+.-]{0,20}:(?:\/\/|[^\s/:]{1,100}:)/i;

/** The query is one IRI, not words. */
export const isIri = (q: string): boolean => iriPattern.test(q.trim().slice(0, 200)) && !/\s/.test(q.trim());

/** English plurals that no rule gives, in the field's texts. */
const irregular: Readonly<Record<string, string>> = {
  people: "person",
  men: "man",
  women: "woman",
  children: "child",
  mice: "mouse",
  feet: "foot",
  teeth: "tooth",
  geese: "goose",
  lives: "life",
  wolves: "wolf",
  leaves: "leaf",
  criteria: "criterion",
  phenomena: "phenomenon",
  indices: "index",
  matrices: "matrix",
  vertices: "vertex",
  taxa: "taxon",
  genera: "genus",
  nuclei: "nucleus",
  loci: "locus",
  analyses: "analysis",
  hypotheses: "hypothesis",
  bacteria: "bacterium",
};
const irregularPlural = new Map(Object.entries(irregular).map(([plural, single]) => [single, plural]));

/** The singular of an English plural; undefined for other words. */
export function singular(word: string): string | undefined {
  if (Object.hasOwn(irregular, word)) return irregular[word];
  if (word.length < 4 || !/[^su]s$/.test(word)) return undefined;
  if (word.endsWith("ies")) return `${word.slice(0, -3)}y`;
  return word.replace(/(?<=s|x|z|ch|sh)es$|s$/, "");
}

/** English verb forms that no rule gives, with the verb, or with the noun that data has for it. */
const verbForms = new Map(
  Object.entries({
    birth: "born",
    death: "died dead die dies",
    begin: "began begun",
    break: "broke broken",
    build: "built",
    buy: "bought",
    choose: "chose chosen",
    draw: "drew drawn",
    drive: "drove driven",
    fall: "fell fallen",
    fight: "fought",
    fly: "flew flown",
    grow: "grew grown",
    hold: "held",
    keep: "kept",
    know: "knew known",
    lose: "lost",
    make: "made",
    pay: "paid",
    sell: "sold",
    send: "sent",
    sing: "sang sung",
    speak: "spoke spoken",
    take: "took taken",
    teach: "taught",
    win: "won",
    write: "wrote written",
  }).flatMap(([base, forms]) => forms.split(" ").map((form) => [form, base] as const)),
);

/** The form that stands for a word: the singular, the verb of a form that no rule gives; of other words themselves. */
export const baseForm = (word: string): string => verbForms.get(word) ?? singular(word) ?? word;

/** The same word in the other number, where that does not begin with it; the base of a verb form that no rule gives. */
export function otherForms(word: string): readonly string[] {
  const single = verbForms.get(word) ?? singular(word);
  if (single !== undefined) return [single];
  const plural = irregularPlural.get(word) ?? (/[^aeiou]y$/.test(word) ? `${word.slice(0, -1)}ies` : undefined);
  return plural === undefined ? [] : [plural];
}

/** The distinct words to search for, of an IRI those of its local name; input beyond the bounds is not looked at. */
export function queryWords(q: string): readonly Word[] {
  const text = isIri(q) ? iriParts(q.trim().slice(0, longestIri).replace(/>$/, "")).local : q;
  const distinct = new Map(wordsOf(text.slice(0, longestQuery)).map((word) => [word.whole, word]));
  const all = [...distinct.values()];
  const telling = all.filter(({ whole }) => !stopWords.has(whole));
  return (telling.length > 0 ? telling : all).slice(0, mostQueryWords);
}
