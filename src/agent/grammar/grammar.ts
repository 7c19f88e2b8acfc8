import { itemAt } from "../../values.ts";

/**
 * Derivation of a rule: a literal text, a rule by its name, all of these in order, one of these, one or nothing, or
 * characters of a set (`a-z0-9`, `^"` for all but a quote; written alike in GBNF and in regular expressions).
 */
export type Expression =
  | string
  | { readonly rule: string }
  | { readonly all: readonly Expression[] }
  | { readonly any: readonly Expression[] }
  | { readonly optional: Expression }
  | { readonly set: string; readonly least: number; readonly most: number };

/** A context-free grammar without recursion; it derives finitely many shapes of sentences. */
export interface Grammar {
  /** Lines for people, without line breaks. */
  readonly comments: readonly string[];
  /** In the order of use; the first is the start. Names are lower-case letters, digits and `-`. */
  readonly rules: ReadonlyMap<string, Expression>;
}

/** The dialects in which a grammar is served: llama.cpp's, and Lark's as llguidance reads it. */
export type GrammarDialect = "gbnf" | "lark";

/** The grammar as text, ending with a line break. */
export function writeGrammar({ comments, rules }: Grammar, dialect: GrammarDialect): string {
  const { comment, define, start, write } = dialects[dialect];
  const [first = ""] = rules.keys();
  const lines = [...rules].map(([name, expression]) => define(name, write(expression)));
  return [...comments.map((line) => `${comment} ${line}`), start(first), ...lines, ""].join("\n");
}

interface Dialect {
  readonly comment: string;
  readonly start: (rule: string) => string;
  readonly define: (rule: string, body: string) => string;
  readonly write: (expression: Expression) => string;
}

/** In capitals it is a terminal: without recursion all of it is one, so that no lexer splits a query by its own rules. */
const larkName = (rule: string): string => rule.replaceAll("-", "_").toUpperCase();

const dialects: Readonly<Record<GrammarDialect, Dialect>> = {
  gbnf: {
    comment: "#",
    start: (rule) => `root ::= ${rule}`,
    define: (rule, body) => `${rule} ::= ${body}`,
    write: writer(
      (rule) => rule,
      ({ set, least, most }) => `[${set}]{${least},${most}}`,
    ),
  },
  lark: {
    comment: "//",
    start: (rule) => `start: ${larkName(rule)}`,
    define: (rule, body) => `${larkName(rule)}: ${body}`,
    write: writer(larkName, ({ set, least, most }) => `/[${set.replaceAll("/", "\\/")}]{${least},${most}}/`),
  },
};

type CharacterSet = Extract<Expression, { set: string }>;

/** Both dialects share all but names and sets of characters; JSON's escapes of texts are theirs as well. */
function writer(name: (rule: string) => string, characters: (set: CharacterSet) => string) {
  const nested = (expression: Expression): string => {
    const isList = typeof expression === "object" && ("any" in expression || "all" in expression);
    return isList ? `(${write(expression)})` : write(expression);
  };
  const write = (expression: Expression): string => {
    if (typeof expression === "string") return JSON.stringify(expression);
    if ("rule" in expression) return name(expression.rule);
    if ("all" in expression) return expression.all.map((each) => nested(each)).join(" ");
    if ("any" in expression)
      return expression.any.map((each) => ("all" in Object(each) ? write(each) : nested(each))).join(" | ");
    if ("optional" in expression) return `(${write(expression.optional)})?`;
    return characters(expression);
  };
  return write;
}

/** All in order; undefined when one of them cannot be derived. Neighbouring texts become one. */
export function all(...parts: readonly (Expression | undefined)[]): Expression | undefined {
  const joined: Expression[] = [];
  if (parts.includes(undefined)) return undefined;
  const flat = parts.flatMap((part) => (typeof part === "object" && "all" in part ? part.all : (part ?? "")));
  for (const part of flat) {
    const last = joined.at(-1);
    if (part === "") continue;
    if (typeof part === "string" && typeof last === "string") joined[joined.length - 1] = last + part;
    else joined.push(part);
  }
  const [first = "", ...rest] = joined;
  return rest.length === 0 ? first : { all: joined };
}

/** One of those that can be derived; undefined when none can. */
export function any(...parts: readonly (Expression | undefined)[]): Expression | undefined {
  const possible = parts.filter((part) => part !== undefined);
  const [first, ...rest] = possible;
  return rest.length === 0 ? first : { any: possible };
}

/** This or nothing. */
export const maybe = (part: Expression | undefined): Expression =>
  part === undefined || part === "" ? "" : { optional: part };

/**
 * One of many texts; undefined for none. What several begin with is written once: a decoder that follows all alternatives
 * at once has then as many to follow as there are next characters, not as there are texts.
 */
export function oneOf(texts: Iterable<string>): Expression | undefined {
  return shared([...new Set(texts)].toSorted());
}

function shared(sorted: readonly string[]): Expression | undefined {
  const groups = Map.groupBy(sorted, (text) => /^./su.exec(text)?.[0] ?? "");
  const endsHere = groups.delete("");
  const branches = [...groups.values()].map((group) => {
    const start = commonStart(itemAt(group, 0), itemAt(group, group.length - 1));
    return group.length === 1 ? group[0] : all(start, shared(group.map((text) => text.slice(start.length))));
  });
  const choice = any(...branches);
  return endsHere ? maybe(choice) : choice;
}

/** Common start of a sorted list of texts, from its first and last; never half of a surrogate pair. */
function commonStart(first: string, last: string): string {
  let length = 0;
  while (length < first.length && first[length] === last[length]) length++;
  if (/[\uD800-\uDBFF]$/.test(first.slice(0, length))) length--;
  return first.slice(0, length);
}
