import type { FedwayError } from "../errors/fedway-error.ts";
import { offsetAt, syntaxError, type Token, isWord } from "./tokens.ts";
import { createHash } from "node:crypto";
import type { ParserFailure } from "./parser-tables.ts";

/** At most six of the tokens that would fit, in the reader's words. */
function expectation(expected: readonly string[]): string | undefined {
  const readable = new Map([
    ["'IRIREF'", "an IRI"],
    ["'PNAME_NS'", "a prefixed name"],
    ["'VAR'", "a variable"],
    ["'EOF'", "the end of the query"],
    ["'STRING_LITERAL1'", "a string"],
    ["'INTEGER'", "a number"],
  ]);
  const words = expected.map((token) => readable.get(token) ?? (/^'[A-Z]+'$|^'[{}().;,]'$/.test(token) ? token : ""));
  const shown = [...new Set(words.filter((word) => word !== ""))].slice(0, 6);
  return shown.length > 0 ? `Expected here: ${shown.join(", ")}.` : undefined;
}

/** Messages of sparqljs that carry no location, and the token they speak of. */
const unlocated: readonly (readonly [RegExp, (name: string, tokens: readonly Token[]) => Token | undefined])[] = [
  [
    /^Unknown prefix: (.*)$/s,
    (name, tokens) => tokens.find((t) => t.kind === "pname" && t.text.startsWith(`${name}:`)),
  ],
  [
    /^Cannot resolve relative IRI (.*) because/s,
    (name, tokens) =>
      tokens.find((t) => t.kind === "iri" && t.text === `<${name}>`) ??
      tokens.find((t) => t.kind === "iri" && !/^<[A-Za-z][A-Za-z0-9+.-]*:/.test(t.text)),
  ],
  [/^Variable used to bind is already bound \(\?(.*)\)$/s, (name, tokens) => assigned(name, tokens)],
  [/^Target id of 'AS' \(\?(.*)\) already used/s, (name, tokens) => assigned(name, tokens)],
  [
    /^Two or more of the resulting columns have the same name \(\?(.*)\)$/s,
    (name, tokens) => tokens.filter((t) => t.kind === "var" && t.text.slice(1) === name)[1],
  ],
  [/^Inconsistent VALUES length/, (_, tokens) => tokens.find((t) => t.kind === "word" && t.text === "VALUES")],
  [/SPARQL-star/, (_, tokens) => tokens.find((t) => t.kind === "punct" && t.text === "<<")],
  [/^Detected illegal blank node/, (_, tokens) => tokens.find((t) => t.kind === "blank")],
];

function assigned(name: string, tokens: readonly Token[]): Token | undefined {
  return tokens.find((t, i) => t.kind === "var" && t.text.slice(1) === name && tokens[i - 1]?.text === "AS");
}

const advice: readonly (readonly [RegExp, string])[] = [
  [/relative IRI/, "Declare BASE <...> or write the IRI in full."],
  [/already bound|already used/, "Assign to a variable that is not in scope yet."],
  [/same name/, "Give each column its own name."],
  [/VALUES length/, "Give each row as many values as there are variables; UNDEF stands for none."],
  [/SPARQL-star/, "Write the statement without quoted triples."],
];

/** What the parser threw, as a `QUERY_SYNTAX` error that always has a line and a column. */
export function locateParserError(text: string, tokens: readonly Token[], thrown: unknown): FedwayError {
  if (thrown instanceof RangeError) return tooDeep(text);
  const failure: ParserFailure = thrown instanceof Error ? thrown : new Error(String(thrown));
  const { message, hash } = failure;
  if (hash?.loc) return grammarError({ text, tokens, loc: hash.loc, expected: hash.expected ?? [] });
  const start = (spokenOf(message, tokens) ?? tokens[0])?.start ?? 0;
  // What it does not say on purpose is a failure of its own.
  if (!unlocated.some(([pattern]) => pattern.test(message))) {
    return syntaxError(text, start, { message: "The parser fails at this query.", next: "Write it in another way." });
  }
  const next = advice.find(([pattern]) => pattern.test(message))?.[1];
  const told = message.slice(0, 200).replace(/[.]?$/, ".");
  return syntaxError(text, start, { message: told, next });
}

/** The error for expressions whose evaluation would overflow a stack. */
export function tooDeep(text: string): FedwayError {
  return syntaxError(text, 0, { message: "The query is nested too deeply.", next: "Write it with less nesting." });
}

function spokenOf(message: string, tokens: readonly Token[]): Token | undefined {
  for (const [pattern, find] of unlocated) {
    const hit = pattern.exec(message);
    const token = hit ? find(hit[1] ?? "", tokens) : undefined;
    if (token) return token;
  }
  return undefined;
}

interface GrammarFailure {
  readonly text: string;
  readonly tokens: readonly Token[];
  readonly loc: { readonly last_line: number; readonly last_column: number };
  readonly expected: readonly string[];
}

/** jison gives the end of the last good token; the offending one is the next. */
function grammarError({ text, tokens, loc, expected }: GrammarFailure): FedwayError {
  const good = offsetAt(text, loc.last_line, loc.last_column);
  const bad = tokens.find((token) => token.start >= good);
  const next = expectation(expected);
  const message = bad
    ? `Unexpected ${JSON.stringify(text.slice(bad.start, Math.min(bad.end, bad.start + 60)))}.`
    : "The query ends too early.";
  return syntaxError(text, bad?.start ?? text.length, { message, next });
}

/** Data of fewer tokens are left to the parser. */
const leftToParser = 1_000;

/**
 * A text with the same syntax tree but for the data of large VALUES blocks, which are checked here: sparqljs takes 10
 * microseconds for each of their tokens. Two rows stand for a block's: the first says which data they were, the second has
 * UNDEF where any row has. Everything else keeps its line and column.
 * @throws FedwayError `QUERY_SYNTAX`
 */
export function withShortValues(text: string, tokens: readonly Token[]): string {
  const source: Source = { text, tokens, hasBase: tokens.some((token) => isWord(token, "BASE")) };
  const parts: string[] = [];
  let done = 0;
  for (let at = 0; at < tokens.length; at++) {
    const block = isWord(tokens[at], "VALUES") ? blockAt(tokens, at) : undefined;
    if (!block || block.to - block.from <= leftToParser) continue;
    const rows = checkedRows(source, block);
    const [start, end] = [tokens[block.from]?.start ?? 0, tokens[block.to]?.start ?? text.length];
    parts.push(text.slice(done, start), inPlaceOf(text.slice(start, end), rows));
    done = end;
    at = block.to;
  }
  return done === 0 ? text : parts.join("") + text.slice(done);
}

interface Block {
  /** Columns; undefined: one, without brackets. */
  readonly columns: number | undefined;
  /** First token behind the brace that opens the data. */
  readonly from: number;
  /** The brace that closes them. */
  readonly to: number;
}

function blockAt(tokens: readonly Token[], at: number): Block | undefined {
  const open = braceFrom(tokens, at);
  const to = braceFrom(tokens, open + 1);
  if (to >= tokens.length) return undefined;
  const isTuple = tokens[at + 1]?.text === "(";
  return { columns: isTuple ? open - at - 3 : undefined, from: open + 1, to };
}

function braceFrom(tokens: readonly Token[], from: number): number {
  let at = from;
  while (at < tokens.length && !(tokens[at]?.kind === "punct" && "{}".includes(tokens[at]?.text ?? ""))) at++;
  return at;
}

interface Source {
  readonly text: string;
  readonly tokens: readonly Token[];
  /** Relative IRIs are allowed. */
  readonly hasBase: boolean;
}

/** The rows that stand for the block's. */
function checkedRows(source: Source, { columns, from, to }: Block): string {
  const { tokens } = source;
  const width = columns ?? 1;
  const undefs = new Set<number>();
  const digest = createHash("sha1");
  for (let at = from; at < to; ) {
    if (columns !== undefined) at = behindBracket(source, at, "(");
    for (let column = 0; column < width; column++) {
      if (isWord(tokens[at], "UNDEF")) undefs.add(column);
      const behind = behindCell(source, at);
      for (; at < behind; at++) digest.update(`${tokens[at]?.text} `);
    }
    if (columns !== undefined) at = behindBracket(source, at, ")");
  }
  const mark = JSON.stringify(digest.digest("base64"));
  const cells = Array.from({ length: width }, (_, column) => (undefs.has(column) ? "UNDEF" : mark));
  const row = (each: readonly string[]): string => (columns === undefined ? each.join(" ") : `(${each.join(" ")})`);
  return `${row(cells.map(() => mark))} ${row(cells)}`;
}

function wrong({ text, tokens }: Source, at: number): FedwayError {
  return syntaxError(text, tokens[at]?.start ?? text.length, {
    message: "A row of VALUES is not as it should be.",
    next: "Give each row as many IRIs, literals or UNDEF as there are variables, in round brackets.",
  });
}

function behindBracket(source: Source, at: number, bracket: string): number {
  if (source.tokens[at]?.text !== bracket) throw wrong(source, at);
  return at + 1;
}

/** The token behind the cell that begins here. */
function behindCell(source: Source, at: number): number {
  const behind = behindTerm(source, at);
  if (behind === undefined) throw wrong(source, at);
  return behind;
}

function behindTerm({ tokens, hasBase }: Source, at: number): number | undefined {
  const token = tokens[at];
  switch (token?.kind) {
    case "iri":
      return hasBase || /^<[A-Za-z][A-Za-z0-9+.-]*:/.test(token.text) ? at + 1 : undefined;
    case "pname":
    case "number":
      return at + 1;
    case "word":
      return isWord(token, "TRUE", "FALSE", "UNDEF") ? at + 1 : undefined;
    case "string":
      return behindString(tokens, at);
    default:
      return isSignOfNumber(tokens, at) ? at + 2 : undefined;
  }
}

function behindString(tokens: readonly Token[], at: number): number | undefined {
  if (tokens[at + 1]?.kind === "lang") return at + 2;
  if (tokens[at + 1]?.text !== "^^") return at + 1;
  return ["iri", "pname"].includes(tokens[at + 2]?.kind ?? "") ? at + 3 : undefined;
}

function isSignOfNumber(tokens: readonly Token[], at: number): boolean {
  const [sign, number] = [tokens[at], tokens[at + 1]];
  return (sign?.text === "+" || sign?.text === "-") && number?.kind === "number" && number.start === sign.end;
}

/** The rows, with as many lines as the data had, and the last of them as long. */
function inPlaceOf(data: string, rows: string): string {
  const lines = data.replaceAll(/[^\r\n]+/g, "");
  const lastLine = data.length - 1 - Math.max(data.lastIndexOf("\n"), data.lastIndexOf("\r"));
  return rows + lines + " ".repeat(lines === "" ? Math.max(0, data.length - rows.length) : lastLine);
}
