import type { FedwayError } from "../../errors/fedway-error.ts";
import { expectedAt, type Source } from "./grammar.ts";
import { queryForms } from "./outline.ts";
import { isWord, syntaxError, type Token, tokenize } from "./tokens.ts";

/** At most six of the tokens that would fit, in the reader's words. */
function expectation(expected: readonly string[]): string | undefined {
  const readable = new Map([
    ["IRIREF", "an IRI"],
    ["PNAME_NS", "a prefixed name"],
    ["VAR", "a variable"],
    ["EOF", "the end of the query"],
    ["STRING_LITERAL1", "a string"],
    ["INTEGER", "a number"],
  ]);
  const words = expected.map(
    (token) => readable.get(token) ?? (/^(?:[A-Z]+|[{}().;,])$/.test(token) ? `'${token}'` : ""),
  );
  const shown = [...new Set(words.filter((word) => word !== ""))].slice(0, 6);
  return shown.length > 0 ? `Expected here: ${shown.join(", ")}.` : undefined;
}

/** The error for a token outside the grammar, with what would fit there. */
export function misfitError(source: Source, at: number): FedwayError {
  const { text, tokens } = source;
  const bad = tokens[at];
  const message = bad
    ? `Unexpected ${JSON.stringify(text.slice(bad.start, Math.min(bad.end, bad.start + 60)))}.`
    : "The query ends too early.";
  return syntaxError(text, bad?.start ?? text.length, { message, next: expectation(expectedAt(source, at)) });
}

/** The error for expressions whose evaluation would overflow a stack. */
export function tooDeep(text: string): FedwayError {
  return syntaxError(text, 0, { message: "The query is nested too deeply.", next: "Write it with less nesting." });
}

const fence = /^[ \t]*(?:```|~~~)/m;
/** A line that begins as a query does. */
const queryLine = /^[ \t]*(?:PREFIX\s+[\w-]*:\s*<|BASE\s*<|(?:SELECT|CONSTRUCT|ASK|DESCRIBE)\b[^\n]*[?$*{<])/im;

/**
 * What people and language models send instead of a query: one in a Markdown code fence, one with words around it, or two.
 * Called for texts that the parser refuses; undefined when the text is none of these.
 */
export function wrongText(text: string): FedwayError | undefined {
  const fenced = fence.exec(text);
  if (fenced) {
    return syntaxError(text, fenced.index, {
      message: "The query stands in a Markdown code fence.",
      next: "Send only the text between the ``` lines.",
    });
  }
  const tokens = tokenize(text);
  return wordsBefore(text, tokens[0]) ?? secondQuery(text, tokens);
}

function wordsBefore(text: string, first: Token | undefined): FedwayError | undefined {
  const start = queryLine.exec(text)?.index;
  if (start === undefined || first === undefined || first.start >= start) return undefined;
  if (first.kind !== "word" || isWord(first, "PREFIX", "BASE", "DEFINE", ...queryForms)) return undefined;
  return syntaxError(text, first.start, {
    message: "There are words before the query.",
    next: `Send the query alone; it seems to begin in line ${text.slice(0, start).split("\n").length}.`,
  });
}

/** A query form behind the end of a whole query. */
function secondQuery(text: string, tokens: readonly Token[]): FedwayError | undefined {
  const second = formAfterQuery(tokens);
  if (second === undefined) return undefined;
  return syntaxError(text, second.start, {
    message: "There are two queries.",
    next: "Send them one by one.",
  });
}

function formAfterQuery(tokens: readonly Token[]): Token | undefined {
  let depth = 0;
  let seen = 0;
  let closed = false;
  for (const token of tokens) {
    if (token.text === "{") depth++;
    else if (token.text === "}") closed = --depth === 0 || closed;
    else if (depth === 0 && isWord(token, ...queryForms) && ++seen > 1 && closed) {
      return token;
    }
  }
  return undefined;
}
