import { iriText, stringText } from "../../src/rdf/term-text.ts";
import { type TextEdit, type TokenRange, type Query, parseQuery, type Token } from "../../src/sparql/query.ts";
import type { DataFacts } from "../../shards/src/audit/data-facts.ts";
import { type QueryFacts, readFacts } from "../../shards/src/audit/query-facts.ts";
import { valueOf } from "../../shards/src/package/whole-store.ts";
import type { Random } from "./random.ts";

/** Kinds of faults, each with the flags of which one has to name it. */
export const faultKinds = {
  "a column that orders": ["column-not-asked"],
  "another column": ["column-not-asked"],
  "a condition less": ["literal-missing", "condition-missing"],
  "a misspelt constant": ["constant-unmatched", "literal-missing"],
  "a number as text": ["number-as-text"],
  "another group": ["grouped-otherwise"],
  "a limit through ties": ["limit-cuts-ties"],
  "no answer": ["empty"],
  "another comparison": ["condition-missing"],
  "another query": ["duplicate"],
} as const;
export type FaultKind = keyof typeof faultKinds;

interface Planting {
  readonly question: string;
  readonly query: Query;
  readonly facts: QueryFacts;
  readonly data: DataFacts;
  readonly random: Random;
}

/** Texts of a right query with one fault each; no text for kinds that it has no place for. */
export function plantFaults(
  { text, question }: { readonly text: string; readonly question: string },
  data: DataFacts,
  random: Random,
): ReadonlyMap<FaultKind, string> {
  const query = parseQuery(text);
  const planting = { query, question: question.toLowerCase(), facts: readFacts(query), data, random };
  const faults = new Map<FaultKind, string>();
  for (const [kind, plant] of Object.entries(plants)) {
    const edits = plant(planting);
    if (edits !== undefined) faults.set(kind as FaultKind, parseQuery(query.cut(edits)).text);
  }
  return faults;
}

type Plant = (planting: Planting) => readonly TextEdit[] | undefined;

const plants: Readonly<Partial<Record<FaultKind, Plant>>> & Record<string, Plant> = {
  "a column that orders": ({ query, facts }) => {
    const [key] = facts.orders.flatMap(({ variables }) => variables);
    const isPlain = facts.columns.every(({ aggregate }) => aggregate === undefined) && facts.keys === undefined;
    if (!isPlain || facts.limit === undefined || key === undefined) return undefined;
    return facts.columns.some(({ name }) => name === key) ? undefined : [behind(query, headEnd(query), ` ?${key}`)];
  },
  "another column": (planting) => {
    const { query, facts } = planting;
    const name = facts.columns[0]?.name;
    if (name === undefined || facts.keys !== undefined || isAggregated(facts)) return undefined;
    const pattern = otherProperty(planting, name);
    return pattern && [behind(query, headEnd(query), " ?other"), pattern];
  },
  "a condition less": ({ query, random }) => {
    const filters = (query.outline.where?.elements ?? []).filter(
      (element) => element.kind === "filter" && element.groups.length === 0 && constants(query, element).length > 0,
    );
    if (filters.length === 0) return undefined;
    const { from, to } = random.pick(filters);
    const isDotted = query.tokens[to]?.text === ".";
    const isApart = [".", "{", "}"].includes(query.tokens[from - 1]?.text ?? "");
    return [{ range: { from, to: isDotted ? to + 1 : to }, replacement: isApart ? "" : " . " }];
  },
  "a misspelt constant": ({ query, random }) => {
    const texts = whereTokens(query).filter(({ token }) => token.kind === "string" && /\p{L}{3}/u.test(token.text));
    if (texts.length === 0) return undefined;
    const { at, token } = random.pick(texts);
    return [{ range: { from: at, to: at + 1 }, replacement: misspelt(token.text, random) }];
  },
  "a number as text": ({ query, random }) => {
    const numbers = whereTokens(query).filter(
      ({ at, token }) => token.kind === "number" && isComparison(query.tokens[at - 1]),
    );
    if (numbers.length === 0) return undefined;
    const { at, token } = random.pick(numbers);
    return [{ range: { from: at, to: at + 1 }, replacement: `'${token.text}'` }];
  },
  "another group": (planting) => {
    const { query, facts } = planting;
    const [key] = facts.keys ?? [];
    if (key === undefined || facts.keys?.length !== 1) return undefined;
    const pattern = otherProperty(planting, key);
    if (pattern === undefined) return undefined;
    const { head, tail } = query.outline;
    const uses = query.tokens.flatMap((token, at) =>
      token.text === `?${key}` && [head, tail].some(({ from, to }) => at >= from && at < to)
        ? [{ range: { from: at, to: at + 1 }, replacement: "?other" }]
        : [],
    );
    return [...uses, pattern];
  },
  "a limit through ties": ({ query, facts, random }) => {
    if (
      facts.columns.length === 0 ||
      facts.limit !== undefined ||
      facts.orders.length > 0 ||
      isAggregated(facts) ||
      facts.keys !== undefined
    )
      return undefined;
    const { name } = random.pick(facts.columns);
    const end = query.tokens.length - 1;
    return [behind(query, end, ` ORDER BY ?${name} LIMIT ${1 + random.below(3)}`)];
  },
  "no answer": ({ query, facts, data, random }) => {
    const used = facts.literals.filter(({ operator, properties }) => operator === "=" && properties.length > 0);
    if (used.length === 0 || facts.operators.has("||")) return undefined;
    const { value, properties } = random.pick(used);
    const others = (data.values.get(properties[0] ?? "") ?? [])
      .map(valueOf)
      .filter((each) => each !== value && /\p{L}/u.test(each));
    const name = [...facts.properties].find(([, of]) => of.has(properties[0] ?? ""))?.[0];
    const where = query.outline.where;
    if (others.length === 0 || where === undefined || name === undefined || !/\p{L}/u.test(value)) return undefined;
    return [behind(query, where.to - 2, ` FILTER(?${name} = ${stringText(random.pick(others))})`)];
  },
  "another comparison": ({ query, random }) => {
    const places = query.tokens.flatMap((token, at) =>
      ["<", ">", "<=", ">="].includes(token.text) && query.tokens[at + 1]?.kind === "number" ? [{ at, token }] : [],
    );
    if (places.length === 0) return undefined;
    const { at, token } = random.pick(places);
    const other = random.pick(["<", ">", "<=", ">="].filter((each) => each !== token.text));
    return [{ range: { from: at, to: at + 1 }, replacement: other }];
  },
};

const isAggregated = ({ columns }: QueryFacts): boolean => columns.some(({ aggregate }) => aggregate !== undefined);
const isComparison = (token: Token | undefined): boolean => ["=", "<", ">", "<=", ">="].includes(token?.text ?? "");
const headEnd = ({ outline }: Query): number => outline.head.to - 1;

function behind(query: Query, at: number, more: string): TextEdit {
  const range = { from: at, to: at + 1 };
  return { range, replacement: query.textOf(range) + more };
}

function whereTokens({ tokens, outline }: Query) {
  const { from = 0, to = 0 } = outline.where ?? {};
  return tokens.slice(from, to).map((token, index) => ({ at: from + index, token }));
}

const constants = ({ tokens }: Query, { from, to }: TokenRange) =>
  tokens.slice(from, to).filter(({ kind }) => kind === "string" || kind === "number");

/** A pattern with a property of the same thing that the query does not read and the question has no word of. */
function otherProperty({ query, question, facts, data, random }: Planting, name: string): TextEdit | undefined {
  const [subject] = facts.subjects.get(name) ?? [];
  const [of] = facts.classes.get(subject ?? "") ?? [];
  const { where } = query.outline;
  const others = [...(data.classes.get(of ?? "") ?? [])].filter(
    (each) => data.values.has(each) && !facts.terms.has(each) && !isNamed(each),
  );
  function isNamed(property: string): boolean {
    const words = property.slice(property.lastIndexOf("#") + 1).split("_");
    return words.some((word) => question.includes(word.slice(0, 4)));
  }
  if (subject === undefined || where === undefined || others.length === 0) return undefined;
  return behind(query, where.from, ` ?${subject} ${iriText(random.pick(others))} ?other . `);
}

function misspelt(text: string, random: Random): string {
  const places = Array.from(text, (letter) => letter).flatMap((letter, at) =>
    at > 0 && /\p{L}/u.test(letter) && /\p{L}/u.test(text[at + 1] ?? "") && letter !== text[at + 1] ? [at] : [],
  );
  const at = random.pick(places);
  return `${text.slice(0, at)}${text[at + 1] ?? ""}${text[at] ?? ""}${text.slice(at + 2)}`;
}
