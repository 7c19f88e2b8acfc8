import { isWord, type Token, tokenize } from "../parse/tokens.ts";

/** The parts of the SELECT around a token, by the indices of their tokens. */
interface SelectParts {
  readonly select: number;
  readonly open: number;
  readonly close: number;
  /** Behind its solution modifiers. */
  readonly end: number;
}

const clauseWords = "SELECT|ASK|CONSTRUCT|DESCRIBE|FROM|WHERE|GROUP|HAVING|ORDER|LIMIT|OFFSET|VALUES|PREFIX|BASE".split(
  "|",
);
/** Words that begin a solution modifier. */
export const modifierWords = ["GROUP", "HAVING", "ORDER", "LIMIT", "OFFSET"];
const groupWords = "FILTER|BIND|OPTIONAL|MINUS|UNION|GRAPH|SERVICE|JOIN|LEFT|RIGHT|INNER|CROSS|ON".split("|");
const operatorWords = "AND|OR|NOT|IN|LIKE|ILIKE|RLIKE|REGEXP|BETWEEN|IS|MATCHES|STARTS|ENDS|WITH".split("|");
const otherWords = "AS|BY|ASC|DESC|DISTINCT|REDUCED|WHEN|THEN|ELSE|END|TOP|FETCH".split("|");
const reserved: ReadonlySet<string> = new Set([...clauseWords, ...groupWords, ...operatorWords, ...otherWords]);
const operators: ReadonlySet<string> = new Set([
  ...operatorWords,
  ..."CONTAINS = != < > <= >= && || + - * / % ! ~ ≠ ≤ ≥ <>".split(" "),
]);
const arithmetic: ReadonlySet<string> = new Set(["+", "-", "*", "/"]);
const prefixes: ReadonlySet<string> = new Set(["!", "-", "+", "NOT", "DISTINCT"]);
const closing: Readonly<Record<string, string>> = { ")": "(", "}": "{", "]": "[" };

/** A text that the parser refuses, read from the token at which it does. All methods take and give indices of tokens. */
export class Stumble {
  readonly text: string;
  readonly message: string;
  readonly tokens: readonly Token[];
  /** Of the token; the number of tokens at the end of the text. */
  readonly at: number;
  readonly #partners = new Map<number, number>();
  #clause: string | undefined;

  /**
   * @param offset of the token in the text
   * @param message the parser's own
   * @throws FedwayError for a text beyond the bounds of what is read
   */
  constructor(text: string, offset: number, message: string) {
    this.text = text;
    this.message = message;
    this.tokens = tokenize(text);
    const found = this.tokens.findIndex(({ end }) => end > offset);
    this.at = found < 0 ? this.tokens.length : found;
    const open: number[] = [];
    for (const [at, { kind, text: sign }] of this.tokens.entries()) {
      if (kind !== "punct") continue;
      if ("({[".includes(sign)) open.push(at);
      const last = open.at(-1);
      if (last === undefined || closing[sign] !== this.word(last)) continue;
      open.pop();
      this.#partners.set(at, last).set(last, at);
    }
  }

  /** Text of a token: words in upper case, others as they are written. */
  word(at: number): string {
    return this.tokens[at]?.text ?? "";
  }

  written(from: number, to: number): string {
    return to <= from ? "" : this.text.slice(this.tokens[from]?.start, this.tokens[to - 1]?.end);
  }

  /** The bracket that closes or opens this one. */
  partner(at: number): number | undefined {
    return this.#partners.get(at);
  }

  isReserved(at: number): boolean {
    return isWord(this.tokens[at], ...reserved);
  }

  /** The token before, where brackets that are closed count as one. */
  before(at: number): number {
    const last = at - 1;
    const open = closing[this.word(last)] === undefined ? undefined : this.partner(last);
    return open ?? last;
  }

  /** The first of these words from a token on that is in no bracket which opens behind it; the end of what is around it. */
  next(from: number, ...words: readonly string[]): number {
    let at = from;
    while (at < this.tokens.length && !isWord(this.tokens[at], ...words)) {
      const close = this.partner(at);
      if (close !== undefined && close < at) return at;
      at = (close ?? at) + 1;
    }
    return at;
  }

  /**
   * Where a token stands: the word that began its clause, `{` in a group, `}` behind that of a query, empty at the start. In
   * round brackets with `(` behind, such as `FILTER(`.
   */
  clause(): string {
    this.#clause ??= this.#clauseOf(this.at);
    return this.#clause;
  }

  #clauseOf(of: number): string {
    let inside = "";
    let behind = "";
    for (let at = this.before(of); at >= 0; at = this.before(at)) {
      const word = this.word(at);
      const open = this.#isClosedBefore(at, of) ? "" : word;
      if (open === "(") inside = "(";
      if (open === "{") return this.#isData(at) ? "VALUES" : `{${inside}`;
      if (word === "{") behind = "}";
      if (inside !== "" && ["FILTER", "BIND"].includes(word)) return word + inside;
      if (isWord(this.tokens[at], ...clauseWords) && behind + word !== "}VALUES") return behind || word + inside;
    }
    return inside;
  }

  #isClosedBefore(open: number, at: number): boolean {
    return (this.partner(open) ?? at) < at;
  }

  #isData(open: number): boolean {
    return isWord(this.tokens[this.before(open) - 1], "VALUES");
  }

  /** The bracket that a token stands in; -1 outside of all. */
  opener(of: number, sign: string): number {
    for (let at = this.before(of); at >= 0; at = this.before(at))
      if (this.word(at) === sign && !this.#isClosedBefore(at, of)) return at;
    return -1;
  }

  selectAround(of = this.at): SelectParts | undefined {
    let select = of;
    while (select >= 0 && !isWord(this.tokens[select], "SELECT")) select = this.before(select);
    const open = this.tokens.findIndex(({ text }, at) => select >= 0 && at > select && text === "{");
    const close = this.partner(open);
    if (open < 0 || close === undefined) return undefined;
    return { select, open, close, end: this.next(close + 1) };
  }

  /** Behind the operand that begins at a token, with what is added to or multiplied with it; -1 where none begins. */
  operandFrom(from: number): number {
    let end = this.#termFrom(from);
    while (end > 0 && arithmetic.has(this.word(end))) {
      const next = this.#termFrom(end + 1);
      if (next < 0) break;
      end = next;
    }
    return end;
  }

  #termFrom(from: number): number {
    let at = from;
    while (prefixes.has(this.word(at))) at++;
    const word = this.word(at);
    const next = this.word(at + 1);
    if (word === "(") return this.#behind(at);
    if (word === "EXISTS" || (next === "(" && this.#isName(at))) return this.#behind(at + 1);
    if (word === "*" && (next === ")" || next === "AS")) return at + 1;
    return this.literalFrom(at) ?? (this.#isTerm(at) ? at + 1 : -1);
  }

  /** Behind a literal with its language or datatype, or the word before it. */
  literalFrom(at: number): number | undefined {
    const next = this.tokens[at + 1];
    if (this.tokens[at]?.kind === "word" && next?.kind === "string") return at + 2;
    if (this.tokens[at]?.kind !== "string") return undefined;
    return at + (next?.kind === "lang" ? 2 : next?.text === "^^" ? 3 : 1);
  }

  #isName(at: number): boolean {
    return ["word", "iri", "pname"].includes(this.tokens[at]?.kind ?? "");
  }

  #isTerm(at: number): boolean {
    const isTerm = this.#isName(at) || ["var", "number", "string"].includes(this.tokens[at]?.kind ?? "");
    return isTerm && !this.isReserved(at) && this.word(at) !== "<>";
  }

  /** Behind a bracket that is closed; -1 where it is none. */
  #behind(open: number): number {
    const close = this.partner(open) ?? -1;
    return close > open ? close + 1 : -1;
  }

  /** Behind the condition that begins at a token, all of it or as far as the first AND or OR; -1 where none begins. */
  conditionFrom(from: number, { untilJunction = false } = {}): number {
    const isInside = (at: number): boolean => operators.has(this.word(at)) && !(untilJunction && this.#isJunction(at));
    let end = this.operandFrom(from);
    while (end > 0) {
      let behind = end;
      while (isInside(behind)) behind++;
      const next = behind > end ? this.operandFrom(behind) : -1;
      if (next < 0) return end;
      end = next;
    }
    return end;
  }

  #isJunction(at: number): boolean {
    return ["&&", "||", "OR"].includes(this.word(at)) || (this.word(at) === "AND" && this.word(at - 2) !== "BETWEEN");
  }
}
