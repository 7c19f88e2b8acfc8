import type * as RDF from "@rdfjs/types";
import { isLanguageTag } from "../../rdf/term-text.ts";
import { ExpressionError, longestComputed, tooLong } from "./expression-error.ts";
import { inLanguage, numberOf, simpleText, string, textOf } from "./values.ts";
import { truncate } from "./decimal.ts";
import { LRUCache } from "lru-cache";
import { RE2JS } from "re2js";

/** Two string literals, the second simple or in the language of the first (SPARQL 1.1 Query, section 17.4.3.1.2). */
export function compatible(a: RDF.Term, b: RDF.Term) {
  const [first, second] = [textOf(a), textOf(b)];
  if (second.language !== "" && second.language.toLowerCase() !== first.language.toLowerCase()) {
    throw new ExpressionError("The strings are in different languages.");
  }
  return { ...first, sought: second.text };
}

/** `fn:substring` with whole numbers: the characters at the positions from `start`, of which the first is 1. */
export function substring(source: RDF.Term, from: RDF.Term, count?: RDF.Term): RDF.Literal {
  const { text, language } = textOf(source);
  const start = position(from);
  const end = count === undefined ? Number.POSITIVE_INFINITY : start + position(count);
  const characters = Array.from(text);
  return inLanguage(characters.slice(Math.max(0, start - 1), Math.max(0, end - 1)).join(""), language);
}

function position(term: RDF.Term): number {
  const number = numberOf(term);
  if (number.type !== "integer") throw new ExpressionError("A position in a string is an integer.");
  return Number(truncate(number.exact));
}

/** STRBEFORE; without a match the empty string without a language. */
export function before(a: RDF.Term, b: RDF.Term): RDF.Literal {
  const { text, language, sought } = compatible(a, b);
  const at = text.indexOf(sought);
  return at < 0 ? string("") : inLanguage(text.slice(0, at), language);
}

/** STRAFTER; without a match the empty string without a language. */
export function after(a: RDF.Term, b: RDF.Term): RDF.Literal {
  const { text, language, sought } = compatible(a, b);
  const at = text.indexOf(sought);
  return at < 0 ? string("") : inLanguage(text.slice(at + sought.length), language);
}

/** CONCAT: in the language that all have; simple otherwise. */
export function concat(parts: readonly RDF.Term[]): RDF.Literal {
  const texts: string[] = [];
  const languages = new Set<string>();
  let length = 0;
  for (const part of parts) {
    const { text, language } = textOf(part);
    length += text.length;
    if (length > longestComputed) throw tooLong();
    texts.push(text);
    languages.add(language.toLowerCase());
  }
  const [only] = parts;
  return inLanguage(texts.join(""), only && languages.size === 1 ? textOf(only).language : "");
}

/** `fn:encode-for-uri`: all but the unreserved characters of RFC 3986. */
export const encodeForUri = (text: string): string =>
  encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );

/** LANGMATCHES: basic filtering (RFC 4647, section 3.3.1). */
export function languageMatches(a: RDF.Term, b: RDF.Term): boolean {
  const [tag, range] = [simpleText(a).toLowerCase(), simpleText(b).toLowerCase()];
  if (range === "*") return tag !== "";
  return tag === range || tag.startsWith(`${range}-`);
}

/** A language tag. @throws ExpressionError if invalid */
export function checkedTag(text: string): string {
  if (!isLanguageTag(text)) throw new ExpressionError("The text is no language tag.");
  return text;
}

// RE2JS compiles 4,096 characters in 0.2 s at most. It keeps up to 6 MB for each program that is used, however small.
const longestPattern = 4_096;
const mostInstructions = 10_000;
type Matcher = ReturnType<RE2JS["matcher"]>;

const compiled = new LRUCache<string, RE2JS>({ max: 20 });
// Characters of the text times instructions of the program: 25 ns each at worst, and the thread is blocked meanwhile.
const mostSteps = 2 ** 25;
// Searching once is linear, replacing all is not: each search may look at the whole rest of the text.
const longestReplaceMs = 1_000;

const flagBits = { i: RE2JS.CASE_INSENSITIVE, s: RE2JS.DOTALL, m: RE2JS.MULTILINE } as const;

/**
 * `fn:matches` in time linear in the text (XPath and XQuery Functions, section 5.6). The patterns come from anybody's
 * query; with the platform's backtracking engine one of them can stop the whole process, and no deadline could end it.
 * @throws ExpressionError for a pattern or flags that are not valid, and for too much work */
export function matches(text: string, pattern: string, flags = ""): boolean {
  return programFor(text, pattern, flags).test(text);
}

type ReplaceArguments = [text: string, pattern: string, replacement: string, flags?: string];

/** `fn:replace`; `$1` stands for a group, `$0` for the match. @throws ExpressionError as above */
export function replace(...[text, pattern, replacement, flags = ""]: ReplaceArguments): string {
  const matcher = programFor(text, pattern, flags).matcher(text);
  const fill = replacementOf(matcher, replacement, flags.includes("q"));
  const end = performance.now() + longestReplaceMs;
  let result = "";
  let at = 0;
  while (matcher.find()) {
    result += text.slice(at, matcher.start()) + fill();
    at = matcher.end();
    if (result.length > longestComputed) throw tooLong();
    if (performance.now() > end) throw new ExpressionError("REPLACE takes too long with this pattern and text.");
  }
  return result + text.slice(at);
}

/** Replacement of one match. */
function replacementOf(matcher: Matcher, replacement: string, isLiteral: boolean): () => string {
  if (isLiteral || !/[\\$]/.test(replacement)) return () => replacement;
  const references = replacement.split("$").length - 1;
  const group = (digit: string): string =>
    Number(digit) <= matcher.groupCount() ? (matcher.group(Number(digit)) ?? "") : "";
  return () => {
    if (replacement.length + references * (matcher.end() - matcher.start()) > longestComputed) throw tooLong();
    return replacement.replaceAll(
      /\\([\\$])|\$(\d)/g,
      (_, escaped?: string, digit?: string) => escaped ?? group(digit ?? ""),
    );
  };
}

function programFor(text: string, pattern: string, flags: string): RE2JS {
  if (text.length > longestComputed) throw tooLong();
  const program = compile(pattern, flags);
  if (text.length * program.programSize() <= mostSteps) return program;
  throw new ExpressionError("The regular expression is too large for a text of this length.");
}

function compile(pattern: string, flags: string): RE2JS {
  if (pattern.length + flags.length > longestPattern) {
    throw new ExpressionError(`A regular expression has at most ${longestPattern} characters.`);
  }
  const key = `${flags}/${pattern}`;
  const known = compiled.get(key);
  if (known) return known;
  const made = make(pattern, flags);
  if (made.programSize() > mostInstructions) throw new ExpressionError("The regular expression repeats too much.");
  compiled.set(key, made);
  return made;
}

function make(pattern: string, flags: string): RE2JS {
  if (!/^[imsxq]*$/.test(flags)) throw new ExpressionError("The flags of a regular expression are i, m, s, x and q.");
  const isLiteral = flags.includes("q");
  const spaced = flags.includes("x") && !isLiteral ? withoutBlanks(pattern) : pattern;
  const bits = Object.entries(flagBits).filter(([flag]) => flags.includes(flag) && (!isLiteral || flag === "i"));
  try {
    return RE2JS.compile(
      isLiteral ? RE2JS.quote(spaced) : spaced,
      bits.reduce((sum, [, bit]) => sum | bit, 0),
    );
  } catch (error) {
    throw new ExpressionError(`Not a regular expression: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Flag `x`: blanks count in character classes only. */
const withoutBlanks = (pattern: string): string =>
  pattern.replaceAll(/(\\.|\[(?:[^\]\\]|\\.)*\])|[\t\n\r ]/gs, (_, kept?: string) => kept ?? "");
