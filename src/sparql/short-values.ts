import { createHash } from "node:crypto";
import type { FedwayError } from "../errors/fedway-error.ts";
import { isWord, syntaxError, type Token } from "./tokens.ts";

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
