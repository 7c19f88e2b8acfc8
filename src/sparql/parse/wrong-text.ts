import type { FedwayError } from "../../errors/fedway-error.ts";
import { queryForms } from "./outline.ts";
import { isWord, syntaxError, type Token, tokenize } from "./tokens.ts";

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
