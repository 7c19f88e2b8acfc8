import { FedwayError } from "../../errors/fedway-error.ts";

/** Kind of a token; `invalid` is a character that starts no SPARQL 1.1 token. */
type TokenKind = "iri" | "pname" | "blank" | "var" | "string" | "number" | "lang" | "word" | "punct" | "invalid";

/** A token of a query text; offsets are UTF-16 code units, `end` is exclusive. */
export interface Token {
  readonly kind: TokenKind;
  readonly start: number;
  readonly end: number;
  /** The characters as written; words (keywords, function names) in upper case. */
  readonly text: string;
}

/** Bounds that keep parsing time and recursion small for any input. */
export const textLimits = {
  /** Open brackets of any kind at once. */
  nesting: 64,
  /** Tokens outside of VALUES data; the parser takes some microseconds for each. */
  tokens: 6_000,
  /** Tokens of VALUES data. */
  data: 50_000,
  /** Characters of one string literal; the parser's stack overflows at one with some more. */
  literal: 400_000,
  /** Characters that start no token. */
  invalid: 100,
} as const;

/** The bounds of a query that is evaluated here: planning parses it several times, and its evaluator all VALUES data. */
const evaluatedLimits = { tokens: 3_000, data: 10_000 } as const;

const nameChars =
  "0-9A-Za-z_\\u00B7\\u00C0-\\u00D6\\u00D8-\\u00F6\\u00F8-\\u037D\\u037F-\\u1FFF\\u200C\\u200D\\u203F\\u2040\\u2070-\\uFFFD";
const patterns: readonly (readonly [TokenKind, RegExp])[] = [
  // oxlint-disable-next-line no-control-regex -- IRIREF excludes exactly these (SPARQL 1.1 Query, grammar rule 139)
  ["iri", /<[^\u0000-\u0020<>"{}|^`\\]*>/y],
  ["var", new RegExp(`[?$][${nameChars}]+`, "y")],
  ["blank", new RegExp(`_:[${nameChars}](?:[${nameChars}.-]*[${nameChars}-])?`, "y")],
  [
    "pname",
    new RegExp(
      `(?:[A-Za-z\\u00C0-\\uFFFD](?:[${nameChars}.-]{0,200}[${nameChars}-])?)?:` +
        `(?:(?:[${nameChars}:]|%[0-9A-Fa-f]{2}|\\\\[_~.\\-!$&'()*+,;=/?#@%])` +
        `(?:[${nameChars}:-]|\\.+(?=[${nameChars}:%\\\\-])|%[0-9A-Fa-f]{2}|\\\\[_~.\\-!$&'()*+,;=/?#@%])*)?`,
      "y",
    ),
  ],
  ["lang", /@[A-Za-z]+(?:-[A-Za-z0-9]+)*(?:--(?:ltr|rtl)\b)?/y],
  ["number", /[0-9]+\.[0-9]*[eE][+-]?[0-9]+|[0-9]*\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+(?:[eE][+-]?[0-9]+)?/y],
  ["word", /[A-Za-z][A-Za-z0-9_]*/y],
  ["punct", /\^\^|<=|>=|!=|&&|\|\||<<|>>|[{}()[\].,;=<>!+\-*/|^?&~]/y],
];
const blanks = /(?:[\s\uFEFF]+|#[^\n\r]*)+/y;

function match(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : -1;
}

/** End of the string literal that opens at `at`, or -1 when it is never closed. */
function stringEnd(text: string, at: number): number {
  const quote = text.charAt(at);
  const long = text.startsWith(quote.repeat(3), at);
  const close = long ? quote.repeat(3) : quote;
  for (let i = at + close.length; i < text.length; i++) {
    const c = text[i];
    if (c === "\\") i++;
    else if (c === quote && text.startsWith(close, i)) return i + close.length;
    else if (!long && (c === "\n" || c === "\r")) return -1;
  }
  return -1;
}

function scanToken(text: string, at: number): Token {
  const c = text.charAt(at);
  if (c === '"' || c === "'") {
    const end = stringEnd(text, at);
    if (end > 0) return { kind: "string", start: at, end, text: text.slice(at, end) };
    return { kind: "invalid", start: at, end: at + 1, text: c };
  }
  for (const [kind, pattern] of patterns) {
    const end = match(pattern, text, at);
    if (end < 0) continue;
    const written = text.slice(at, end);
    const raw = kind === "word" ? written.slice(0, firstWordLength(written.toUpperCase())) : written;
    return { kind, start: at, end: at + raw.length, text: kind === "word" ? raw.toUpperCase() : raw };
  }
  return { kind: "invalid", start: at, end: at + 1, text: c };
}

const clauseWords: ReadonlySet<string> = new Set(
  (
    "SELECT DISTINCT REDUCED ASK WHERE FROM NAMED GROUP ORDER BY HAVING LIMIT OFFSET ASC DESC OPTIONAL SERVICE SILENT GRAPH " +
    "BIND MINUS UNION FILTER NOT VALUES EXISTS UNDEF TRUE FALSE"
  ).split(" "),
);
const calledWords: ReadonlySet<string> = new Set(
  (
    "IN AS STR LANG LANGMATCHES DATATYPE BOUND IRI URI BNODE RAND ABS CEIL FLOOR ROUND CONCAT STRLEN UCASE LCASE ENCODE_FOR_URI " +
    "CONTAINS STRSTARTS STRENDS STRBEFORE STRAFTER YEAR MONTH DAY HOURS MINUTES SECONDS TIMEZONE TZ NOW UUID STRUUID MD5 SHA1 " +
    "SHA256 SHA384 SHA512 COALESCE IF STRLANG STRDT SAMETERM ISIRI ISURI ISBLANK ISLITERAL ISNUMERIC REGEX SUBSTR REPLACE " +
    "COUNT SUM MIN MAX AVG SAMPLE GROUP_CONCAT LANGDIR HASLANG HASLANGDIR STRLANGDIR ISTRIPLE TRIPLE SUBJECT PREDICATE OBJECT"
  ).split(" "),
);
const otherWords: ReadonlySet<string> = new Set("BASE PREFIX VERSION CONSTRUCT DESCRIBE BY SEPARATOR A".split(" "));

/** True for a word of the grammar, in upper case. */
export const isKeyword = (word: string): boolean =>
  clauseWords.has(word) || calledWords.has(word) || otherWords.has(word);

const longestJoined = 40;

/** Keywords may follow each other without a blank, as in FILTERREGEX: the length of the first, or of the whole word. */
function firstWordLength(word: string): number {
  if (word.length > longestJoined || clauseWords.has(word) || calledWords.has(word)) return word.length;
  for (let end = word.length - 1; end > 1; end--) {
    const [first, rest] = [word.slice(0, end), word.slice(end)];
    // Every split of the rest would double the work.
    if (!clauseWords.has(first)) continue;
    const isFollowed = first === "GROUP" || first === "ORDER" ? rest.startsWith("BY") : isJoined(rest);
    if (isFollowed) return end;
  }
  return word.length;
}

function isJoined(word: string): boolean {
  const behind = word.replace(/^\d+/u, "");
  return behind === "" || clauseWords.has(behind) || calledWords.has(behind) || firstWordLength(behind) < behind.length;
}

/** Line and column (both from 1) of an offset; CR, LF and CRLF end a line. */
export function whereAt(text: string, offset: number): { readonly line: number; readonly column: number } {
  let line = 1;
  let lineStart = 0;
  for (const end of text.matchAll(/\r\n?|\n/g)) {
    const next = end.index + end[0].length;
    if (next > offset) break;
    line++;
    lineStart = next;
  }
  return { line, column: Math.max(1, Math.min(offset, text.length) - lineStart + 1) };
}

/** Offset of a line, from 1, and a column, from 0. */
export function offsetAt(text: string, line: number, column: number): number {
  let start = 0;
  let current = 1;
  for (const end of text.matchAll(/\r\n?|\n/g)) {
    if (current === line) break;
    current++;
    start = end.index + end[0].length;
  }
  return start + column;
}

/** A `QUERY_SYNTAX` error at an offset of the text. */
export function syntaxError(
  text: string,
  offset: number,
  problem: { message: string; next?: string | undefined },
): FedwayError {
  return new FedwayError("QUERY_SYNTAX", problem.message, {
    where: whereAt(text, offset),
    ...(problem.next !== undefined && { next: problem.next }),
  });
}

/** Counts open brackets and tokens while a text is read, and refuses it beyond the bounds. */
class TextBounds {
  private readonly text: string;
  private readonly most: Readonly<Record<"tokens" | "data", number>>;
  private depth = 0;
  private readonly counted = { tokens: 0, data: 0 };
  /** Depth around the VALUES block that is being read, whose data is counted apart; -1 outside of one. */
  private valuesDepth = -1;
  private afterValues = false;

  constructor(text: string, most: Readonly<Record<"tokens" | "data", number>>) {
    this.text = text;
    this.most = most;
  }

  see(token: Token): void {
    const kind = this.valuesDepth < 0 ? "tokens" : "data";
    this.counted[kind]++;
    if (token.kind === "word") this.afterValues = token.text === "VALUES";
    if (token.kind === "punct") this.bracket(token);
    if (token.text.length > textLimits.literal && token.kind === "string") throw this.tooLong(token);
    if (this.counted[kind] > this.most[kind]) throw this.tooMany(kind, token);
  }

  private tooMany(kind: "tokens" | "data", { start }: Token): FedwayError {
    const what = kind === "data" ? "tokens of VALUES data" : "tokens outside VALUES data";
    const here = this.most === evaluatedLimits ? ", which is the most for one that is evaluated here" : "";
    return new FedwayError("QUERY_TOO_LARGE", `The query has more than ${this.most[kind]} ${what}${here}.`, {
      where: whereAt(this.text, start),
      next: kind === "data" ? "Send its values in several queries." : "Split the query, or move constants into VALUES.",
    });
  }

  private tooLong({ start }: Token): FedwayError {
    return new FedwayError("QUERY_TOO_LARGE", `A literal has more than ${textLimits.literal} characters.`, {
      where: whereAt(this.text, start),
      next: "Send shorter literals.",
    });
  }

  private bracket(token: Token): void {
    if (token.text === "{" && this.afterValues) {
      this.valuesDepth = this.depth;
      this.afterValues = false;
    }
    if ("{([".includes(token.text)) this.depth++;
    else if ("})]".includes(token.text)) this.depth--;
    if (this.depth === this.valuesDepth) this.valuesDepth = -1;
    if (this.depth <= textLimits.nesting) return;
    throw syntaxError(this.text, token.start, {
      message: `Brackets are nested more than ${textLimits.nesting} deep.`,
      next: "Write the query with less nesting.",
    });
  }
}

/**
 * The tokens of a query text, without white space and comments. Other characters are `invalid`; after
 * `textLimits.invalid` of them the rest of the text is left out.
 * @throws FedwayError for texts that would take the parser minutes or overflow its stack: `QUERY_SYNTAX` for brackets
 * nested too deep, `QUERY_TOO_LARGE` for too many tokens
 */
export function tokenize(text: string): readonly Token[] {
  const tokens: Token[] = [];
  const bounds = new TextBounds(text, textLimits);
  let at = 0;
  let invalid = 0;
  while (at < text.length && invalid < textLimits.invalid) {
    const after = match(blanks, text, at);
    if (after > 0) at = after;
    if (at >= text.length) break;
    const token = scanToken(text, at);
    bounds.see(token);
    tokens.push(token);
    if (token.kind === "invalid") invalid++;
    at = token.end;
  }
  return tokens;
}

/** True for tokens that are few enough, whatever they are. */
export const areFewToEvaluate = ({ length }: readonly Token[]): boolean => length <= evaluatedLimits.tokens;

/** @throws FedwayError `QUERY_TOO_LARGE` for a text that is too large to be evaluated here */
export function refuseLargeEvaluation(text: string, tokens: readonly Token[]): void {
  const bounds = new TextBounds(text, evaluatedLimits);
  for (const token of tokens) bounds.see(token);
}

/** True for a keyword, in whatever case it was written. */
export function isWord(token: Token | undefined, ...words: readonly string[]): boolean {
  return token?.kind === "word" && words.includes(token.text);
}

/** The keywords of a text, in upper case, and the kinds of its other tokens: what it lacks needs no further look. */
export const vocabularyOf = (tokens: readonly Token[]): ReadonlySet<string> =>
  new Set(tokens.map(({ kind, text }) => (kind === "word" ? text : kind)));
