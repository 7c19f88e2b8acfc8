import { type Audited, type Flag, mentionsAny, vocabularyOf } from "./audited.ts";
import type { QueryFacts } from "./query-facts.ts";
import { localName, mentions, numberOf, sameWord, wordsOf } from "./question-text.ts";

const letters = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .trim();

/** Literals and local names of a query, in lower case. */
const constantsOf = ({ literals, things, limit }: QueryFacts): readonly string[] => [
  ...new Set([
    ...literals.map(({ value }) => letters(value)),
    ...[...things].map((iri) => letters(wordsOf(iri).join(" "))),
    ...(limit === undefined ? [] : [String(limit)]),
  ]),
];

/** True if a constant appears in the question, as whole words or not. */
function says(constant: string, text: string): boolean {
  if (constant === "" || text === "") return false;
  if (constant.includes(text) || text.includes(constant)) return constant.length > 1 || text.length === 1;
  const words = text.split(" ");
  return constant.split(" ").some((word) => words.some((each) => sameWord(each, word)));
}

/** Texts and numbers of the question that the query lacks. */
export function literalFlags({ question, facts, data }: Audited): readonly Flag[] {
  const constants = constantsOf(facts);
  const vocabulary = [...vocabularyOf(data), ...[...facts.terms].flatMap(wordsOf)];
  const isTerm = (text: string): boolean => text.split(" ").every((word) => mentionsAny([word], vocabulary));
  const missing = question.named.filter(({ kind, text }) => {
    if (kind === "number") return !hasNumber(facts, Number(text));
    const plain = letters(text);
    return !constants.some((constant) => says(constant, plain)) && (kind === "quoted" || !isTerm(plain));
  });
  // A constant that the question does not say may be what it means by another word: 'F' for female, 'France' for French.
  const said = [...question.words, ...question.named.map(({ text }) => letters(text))];
  const free = constants.filter((each) => Number.isNaN(Number(each)) && !said.some((text) => says(each, text)));
  const names = missing.filter(({ kind }) => kind === "name").slice(free.length);
  return [...missing.filter(({ kind }) => kind !== "name"), ...names].map(({ kind, text }): Flag => {
    const what = kind === "number" ? `the number ${text}` : `"${text}"`;
    return { name: "literal-missing", evidence: `The query lacks ${what}.`, place: "WHERE" };
  });
}

/** A number, or its neighbour behind the other comparison: at least 10 is more than 9; also in the name of a thing (`:Branch_1`). */
const hasNumber = ({ literals, limit, things }: QueryFacts, number: number): boolean =>
  limit === number ||
  [...things].some((iri) => numbersIn(localName(iri)).includes(String(number))) ||
  literals.some(({ value, operator = "" }) => {
    const by = /^[<>]/u.test(operator) ? 1 : 0;
    const isNear = value.trim() !== "" && Math.abs(Number(value) - number) <= by;
    return isNear || numbersIn(value).includes(String(number));
  });

const numbersIn = (text: string): readonly string[] => text.match(/\d[\d.]*/gu) ?? [];

const amount = "(?<number>\\d[\\d,.]*\\d|\\d|one|two|three|four|five|six|seven|eight|nine|ten)\\b";
const behind = `\\s+(?:the )?(?:year |age )?(?:of )?${amount}(?! or | and (?:above|over|later))`;
const unlessNot = "(?<!\\b(?:no|not) (?:\\w+ )?)\\b";
const than = (words: string): string => `(?:${words})(?: \\w+)? than`;

interface Wanted {
  readonly words: RegExp;
  /** Operators with this meaning, the second with its number shifted by `by`. */
  readonly operators: readonly [operator: string, other: string, by: number];
}

/** Words around a number. */
const comparisons: readonly Wanted[] = [
  [`\\b(?:at least|no fewer than|no less than)${behind}`, ">=", ">", -1] as const,
  [`\\b${amount} or (?:more|above|over|later|after)\\b`, ">=", ">", -1] as const,
  [
    `${unlessNot}(?:${than("more|greater|larger|higher|bigger|heavier|older|longer|later")}|over|above|after|exceed\\w*)${behind}`,
    ">",
    ">=",
    1,
  ] as const,
  [
    `${unlessNot}(?:${than("fewer|less|younger|smaller|lower|shorter|lighter|earlier")}|under|below|before)${behind}`,
    "<",
    "<=",
    -1,
  ] as const,
  [`\\b(?:at most|no more than|up to)${behind}`, "<=", "<", 1] as const,
  [`\\b${amount} or (?:less|fewer|below|under|earlier)\\b`, "<=", "<", 1] as const,
].map(([words, ...operators]) => ({ words: new RegExp(words, "gu"), operators }));

/** Comparisons of the question that the query makes otherwise. */
function comparisonFlags({ question, facts }: Audited): readonly Flag[] {
  if (facts.operators.has("!")) return [];
  return comparisons.flatMap(({ words, operators: [operator, other, by] }) =>
    [...question.text.matchAll(words)].flatMap(({ 0: phrase, groups }): readonly Flag[] => {
      const number = numberOf(groups?.["number"] ?? "");
      const compared = facts.literals.filter((each) => each.operator !== undefined);
      const isSaid = compared.some((each) => isComparison(each.operator, Number(each.value)));
      const otherwise = compared.find(({ value }) => Math.abs(Number(value) - number) <= 1);
      if (isSaid || otherwise === undefined) return [];
      const evidence = `The question says "${phrase}"; the query compares with ${otherwise.operator} ${otherwise.value}.`;
      return [{ name: "condition-missing", evidence, place: `${otherwise.operator} ${otherwise.value}` }];

      function isComparison(used: string | undefined, value: number): boolean {
        return (used === operator && value === number) || (used === other && value === number + by);
      }
    }),
  );
}

const negation =
  /\b(?:not|no|without|never|except|excluding|neither|none|don't|doesn't|didn't|isn't|aren't)\b(?! (?:only|matter)\b)(?! (?:\w+ ){0,2}(?:more|less|fewer|minimum|maximum)\b)(?<!\bfor no)/u;
const negated = ["minus", "notexists", "!", "!=", "notin"];
const superlatives =
  /\b(?:(?<!at )(?:most|least)|fewest|maximum|minimum|top|(?!west|inter|request|guest|forest|test|rest|contest|dest)\w{3,}est)\b(?! \w+ed by)/u;
/** Words that questions use for other things than a property of this name. */
const vague =
  /^(?:type|name|code|number|date|time|year|order|details|description|total|part|group|list|first|last)s?$/u;
const ordering = /\b(?:order(?:ed)? (?:by|of)|sort(?:ed)?|alphabetical(?:ly)?|(?:de|a)scending)\b/u;
const most = /\b(?<!at )(?:most|highest|largest|greatest|biggest|maximum)\b/u;
const least = /\b(?<!at )(?:least|fewest|lowest|smallest|minimum)\b/u;

interface Wording {
  readonly isMissing: (audited: Audited) => boolean;
  readonly evidence: string;
  readonly place: string;
}

const has = ({ operators }: QueryFacts, ...names: readonly string[]): boolean =>
  names.some((name) => operators.has(name));
const ordersBy = ({ orders, limit, query }: QueryFacts, descending: boolean): boolean =>
  limit !== undefined &&
  orders.length === 1 &&
  orders[0]?.descending === descending &&
  !/ORDER.*ORDER/su.test(query.text);

/** Wordings of questions, each with the construct that the query then has. */
const wordings: readonly Wording[] = [
  {
    isMissing: ({ question, facts }) =>
      negation.test(question.text) &&
      !has(facts, ...negated) &&
      !facts.literals.some(({ value, operator }) => operator !== undefined && Number(value) === 0),
    evidence: "The question excludes something; the query has no negation.",
    place: "WHERE",
  },
  {
    isMissing: ({ question: { text }, facts }) =>
      /.\band\b/u.test(/\bboth\b(.*)/u.exec(text)?.[1] ?? "") &&
      !/\bor\b/u.test(text) &&
      has(facts, "||", "union") &&
      !has(facts, "minus", "notexists"),
    evidence: "The question asks for both; the query takes either.",
    place: "||",
  },
  {
    isMissing: ({ question: { text }, facts }) =>
      superlatives.test(text) &&
      facts.orders.length === 0 &&
      !has(facts, "max", "min", "notexists", "minus") &&
      !/\b(?:LIMIT|ORDER)\b/iu.test(facts.query.text),
    evidence: "The question asks for an extreme; the query neither orders nor takes a maximum or minimum.",
    place: "SELECT",
  },
  {
    isMissing: ({ question: { text }, facts }) => ordering.test(text) && !/\bORDER\b/iu.test(facts.query.text),
    evidence: "The question asks for an order; the query has none.",
    place: "ORDER BY",
  },
  {
    isMissing: ({ question: { text }, facts }) =>
      (most.test(text) && !least.test(text) && ordersBy(facts, false)) ||
      (least.test(text) && !most.test(text) && ordersBy(facts, true)),
    evidence: "The query orders the other way round than the question.",
    place: "ORDER BY",
  },
];

/** Conditions of the question that the query lacks. */
export const conditionFlags = (audited: Audited): readonly Flag[] => [
  ...comparisonFlags(audited),
  ...wordings
    .filter(({ isMissing }) => isMissing(audited))
    .map(({ evidence, place }): Flag => ({ name: "condition-missing", evidence, place })),
  ...valueFlags(audited),
  ...unreadFlags(audited),
];

/** Values of the data that the question has a word for and the query does not ask for. */
function valueFlags({ question, facts, data }: Audited): readonly Flag[] {
  if (data === undefined) return [];
  const constants = constantsOf(facts);
  const vocabulary = vocabularyOf(data);
  return question.words.flatMap((word): readonly Flag[] => {
    const written = [word, word.replace(/s$/u, ""), word.charAt(0).toUpperCase() + word.slice(1)];
    const properties = written.map((each) => data.propertiesOf.get(each)).find((each) => each !== undefined);
    if (properties === undefined || word.length < 3 || !Number.isNaN(Number(word))) return [];
    if (mentionsAny([word], vocabulary) || constants.some((constant) => says(constant, word))) return [];
    const evidence = `The question says "${word}", a value of ${[...properties].flatMap(wordsOf).join(" ")}; the query does not ask for it.`;
    return [{ name: "condition-missing", evidence, place: "WHERE" }];
  });
}

/** Properties of the query's classes that the question has a word for and the query does not read. */
function unreadFlags({ question, facts, data }: Audited): readonly Flag[] {
  const read = [...facts.terms].flatMap(wordsOf).concat([...facts.operators]);
  const classes = new Set([...facts.classes.values()].flatMap((each) => Array.from(each)));
  const unread = new Set(
    [...classes].flatMap((name) => Array.from(data?.classes.get(name) ?? [])).filter((name) => !facts.terms.has(name)),
  );
  const isSaid = (word: string): boolean =>
    word.length > 3 && !superlatives.test(word) && !vague.test(word) && question.words.includes(word);
  return [...unread].flatMap((property): readonly Flag[] => {
    const words = wordsOf(property);
    const isAsked = words.length > 0 && words.every(isSaid);
    if (!isAsked || words.some((word) => read.some((each) => mentions([word], each)))) return [];
    const evidence = `The question says "${words.join(" ")}", a property that the query does not read.`;
    return [{ name: "condition-missing", evidence, place: "WHERE" }];
  });
}
