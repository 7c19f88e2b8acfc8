import {
  type CharacterSet,
  complement,
  difference,
  everything,
  inAllCases,
  isNamedSet,
  namedSet,
  toRe2Class,
  union,
} from "./character-sets.ts";
import { ExpressionError } from "./expression-error.ts";

/** A regular expression of XPath as a tree. */
export type Pattern =
  | { readonly kind: "character"; readonly set: CharacterSet }
  | { readonly kind: "assertion"; readonly is: "start" | "end" | "boundary" | "no-boundary" }
  | { readonly kind: "sequence" | "choice"; readonly parts: readonly Pattern[] }
  /** `number` counts groups from 1; absent for a group that is not captured. */
  | { readonly kind: "group"; readonly number?: number | undefined; readonly part: Pattern }
  | {
      readonly kind: "repeat";
      readonly part: Pattern;
      readonly least: number;
      readonly most: number;
      readonly lazy: boolean;
    }
  | { readonly kind: "reference"; readonly number: number };

/** Flags that change what a pattern means. */
interface PatternFlags {
  /** `i`: letters in both cases. */
  readonly ignoresCase: boolean;
  /** `s`: a dot matches line ends, too. */
  readonly dotAll: boolean;
  /** Sets of escapes are empty: enough to judge a pattern, and to make them takes up to a second. */
  readonly withoutSets?: boolean;
}

/** A pattern, how many groups it captures, and whether it refers to one. */
export interface ParsedPattern {
  readonly pattern: Pattern;
  readonly groups: number;
  readonly hasReferences: boolean;
}

const deepest = 200;
const most = Number.POSITIVE_INFINITY;

/**
 * Parses a regular expression of XPath (XPath and XQuery Functions and Operators 3.1, section 5.6.1; XML Schema 1.1 Datatypes,
 * appendix G). As in nearly all SPARQL engines, `\b` and `\B` are word boundaries, `]` and `}` stand for themselves where nothing is
 * open, and so does any escaped character that is no letter or digit.
 * @throws ExpressionError if invalid
 */
export function parsePattern(text: string, flags: PatternFlags): ParsedPattern {
  const reader = new PatternReader(text, flags);
  const pattern = reader.choice(0);
  if (!reader.isAtEnd) throw reader.fault(`unexpected "${reader.next}"`);
  return { pattern, groups: reader.groups, hasReferences: reader.hasReferences };
}

class PatternReader {
  groups = 0;
  hasReferences = false;
  readonly #characters: readonly string[];
  readonly #flags: PatternFlags;
  readonly #closed = new Set<number>();
  #at = 0;

  constructor(text: string, flags: PatternFlags) {
    this.#characters = Array.from(text);
    this.#flags = flags;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#characters.length;
  }

  /** The next character; empty at the end. */
  get next(): string {
    return this.#characters[this.#at] ?? "";
  }

  fault(what: string): ExpressionError {
    return new ExpressionError(
      `Not a regular expression: ${what} at character ${Math.min(this.#at, this.#characters.length) + 1}.`,
    );
  }

  choice(depth: number): Pattern {
    if (depth > deepest) throw this.fault("too many groups in each other");
    const parts = [this.#sequence(depth)];
    while (this.#takes("|")) parts.push(this.#sequence(depth));
    const [only] = parts;
    return parts.length === 1 && only ? only : { kind: "choice", parts };
  }

  #sequence(depth: number): Pattern {
    const parts: Pattern[] = [];
    while (!this.isAtEnd && this.next !== "|" && this.next !== ")") parts.push(this.#piece(depth));
    return { kind: "sequence", parts };
  }

  #piece(depth: number): Pattern {
    let part = this.#atom(depth);
    const range = this.#quantifier();
    if (range) part = { kind: "repeat", part, ...range, lazy: this.#takes("?") };
    return part;
  }

  #quantifier(): { readonly least: number; readonly most: number } | undefined {
    if (this.#takes("?")) return { least: 0, most: 1 };
    if (this.#takes("*")) return { least: 0, most };
    if (this.#takes("+")) return { least: 1, most };
    if (!this.#takes("{")) return undefined;
    const least = this.#number();
    if (this.#takes("}")) return { least, most: least };
    if (!this.#takes(",")) throw this.fault('"," or "}" is missing');
    if (this.#takes("}")) return { least, most };
    const limit = this.#number();
    if (!this.#takes("}")) throw this.fault('"}" is missing');
    if (limit < least) throw this.fault("the range is the wrong way round");
    return { least, most: limit };
  }

  #number(): number {
    let digits = "";
    while (/^[0-9]$/u.test(this.next)) digits += this.#take();
    if (digits === "") throw this.fault("a number is missing");
    return Number(digits);
  }

  #atom(depth: number): Pattern {
    const character = this.#take();
    switch (character) {
      case "(":
        return this.#group(depth);
      case "[":
        return { kind: "character", set: this.#class(depth) };
      case ".":
        return { kind: "character", set: this.#flags.dotAll ? everything : notLineFeed };
      case "^":
        return { kind: "assertion", is: "start" };
      case "$":
        return { kind: "assertion", is: "end" };
      case "\\":
        return this.#escape();
      default:
        if ("?*+{".includes(character)) throw this.fault(`"${character}" needs a backslash before it`);
        return { kind: "character", set: this.#cased(one(character)) };
    }
  }

  #group(depth: number): Pattern {
    const isCaptured = !this.#takes("?");
    if (!isCaptured && !this.#takes(":")) throw this.fault('only "(?:" may follow "(?"');
    const number = isCaptured ? ++this.groups : undefined;
    const part = this.choice(depth + 1);
    if (!this.#takes(")")) throw this.fault('")" is missing');
    if (number !== undefined) this.#closed.add(number);
    return { kind: "group", number, part };
  }

  #escape(): Pattern {
    if (/^[1-9]$/u.test(this.next)) return this.#reference();
    if (this.#takes("b")) return { kind: "assertion", is: "boundary" };
    if (this.#takes("B")) return { kind: "assertion", is: "no-boundary" };
    return { kind: "character", set: this.#escapedSet() };
  }

  /** As many digits as name a group; those behind them are characters. */
  #reference(): Pattern {
    let number = Number(this.#take());
    while (/^[0-9]$/u.test(this.next) && 10 * number + Number(this.next) <= this.groups)
      number = 10 * number + Number(this.#take());
    if (!this.#closed.has(number)) throw this.fault(`there is no group ${number} before it`);
    this.hasReferences = true;
    return { kind: "reference", number };
  }

  /** The characters that an escape stands for, in classes and outside. */
  #escapedSet(): CharacterSet {
    const letter = this.#take();
    const multiple = this.#multiple(letter);
    if (multiple) return multiple;
    if (letter === "p" || letter === "P") return this.#property(letter === "P");
    const single = singleCharacter(letter);
    if (single === undefined) throw this.fault(`"\\${letter}" has no meaning`);
    return this.#cased(one(single));
  }

  #multiple(letter: string): CharacterSet | undefined {
    if (this.#flags.withoutSets !== true) return multipleEscape(letter);
    return Object.hasOwn(multipleEscapes, letter.toLowerCase()) ? [] : undefined;
  }

  #property(isNegated: boolean): CharacterSet {
    if (!this.#takes("{")) throw this.fault('"{" is missing');
    let name = "";
    while (!this.isAtEnd && this.next !== "}") name += this.#take();
    if (!this.#takes("}")) throw this.fault('"}" is missing');
    const isJudged = this.#flags.withoutSets === true;
    const set = isJudged ? (isNamedSet(name) ? [] : undefined) : namedSet(name);
    if (set === undefined) throw this.fault(`"${name.slice(0, 60)}" is no category or block of characters`);
    return isNegated ? complement(set) : set;
  }

  /** Behind "[". */
  #class(depth: number): CharacterSet {
    if (depth > deepest) throw this.fault("too many classes in each other");
    const isNegated = this.#takes("^");
    const sets: CharacterSet[] = [];
    let without: CharacterSet | undefined;
    do {
      if (this.next === "-" && this.#characters[this.#at + 1] === "[") {
        this.#at += 2;
        without = this.#class(depth + 1);
        if (!this.#precedes("]")) throw this.fault('"]" is missing');
      } else sets.push(this.#classPart(sets.length === 0));
    } while (!this.isAtEnd && this.next !== "]");
    if (!this.#takes("]")) throw this.fault('"]" is missing');
    if (sets.length === 0) throw this.fault("the class is empty");
    const set = isNegated ? complement(union(sets)) : union(sets);
    return without === undefined ? set : difference(set, without);
  }

  #classPart(isFirst: boolean): CharacterSet {
    const from = this.#classCharacter(isFirst);
    const isRange = this.next === "-" && !["]", "["].includes(this.#characters[this.#at + 1] ?? "]");
    if (!isRange || typeof from !== "string") return typeof from === "string" ? this.#cased(one(from)) : from;
    this.#take();
    const to = this.#classCharacter(false);
    if (typeof to !== "string") throw this.fault("a range ends at one character");
    const [first, last] = [codePoint(from), codePoint(to)];
    if (last < first) throw this.fault("the range is the wrong way round");
    return this.#cased([first, last]);
  }

  /** A character, or the set of an escape that is not a single one. */
  #classCharacter(isFirst: boolean): string | CharacterSet {
    const character = this.#take();
    if (character === "") throw this.fault('"]" is missing');
    if (character === "[" || (character === "]" && !isFirst))
      throw this.fault(`"${character}" needs a backslash before it`);
    if (character === "]") throw this.fault("the class is empty");
    if (character !== "\\") return character;
    const single = singleCharacter(this.next);
    if (single === undefined) return this.#escapedSet();
    this.#take();
    return single;
  }

  #cased(set: CharacterSet): CharacterSet {
    return this.#flags.ignoresCase ? inAllCases(set) : set;
  }

  #precedes(character: string): boolean {
    return this.next === character;
  }

  #take(): string {
    const { next } = this;
    this.#at += 1;
    return next;
  }

  #takes(character: string): boolean {
    const isNext = this.#precedes(character);
    if (isNext) this.#at += 1;
    return isNext;
  }
}

const codePoint = (character: string): number => character.codePointAt(0) ?? 0;
const one = (character: string): CharacterSet => [codePoint(character), codePoint(character)];
const categories = (...names: readonly string[]): CharacterSet => union(names.map((name) => namedSet(name) ?? []));
const notLineFeed = complement([10, 10]);

const controls: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t" };

/** The character that an escaped one stands for; undefined for letters and digits that name none. */
const singleCharacter = (escaped: string): string | undefined =>
  controls[escaped] ?? (/^[^A-Za-z0-9]$/u.test(escaped) ? escaped : undefined);

/** XML 1.0 (fifth edition), productions 4 and 4a. */
const nameStart: CharacterSet = union(
  [
    ":",
    "AZ",
    "_",
    "az",
    "\u{C0}\u{D6}",
    "\u{D8}\u{F6}",
    "\u{F8}\u{2FF}",
    "\u{370}\u{37D}",
    "\u{37F}\u{1FFF}",
    "\u{200C}\u{200D}",
    "\u{2070}\u{218F}",
    "\u{2C00}\u{2FEF}",
    "\u{3001}\u{D7FF}",
    "\u{F900}\u{FDCF}",
    "\u{FDF0}\u{FFFD}",
    "\u{10000}\u{EFFFF}",
  ].map((range) => {
    const [first = "", last = first] = Array.from(range);
    return [codePoint(first), codePoint(last)];
  }),
);
const nameCharacter: CharacterSet = union([
  nameStart,
  [45, 46],
  [48, 57],
  [0xb7, 0xb7],
  [0x300, 0x36f],
  [0x203f, 0x2040],
]);

/** The sets of the escapes that stand for many characters (XML Schema 1.1 Datatypes, section G.4.2.5). */
const multipleEscapes: Readonly<Record<string, () => CharacterSet>> = {
  s: () => [9, 10, 13, 13, 32, 32],
  i: () => nameStart,
  c: () => nameCharacter,
  d: () => categories("Nd"),
  w: () => complement(categories("P", "Z", "C")),
};

const madeEscapes = new Map<string, CharacterSet>();

function multipleEscape(letter: string): CharacterSet | undefined {
  const made = madeEscapes.get(letter);
  const make = made ? undefined : multipleEscapes[letter.toLowerCase()];
  if (make === undefined) return made;
  const set = letter === letter.toLowerCase() ? make() : complement(make());
  madeEscapes.set(letter, set);
  return set;
}

/** Word characters of boundaries, as those of RE2 and most engines. */
export const isWordCharacter = (character: string | undefined): boolean =>
  character !== undefined && /^[A-Za-z0-9_]$/u.test(character);

/** True if a pattern matches the empty text. */
export function matchesNothing(pattern: Pattern): boolean {
  switch (pattern.kind) {
    case "character":
      return false;
    case "assertion":
      return pattern.is !== "boundary";
    case "sequence":
      return pattern.parts.every(matchesNothing);
    case "choice":
      return pattern.parts.some(matchesNothing);
    case "group":
      return matchesNothing(pattern.part);
    case "repeat":
      return pattern.least === 0 || matchesNothing(pattern.part);
    default:
      return true;
  }
}

/** Characters and assertions of a pattern with its repetitions written out: an automaton has about as many states. */
export function sizeOf(pattern: Pattern): number {
  if (pattern.kind === "sequence" || pattern.kind === "choice")
    return pattern.parts.reduce((sum, part) => sum + sizeOf(part), 0);
  if (pattern.kind === "group") return sizeOf(pattern.part);
  if (pattern.kind !== "repeat") return 1;
  return sizeOf(pattern.part) * (pattern.most === most ? Math.max(1, pattern.least) : pattern.most);
}

/** The pattern as RE2 reads it, without references. */
export function toRe2(pattern: Pattern): string {
  switch (pattern.kind) {
    case "character":
      return toRe2Class(pattern.set);
    case "assertion":
      return { start: "^", end: "$", boundary: String.raw`\b`, "no-boundary": String.raw`\B` }[pattern.is];
    case "sequence":
      return pattern.parts.map(toRe2).join("");
    case "choice":
      return `(?:${pattern.parts.map(toRe2).join("|")})`;
    case "group":
      return pattern.number === undefined ? `(?:${toRe2(pattern.part)})` : `(${toRe2(pattern.part)})`;
    case "repeat":
      return `(?:${toRe2(pattern.part)})${rangeText(pattern.least, pattern.most)}${pattern.lazy ? "?" : ""}`;
    default:
      throw new TypeError("RE2 has no references.");
  }
}

function rangeText(least: number, limit: number): string {
  if (limit === most) return least < 2 ? (["*", "+"][least] ?? "") : `{${least},}`;
  return least === 0 && limit === 1 ? "?" : `{${least},${limit}}`;
}
