import type { FedwayError } from "../../errors/fedway-error.ts";
import { expectedAt, type Source } from "./grammar.ts";
import { syntaxError } from "./tokens.ts";

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
