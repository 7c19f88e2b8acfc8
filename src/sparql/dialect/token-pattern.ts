import { isWord, type Token } from "../parse/tokens.ts";
import type { Substitute } from "../parse/substituted-text.ts";
import { modifierWords, type Stumble } from "./stumble.ts";

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
const comparisons: ReadonlySet<string> = new Set(["=", "!=", "<", ">", "<=", ">="]);
const termKinds: ReadonlySet<string> = new Set<string>(["iri", "pname", "var", "string", "number", "blank"]);
/** Functions of groups. */
export const aggregates: ReadonlySet<string> = new Set("COUNT SUM AVG MIN MAX SAMPLE GROUP_CONCAT".split(" "));
const signs: Readonly<Record<string, string>> = { args: "(", group: "{", list: "[" };

/** Terms and brackets before the misfit at which a pattern may begin. */
const farthest = 9;

/**
 * Finds a pattern around the token at which the parser stumbles: anywhere in it, or directly behind. Elements are
 * - words and signs as they are, or several with `|` between them; one with `?` behind it may be missing
 * - kinds of tokens in lower case (`var`, `string`); `aggregate`: the name of one; `term`: any that is one token
 * - `operand` (a term, a call, an expression in brackets, with what is added or multiplied), `condition`, `comparison` (a
 *   condition that is no term alone), `test` (as far as AND or OR)
 * - `args`, `list` and `group`: all between round, square and curly brackets; `call`: a function with its arguments
 * - `triples`: all up to a dot, a word of the group, or its end.
 * @returns where it was found, the farthest beginning first
 */
export function matches(stumble: Stumble, pattern: string): readonly (readonly Match[])[] {
  const elements = pattern.split(" ");
  const starts: number[] = [];
  for (let at = stumble.at; at >= 0 && starts.length < farthest; at = stumble.before(at)) starts.unshift(at);
  return starts.flatMap((start) => {
    const found = matchFrom(stumble, elements, start);
    return found !== undefined && (found.at(-1)?.to ?? 0) >= stumble.at ? [found] : [];
  });
}

function matchFrom(stumble: Stumble, elements: readonly string[], start: number): readonly Match[] | undefined {
  const found: Match[] = [];
  let to = start;
  for (const element of elements) {
    const from = to;
    to = endOf(stumble, element, from);
    if (to < 0) return undefined;
    found.push({ from, to });
  }
  return found;
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
  comparison: (stumble, from) => {
    const end = stumble.conditionFrom(from);
    return end > stumble.operandFrom(from) || isCall(stumble, from) || ["!", "NOT"].includes(stumble.word(from))
      ? end
      : -1;
  },
  test: (stumble, from) => stumble.conditionFrom(from, { untilJunction: true }),
  columns: columnsFrom,
  modifiers: (stumble, from) => (isWord(stumble.tokens[from], ...modifierWords) ? stumble.next(from) : from),
  step: (stumble, from) =>
    fits(stumble, "pname", from) || fits(stumble, "iri", from) ? from + 1 : behind(stumble, "(", from),
  term: (stumble, from) =>
    termKinds.has(stumble.tokens[from]?.kind ?? "") && stumble.word(from) !== "<>"
      ? (stumble.literalFrom(from) ?? from + 1)
      : -1,
  call: (stumble, from) => (isCall(stumble, from) ? behind(stumble, "(", from + 1) : -1),
  triples: triplesFrom,
  "": (_, from) => from,
};

function endOf(stumble: Stumble, element: string, from: number): number {
  const isOptional = element.length > 1 && element.endsWith("?");
  const wanted = isOptional ? element.slice(0, -1) : element;
  for (const each of wanted.match(/\|\||[^|]+/g) ?? [wanted]) {
    const end = ends[each]?.(stumble, from) ?? (signs[each] === undefined ? -1 : behind(stumble, signs[each], from));
    if (end >= 0) return end;
    if (fits(stumble, each, from)) return from + 1;
  }
  return isOptional ? from : -1;
}

function fits(stumble: Stumble, element: string, at: number): boolean {
  const token = stumble.tokens[at];
  if (token === undefined) return false;
  if (element === "aggregate") return aggregates.has(token.text);
  if (element === "compares") return comparisons.has(token.text);
  if (element === "pipe") return token.text === "|";
  return kinds.has(element) ? token.kind === element && !stumble.isReserved(at) : element === token.text;
}

function triplesFrom(stumble: Stumble, from: number): number {
  let at = from;
  while (at < stumble.tokens.length && !stumble.isReserved(at)) {
    if (["}", "{", ".", ")", "]"].includes(stumble.word(at))) break;
    at = (stumble.partner(at) ?? at) + 1;
  }
  return at === from ? -1 : at;
}

/** As far as the patterns or what follows them. */
function columnsFrom(stumble: Stumble, from: number): number {
  let at = from;
  while (at < stumble.tokens.length && !isWord(stumble.tokens[at], "WHERE", "FROM", ...modifierWords)) {
    if (["{", "}", ")"].includes(stumble.word(at))) break;
    at = (stumble.word(at) === "(" ? (stumble.partner(at) ?? at) : at) + 1;
  }
  return at === from ? -1 : at;
}

const places = /\$(\d\d?)|\?(\d)|\{(\d)\}|\$\.|\?new/g;

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
    const name = /^["'`]*[?$@]?(\w+)["'`]*$/.exec(own)?.[1];
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
  const used = new Set(text.match(/(?<=[?$])\w+/g));
  for (let number = 2; used.has(name.slice(1)); number++) name = `?${base}${number}`;
  return name;
}
