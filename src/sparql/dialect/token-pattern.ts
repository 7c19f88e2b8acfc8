import type { Token } from "../tokens.ts";
import type { Substitute } from "../substituted-text.ts";
import type { Stumble } from "./stumble.ts";

/** Changes that mend one fault together. */
export type Edit = readonly Substitute[];
/** Ways to mend what stands at a misfit, likeliest first; each is parsed before it is used. */
export type Mending = (stumble: Stumble) => readonly Edit[];

/** The tokens of one element of a pattern. */
interface Match {
  readonly from: number;
  readonly to: number;
}

const kinds: ReadonlySet<string> = new Set<Token["kind"]>(["iri", "pname", "var", "string", "number", "lang", "word"]);
/** Functions of groups. */
export const aggregates: ReadonlySet<string> = new Set("COUNT SUM AVG MIN MAX SAMPLE GROUP_CONCAT".split(" "));
const signs: Readonly<Record<string, string>> = { args: "(", group: "{", list: "[" };

/**
 * Finds a pattern around the token at which the parser stumbles, which is its element with `@`. Elements are
 * - words and signs as they are, or several with `|` between them; one with `?` behind it may be missing
 * - kinds of tokens in lower case (`var`, `string`); `aggregate`: the name of one
 * - `operand` (a term, a call, an expression in brackets, with what is added or multiplied), `condition`, `test` (as far as
 *   AND or OR), `rest` (of the condition whose first operand is behind)
 * - `args`, `list` and `group`: all between round, square and curly brackets; `call`: a function with its arguments
 * - `triples`: all up to a dot, a word of the group, or its end.
 */
export function matches(stumble: Stumble, pattern: string): readonly Match[] | undefined {
  const elements = pattern.split(" ");
  const middle = elements.findIndex((element) => element.startsWith("@"));
  const found: Match[] = [];
  let from = stumble.at;
  for (const element of elements.slice(0, middle).toReversed()) {
    const to = from;
    from = startOf(stumble, element, to);
    if (from < 0) return undefined;
    found.unshift({ from, to });
  }
  let to = stumble.at;
  for (const element of elements.slice(middle).map((each, at) => (at === 0 ? each.slice(1) : each))) {
    from = to;
    to = endOf(stumble, element, from);
    if (to < 0) return undefined;
    found.push({ from, to });
  }
  return found;
}

/** Where an element begins that ends before a token; -1 where none does. */
function startOf(stumble: Stumble, element: string, end: number): number {
  if (element === "operand") return stumble.operandTo(end);
  if (signs[element] !== undefined) {
    const open = stumble.partner(end - 1) ?? -1;
    return open < end && stumble.word(open) === signs[element] ? open : -1;
  }
  if (element === "call") return isCall(stumble, stumble.operandTo(end)) ? stumble.operandTo(end) : -1;
  if (fits(stumble, element, end - 1)) return end - 1;
  return element.endsWith("?") ? end : -1;
}

const isCall = (stumble: Stumble, at: number): boolean =>
  stumble.tokens[at]?.kind === "word" && stumble.word(at + 1) === "(";

/** Behind what is between two brackets; -1 where the first is another one. */
const behind = (stumble: Stumble, sign: string | undefined, at: number): number =>
  stumble.word(at) === sign ? (stumble.partner(at) ?? -2) + 1 : -1;

/** Behind an element that begins at a token; -1 where it does not. */
const ends: Readonly<Record<string, (stumble: Stumble, from: number) => number>> = {
  operand: (stumble, from) => stumble.operandFrom(from),
  condition: (stumble, from) => stumble.conditionFrom(from),
  test: (stumble, from) => stumble.conditionFrom(from, { untilJunction: true }),
  rest: (stumble, from) => {
    const end = stumble.conditionFrom(stumble.operandTo(from));
    return end > from ? end : -1;
  },
  call: (stumble, from) => (isCall(stumble, from) ? behind(stumble, "(", from + 1) : -1),
  triples: triplesFrom,
  "": (_, from) => from,
};

function endOf(stumble: Stumble, element: string, from: number): number {
  const end = ends[element];
  if (end !== undefined) return end(stumble, from);
  if (signs[element] !== undefined) return behind(stumble, signs[element], from);
  if (fits(stumble, element, from)) return from + 1;
  return element.endsWith("?") ? from : -1;
}

function fits(stumble: Stumble, element: string, at: number): boolean {
  const token = stumble.tokens[at];
  if (token === undefined) return false;
  const wanted = element.length > 1 && element.endsWith("?") ? element.slice(0, -1) : element;
  const choices = wanted.match(/\|\||[^|]+/g) ?? [wanted];
  return choices.some((each) => {
    if (each === "aggregate") return aggregates.has(token.text);
    return kinds.has(each) ? token.kind === each && !stumble.isReserved(at) : each === token.text;
  });
}

function triplesFrom(stumble: Stumble, from: number): number {
  let at = from;
  while (at < stumble.tokens.length && !stumble.isReserved(at)) {
    if (["}", "{", ".", ")", "]"].includes(stumble.word(at))) break;
    at = (stumble.partner(at) ?? at) + 1;
  }
  return at === from ? -1 : at;
}

const places = /\$(\d)|\?(\d)|\{(\d)\}|\$\.|\?new/g;

/**
 * Writes what stands in the place of a match: `$1` is the first element as it was written, `{1}` the same without its
 * brackets, `?1` as a variable, `?new` a new variable, `$.` a dot where none is there. Undefined where that cannot be.
 */
export function written(stumble: Stumble, found: readonly Match[], template: string): Substitute | undefined {
  const [first, last] = [found[0], found.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  let isPossible = true;
  const text = template.replaceAll(places, (whole: string, ...numbers: readonly string[]) => {
    const element = found[Number(numbers.slice(0, 3).find((number) => number !== undefined)) - 1];
    const own = element ? stumble.written(element.from, element.to) : "";
    if (whole === "$.") return /[.{}]/.test(stumble.word(first.from - 1)) ? "" : ".";
    if (whole === "?new") return orderedBy(stumble) ?? newVariable(stumble.text, calledIn(stumble, first.from));
    if (whole.startsWith("{")) return own.slice(1, -1);
    if (whole.startsWith("$")) return own;
    const name = /^["'`]*[?$]?(\w+)["'`]*$/.exec(own)?.[1];
    isPossible &&= name !== undefined;
    return `?${name}`;
  });
  const start = stumble.tokens[first.from]?.start ?? stumble.text.length;
  const end = last.to > first.from ? (stumble.tokens[last.to - 1]?.end ?? start) : start;
  const space = /\w/.test(stumble.text.charAt(start - 1)) && /^[\w?]/.test(text) ? " " : "";
  return isPossible ? { start, end, text: space + text } : undefined;
}

const calledIn = ({ tokens }: Stumble, from: number): string =>
  tokens.slice(from, from + 4).find(({ text, kind }) => kind === "word" && !/^(?:SELECT|DISTINCT)$/.test(text))?.text ??
  "";

/** The only variable that the solution modifiers have and nothing else. */
function orderedBy({ tokens }: Stumble): string | undefined {
  const last = tokens.findLastIndex(({ text }) => text === "}");
  const before = new Set(tokens.slice(0, last).map(({ text }) => text));
  const [only, ...others] = new Set(
    tokens.slice(last + 1).flatMap(({ kind, text }) => (kind === "var" && !before.has(text) ? [text] : [])),
  );
  return others.length === 0 ? only : undefined;
}

/** A variable that the text does not have, named after a function. */
export function newVariable(text: string, word: string): string {
  const base = /^[A-Z]\w*$/.test(word) ? word.toLowerCase() : "value";
  let name = `?${base}`;
  for (let number = 2; new RegExp(`[?$]${name.slice(1)}\\b`).test(text); number++) name = `?${base}${number}`;
  return name;
}
