import { createRequire } from "node:module";
import type * as Traqula from "@traqula/parser-sparql-1-2";
import { FedwayError } from "../errors/fedway-error.ts";
import { syntaxError, type Token, tokenize } from "./tokens.ts";

type Sparql12 = typeof Traqula;

/** What only SPARQL 1.2 has: triple terms, reifiers, annotations, directional strings, VERSION and its functions. */
const onlyIn12 =
  /<<|\{\||~|--(?:ltr|rtl)\b|\bVERSION\b|\b(?:TRIPLE|SUBJECT|PREDICATE|OBJECT|isTRIPLE|LANGDIR|STRLANGDIR|hasLANG|hasLANGDIR)\s*\(/i;
/** A text that is larger is not parsed, UTF-16 code units. */
const longestText = 262_144;

let parser: InstanceType<Sparql12["Parser"]> | undefined;

/** The 1.2 grammar takes 0.13 s to load, and most services never see such a query. */
function sparql12Parser(): InstanceType<Sparql12["Parser"]> {
  if (parser === undefined) {
    const loaded: Sparql12 = createRequire(import.meta.url)("@traqula/parser-sparql-1-2");
    // Its types lack the handler, without which a syntax error has no place.
    const options = { parserConfig: {}, errorHandler: refuseToken };
    parser = new loaded.Parser(options);
  }
  return parser;
}

/** What the parser says of a token that it did not expect. */
interface TokenFailure {
  readonly token: { readonly startOffset: number };
}

class UnexpectedToken extends Error {
  readonly offset: number;

  constructor(offset: number) {
    super("unexpected token");
    this.offset = offset;
  }
}

function refuseToken([failure]: readonly TokenFailure[]): never {
  throw new UnexpectedToken(failure?.token.startOffset ?? Number.NaN);
}

/**
 * What a text that is no SPARQL 1.1 is in SPARQL 1.2 (https://www.w3.org/TR/sparql12-query/): a query, an update, or an error:
 * `QUERY_SYNTAX` with its place, `QUERY_TOO_LARGE` for more than 262,144 characters. Undefined where it has nothing of
 * SPARQL 1.2, or where the parser names no place.
 */
export function readAs12(text: string): "query" | "update" | FedwayError | undefined {
  if (!onlyIn12.test(text)) return undefined;
  if (text.length > longestText) return onlyIn12.test(bare(text)) ? tooLong(text) : undefined;
  try {
    return sparql12Parser().parse(text).type;
  } catch (thrown) {
    // Also a text that is nested too deeply for the parser. Escapes are decoded before it counts characters.
    const offset = text.includes("\\u") || text.includes("\\U") ? undefined : offsetOf(thrown, text.length);
    return offset === undefined ? undefined : unexpected(text, offset);
  }
}

/** Where the parser or its lexer failed; at the end of the text there is no token. */
function offsetOf(thrown: unknown, end: number): number | undefined {
  if (thrown instanceof UnexpectedToken) return Number.isNaN(thrown.offset) ? end : thrown.offset;
  const told =
    thrown instanceof Error ? /^unexpected character: .* at offset: (\d+)/su.exec(thrown.message) : undefined;
  return told ? Number(told[1]) : undefined;
}

function unexpected(text: string, offset: number): FedwayError {
  const found = /^(?:[\w?$:]+|[^\s])/u.exec(text.slice(offset, offset + 60))?.[0];
  const message = found === undefined ? "The query ends too early." : `Unexpected ${JSON.stringify(found)}.`;
  return syntaxError(text, offset, { message: `${message} The query was read as SPARQL 1.2.` });
}

/** The text without strings, names and comments, where a word of SPARQL 1.2 means nothing. */
function bare(text: string): string {
  let end = 0;
  let rest = "";
  for (const token of tokenize(text)) {
    const isMeant = !meaningless.has(token.kind);
    if (token.start > end || !isMeant) rest += " ";
    if (isMeant) rest += text.slice(token.start, token.end);
    end = token.end;
  }
  return rest;
}

const meaningless: ReadonlySet<Token["kind"]> = new Set(["iri", "pname", "blank", "var", "string"]);

const tooLong = ({ length }: string): FedwayError =>
  new FedwayError(
    "QUERY_TOO_LARGE",
    `SPARQL 1.2 is read up to ${longestText.toLocaleString("en")} characters; the query has ${length.toLocaleString("en")}.`,
    { next: "Send a shorter query, or write it in SPARQL 1.1." },
  );
