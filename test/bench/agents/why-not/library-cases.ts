import type { Random } from "../../../support/random.ts";
import {
  authorName,
  bookIri,
  countries,
  genres,
  joinsIris,
  type KeyStyle,
  keyStyles,
  offerClass,
  offerKey,
} from "./generated-library.ts";

/** A query with one planted mistake. */
export interface PlantedCase {
  readonly cause: string;
  readonly broken: string;
  /** The pattern or filter that was planted, as a diagnosis shows it. */
  readonly blamed: readonly string[];
  /** Where it is sent; several where any of them is right. */
  readonly endpoints: readonly string[];
  /** Where the query is sent. */
  readonly endpoint?: string;
  readonly federation?: string;
  /** The query as it was before, for the same place; or over the library, the shops and the truth as one graph. */
  readonly gold: { readonly query: string; readonly over: "place" | "all" };
}

type Triple = readonly [subject: string, predicate: string, object: string];

interface Gold {
  readonly select: string;
  readonly triples: readonly Triple[];
  readonly filters: readonly string[];
}

const prefixes = `PREFIX l: <http://library.example/terms/>
PREFIX r: <http://reviews.example/ns#>
PREFIX s: <http://shops.example/vocab/>
`;

/** Queries over the library whose answers are not empty, as the data are made. */
const golds: readonly ((random: Random) => Gold)[] = [
  (random) => ({
    select: "?b ?t ?p",
    triples: [
      ["?b", "a", "l:Book"],
      ["?b", "l:title", "?t"],
      ["?b", "l:genre", `"${random.pick(genres)}"`],
      ["?b", "l:pageCount", "?p"],
    ],
    filters: [],
  }),
  (random) => ({
    select: "?t ?p",
    triples: [
      ["?b", "a", "l:Book"],
      ["?b", "l:title", "?t"],
      ["?b", "l:pageCount", "?p"],
      ["?b", "l:writtenBy", "?a"],
      ["?a", "a", "l:Author"],
      ["?a", "l:fullName", `"${authorName(random.below(60))}"`],
      ["?a", "l:bornIn", "?y"],
    ],
    filters: [],
  }),
  (random) => ({
    select: "?n ?t",
    triples: [
      ["?a", "a", "l:Author"],
      ["?a", "l:homeCountry", `"${random.pick(countries)}"@en`],
      ["?a", "l:fullName", "?n"],
      ["?a", "l:bornIn", "?y"],
      ["?b", "l:writtenBy", "?a"],
      ["?b", "l:title", "?t"],
      ["?b", "l:genre", "?g"],
    ],
    filters: [],
  }),
  () => ({
    select: "?t ?c ?p",
    triples: [
      ["?b", "l:issuedBy", "?h"],
      ["?b", "l:title", "?t"],
      ["?b", "l:pageCount", "?p"],
      ["?b", "l:yearOfIssue", "?y"],
      ["?h", "a", "l:Publisher"],
      ["?h", "l:companyName", "?c"],
      ["?h", "l:seat", "?s"],
    ],
    filters: ["FILTER(?p > 300)"],
  }),
  (random) => bookGold(`<${bookIri(random.below(400))}>`),
  (random) => ({
    select: "?b ?t",
    triples: [
      ["?b", "a", "l:Book"],
      ["?b", "l:yearOfIssue", String(1960 + random.below(50))],
      ["?b", "l:title", "?t"],
      ["?b", "l:writtenBy", "?a"],
      ["?a", "l:bornIn", "?y"],
    ],
    filters: [],
  }),
];

const bookGold = (book: string): Gold => ({
  select: "?t ?n",
  triples: [
    [book, "l:title", "?t"],
    [book, "l:pageCount", "?p"],
    [book, "l:writtenBy", "?a"],
    ["?a", "l:fullName", "?n"],
    ["?a", "l:bornIn", "?y"],
  ],
  filters: [],
});

/** A mistake: how it changes the triple that it fits. */
interface Mistake {
  readonly cause: string;
  readonly fits: (triple: Triple) => boolean;
  readonly change: (triple: Triple, random: Random) => Triple;
}

const isText = (term: string): boolean => term.startsWith('"');
const isNumber = (term: string): boolean => /^\d+$/.test(term);
const inText = (term: string, change: (text: string) => string): string =>
  term.replace(/"(.*)"/, (_, text: string) => `"${change(text)}"`);
const links = new Set(["l:writtenBy", "l:issuedBy"]);
const misspelt: Readonly<Record<string, string>> = {
  "l:title": "l:titel",
  "l:pageCount": "l:numberOfPages",
  "l:fullName": "l:name",
  "l:bornIn": "l:birthYear",
  "l:genre": "l:hasGenre",
  "l:companyName": "l:company",
  "l:yearOfIssue": "l:issueYear",
  "l:homeCountry": "l:country",
};
/** Properties of other classes. */
const foreign: Readonly<Record<string, string>> = {
  "l:title": "l:companyName",
  "l:fullName": "l:title",
  "l:companyName": "l:fullName",
  "l:pageCount": "l:bornIn",
  "l:bornIn": "l:yearOfIssue",
  "l:genre": "l:seat",
};
const classes: Readonly<Record<string, string>> = {
  "l:Book": "l:Author",
  "l:Author": "l:Publisher",
  "l:Publisher": "l:Book",
};

const mistakes: readonly Mistake[] = [
  objectMistake("value: case", isText, (term) => inText(term, (text) => text.toUpperCase())),
  objectMistake("value: language", isText, (term) =>
    term.includes("@") ? term.replace(/@\w+$/, "@de") : `${term}@en`,
  ),
  objectMistake(
    "value: datatype",
    (term) => isNumber(term) || isText(term),
    (term) => (isNumber(term) ? `"${term}"` : `${term.replace(/@\w+$/, "")}^^<http://www.w3.org/2001/XMLSchema#token>`),
  ),
  objectMistake("value: blanks", isText, (term) => inText(term, (text) => `${text} `)),
  objectMistake("value: spelling", isText, (term) => inText(term, (text) => text.slice(0, 2) + text.slice(3))),
  {
    cause: "IRI: http or https",
    fits: ([subject]) => subject.startsWith("<"),
    change: ([subject, predicate, object]) => [subject.replace("http:", "https:"), predicate, object],
  },
  {
    cause: "property unknown",
    fits: ([, predicate]) => predicate in misspelt,
    change: ([subject, predicate, object]) => [subject, misspelt[predicate] ?? predicate, object],
  },
  {
    cause: "property of another class",
    fits: ([, predicate, object]) => predicate in foreign && object.startsWith("?"),
    change: ([subject, predicate, object]) => [subject, foreign[predicate] ?? predicate, object],
  },
  {
    cause: "class of the same endpoint",
    fits: ([, predicate]) => predicate === "a",
    change: ([subject, predicate, object]) => [subject, predicate, classes[object] ?? object],
  },
  {
    cause: "direction",
    fits: ([, predicate]) => links.has(predicate),
    change: ([subject, predicate, object]) => [object, predicate, subject],
  },
];

function objectMistake(cause: string, fits: (term: string) => boolean, change: (term: string) => string): Mistake {
  return {
    cause,
    fits: ([, predicate, object]) => predicate !== "a" && fits(object),
    change: ([subject, predicate, object]) => [subject, predicate, change(object)],
  };
}

const filters: readonly string[] = [
  "FILTER(?p > 100000)",
  'FILTER(CONTAINS(STR(?t), "quixotic"))',
  "FILTER(STRLEN(STR(?t)) > 400)",
  'FILTER(REGEX(STR(?n), "^Zz"))',
];

/** Triples with `;` where `short` and the subject stays the same. */
function block(triples: readonly Triple[], short: boolean): string {
  let text = "";
  for (const [at, [subject, predicate, object]] of triples.entries()) {
    const isSame = short && at > 0 && triples[at - 1]?.[0] === subject;
    text += isSame ? ` ;\n    ${predicate} ${object}` : `${at > 0 ? " ." : ""}\n  ${subject} ${predicate} ${object}`;
  }
  return `${text} .`;
}

const written = ({ select, triples, filters: own }: Gold, short: boolean): string =>
  `${prefixes}SELECT ${select} WHERE {${block(triples, short)}\n  ${own.join("\n  ")}\n}`;

/** One case of a cause that concerns a single endpoint; undefined where the drawn query has no place for it. */
function libraryCase(mistake: Mistake, random: Random): PlantedCase | undefined {
  const gold = random.pick(golds)(random);
  const places = gold.triples.flatMap((triple, at) => (mistake.fits(triple) ? [at] : []));
  if (places.length === 0) return undefined;
  const at = random.pick(places);
  const before = gold.triples[at];
  if (before === undefined) return undefined;
  const after = mistake.change(before, random);
  const isSubject = after[0] !== before[0] && mistake.cause !== "direction";
  // A mistyped IRI is mistyped wherever it stands.
  const triples = gold.triples.map((triple, index): Triple => {
    if (index === at) return after;
    return isSubject && triple[0] === before[0] ? [after[0], triple[1], triple[2]] : triple;
  });
  const blamed = isSubject ? triples.filter(([subject]) => subject === after[0]) : [after];
  const short = random.chance(0.5);
  return {
    cause: mistake.cause,
    broken: written({ ...gold, triples }, isSubject || short),
    blamed: blamed.map((triple) => triple.join(" ")),
    endpoints: ["library"],
    endpoint: "library",
    gold: { query: written(gold, short), over: "place" },
  };
}

function filterCase(random: Random): PlantedCase | undefined {
  const gold = random.pick(golds)(random);
  const bound = new Set(gold.triples.flat());
  const fitting = filters.filter((filter) => bound.has(/\?\w+/.exec(filter)?.[0] ?? ""));
  if (fitting.length === 0) return undefined;
  const filter = random.pick(fitting);
  return {
    cause: "filter too strict",
    broken: written({ ...gold, filters: [...gold.filters, filter] }, true),
    blamed: [filter],
    endpoints: ["library"],
    endpoint: "library",
    gold: { query: written(gold, true), over: "place" },
  };
}

function reviewCase(random: Random): PlantedCase {
  const stars = 1 + random.below(5);
  const query = (library: string, reviews: string): string => `${prefixes}SELECT ?t ?w WHERE {
  SERVICE <${library}> { ?b a l:Book ; l:title ?t ; l:genre "${genre}" . }
  SERVICE <${reviews}> { ?x a r:Review ; r:subject ?b ; r:stars ${stars} ; r:reviewer ?w . }
}`;
  const genre = random.pick(genres);
  const mistaken = random.chance(0.5);
  const [library, reviews] = mistaken ? ["shops", "reviews"] : ["library", "shops"];
  return {
    cause: "endpoint of a clause",
    broken: query(library ?? "", reviews ?? ""),
    blamed: mistaken
      ? ["?b a l:Book", "?b l:title ?t", `?b l:genre "${genre}"`]
      : ["?x a r:Review", "?x r:subject ?b", `?x r:stars ${stars}`, "?x r:reviewer ?w"],
    endpoints: ["shops"],
    gold: { query: query("library", "reviews"), over: "place" },
  };
}

function keyCase(style: KeyStyle, random: Random): PlantedCase {
  const genre = random.pick(genres);
  const isIri = joinsIris(style);
  const book = isIri ? "?k a l:Book ; l:title ?t" : "?b l:catalogueKey ?k ; l:title ?t";
  const subject = isIri ? "?k" : "?b";
  const offer = `?o a <${offerClass(style)}> ; s:price ?p`;
  const key = `?o <${offerKey(style)}> ?k`;
  return {
    cause: `keys: ${style}`,
    broken: `${prefixes}SELECT ?t ?p WHERE {
  SERVICE <library> { ${book} ; l:genre "${genre}" . }
  SERVICE <shops> { ${offer} . ${key} . }
}`,
    blamed: [key, isIri ? "?k a l:Book" : "?b l:catalogueKey ?k"],
    endpoints: ["shops", "library"],
    gold: {
      query: `${prefixes}SELECT ?t ?p WHERE { ${subject} l:title ?t ; l:genre "${genre}" . ${offer} ; <urn:bench:book> ${subject} }`,
      over: "all",
    },
  };
}

/** Draws `count` cases, as many of each cause. */
export function libraryCases(random: Random, count: number): readonly PlantedCase[] {
  const makers: readonly (() => PlantedCase | undefined)[] = [
    ...mistakes.map((mistake) => () => libraryCase(mistake, random)),
    () => filterCase(random),
    () => reviewCase(random),
    ...keyStyles.map((style) => () => keyCase(style, random)),
  ];
  const cases = new Map<string, PlantedCase>();
  for (let at = 0; cases.size < count && at < 40 * count; at++) {
    const planted = makers[at % makers.length]?.();
    if (planted) cases.set(planted.broken, planted);
  }
  return [...cases.values()];
}
