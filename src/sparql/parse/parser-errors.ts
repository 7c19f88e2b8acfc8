import type { FedwayError } from "../../errors/fedway-error.ts";
import { syntaxError, type Token } from "./tokens.ts";
import type { ParserFailure } from "./parser-tables.ts";

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

/** The parser's error as a `QUERY_SYNTAX` error that always has a line and a column. */
export function locateParserError(text: string, tokens: readonly Token[], thrown: unknown): FedwayError {
  if (thrown instanceof RangeError) return tooDeep(text);
  const failure: ParserFailure = thrown instanceof Error ? thrown : new Error(String(thrown));
  const { message, misfit } = failure;
  if (misfit) return misfitError(text, tokens[misfit.at], misfit.expected);
  const start = (spokenOf(message, tokens) ?? tokens[0])?.start ?? 0;
  // An error that it did not raise on purpose is a defect of the parser.
  if (!unlocated.some(([pattern]) => pattern.test(message))) {
    return syntaxError(text, start, { message: "The parser fails at this query.", next: "Write it in another way." });
  }
  const next = advice.find(([pattern]) => pattern.test(message))?.[1];
  const told = message.slice(0, 200).replace(/[.]?$/, ".");
  return syntaxError(text, start, { message: told, next });
}

function misfitError(text: string, bad: Token | undefined, expected: readonly string[]): FedwayError {
  const message = bad
    ? `Unexpected ${JSON.stringify(text.slice(bad.start, Math.min(bad.end, bad.start + 60)))}.`
    : "The query ends too early.";
  return syntaxError(text, bad?.start ?? text.length, { message, next: expectation(expected) });
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
