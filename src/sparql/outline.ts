import { isWord, type Token, tokenAt } from "./tokens.ts";

/** A range of tokens, `to` exclusive. */
export interface TokenRange {
  readonly from: number;
  readonly to: number;
}

/** A group graph pattern, braces included (SPARQL 1.1 Query, grammar rule 53). */
export interface Group extends TokenRange {
  /** Set when the group is a subquery; its WHERE is then the only thing in it. */
  readonly select?: SelectOutline;
  readonly elements: readonly Element[];
}

/** Triples block: everything between two other elements, final dot included. */
interface TriplesElement extends TokenRange {
  readonly kind: "triples";
}
/** FILTER or BIND; `exists` are the groups of EXISTS and NOT EXISTS in its expression. */
export interface FilterElement extends TokenRange {
  readonly kind: "filter";
  readonly exists: readonly Group[];
}
/** BIND; `variable` is the one it assigns, without `?`. */
export interface BindElement extends TokenRange {
  readonly kind: "bind";
  readonly exists: readonly Group[];
  readonly variable: string;
}
/** Inline data; a cell is a token index, UNDEF included. */
export interface ValuesElement extends TokenRange {
  readonly kind: "values";
  readonly variables: readonly string[];
  readonly rows: readonly (readonly number[])[];
}
/** OPTIONAL and MINUS. */
interface NestedElement extends TokenRange {
  readonly kind: "optional" | "minus";
  readonly group: Group;
}
/** GRAPH; `name` is the token index of its IRI or variable. */
export interface GraphElement extends TokenRange {
  readonly kind: "graph";
  readonly name: number;
  readonly group: Group;
}
/** SERVICE; `name` is the token index of its IRI or variable. */
export interface ServiceElement extends TokenRange {
  readonly kind: "service";
  readonly name: number;
  readonly silent: boolean;
  readonly group: Group;
}
/** A group, or several joined by UNION. */
interface UnionElement extends TokenRange {
  readonly kind: "union";
  readonly branches: readonly Group[];
}
/** What can stand in a group. */
export type Element =
  | TriplesElement
  | FilterElement
  | BindElement
  | ValuesElement
  | NestedElement
  | GraphElement
  | ServiceElement
  | UnionElement;

/** SELECT, with what stands before and behind its WHERE. */
export interface SelectOutline extends TokenRange {
  /** `SELECT` up to the dataset clauses or WHERE. */
  readonly head: TokenRange;
  /** GROUP BY, HAVING, ORDER BY, LIMIT, OFFSET. */
  readonly tail: TokenRange;
  /** EXISTS groups of head and tail. */
  readonly exists: readonly Group[];
  readonly where: Group | undefined;
  readonly values: ValuesElement | undefined;
}

/** The structure of a query with the place of every part in the text. */
export interface QueryOutline extends SelectOutline {
  readonly form: "SELECT" | "ASK" | "CONSTRUCT" | "DESCRIBE";
  /** FROM and FROM NAMED clauses. */
  readonly datasets: readonly TokenRange[];
  /** `CONSTRUCT WHERE { ... }`: the pattern is the template. */
  readonly shortConstruct: boolean;
}

const queryForms = ["SELECT", "ASK", "CONSTRUCT", "DESCRIBE"] as const;
const elementWords = ["OPTIONAL", "MINUS", "GRAPH", "SERVICE", "FILTER", "BIND", "VALUES", "UNION", "SELECT"];

/**
 * Outlines a text that the parser has accepted; so it only needs to recognise, not to validate. Recursion is as
 * deep as the brackets, which `tokenize` limits.
 */
class Outliner {
  private readonly tokens: readonly Token[];
  private at = 0;

  constructor(tokens: readonly Token[]) {
    this.tokens = tokens;
  }

  private is(text: string, at = this.at): boolean {
    const token = this.tokens[at];
    return token !== undefined && token.text === text && (token.kind === "punct" || token.kind === "word");
  }

  /** Advances to the first token for which `stop` holds at bracket depth 0; outlines EXISTS groups on the way. */
  private skipUntil(stop: (at: number) => boolean, exists: Group[]): TokenRange {
    const from = this.at;
    let depth = 0;
    while (this.at < this.tokens.length) {
      if (depth === 0 && stop(this.at)) break;
      if (this.is("EXISTS") && this.is("{", this.at + 1)) {
        this.at++;
        exists.push(this.group());
        continue;
      }
      if (this.is("(") || this.is("[")) depth++;
      else if (this.is(")") || this.is("]")) depth--;
      this.at++;
    }
    return { from, to: this.at };
  }

  /** Advances behind the closing bracket of the one that opens here. */
  private brackets(exists: Group[]): void {
    this.at++;
    this.skipUntil((at) => this.is(")", at), exists);
    this.at++;
  }

  query(): QueryOutline {
    let at = 0;
    while (this.is("BASE", at) || this.is("PREFIX", at)) at += this.is("BASE", at) ? 2 : 3;
    this.at = at;
    const form = queryForms.find((word) => this.is(word)) ?? "SELECT";
    if (form === "CONSTRUCT" && this.is("{", at + 1)) {
      this.at = at + 2;
      this.skipUntil((i) => this.is("}", i), []);
      this.at++;
    }
    const shortConstruct = form === "CONSTRUCT" && this.at === at;
    if (shortConstruct) this.at++;
    const datasets: TokenRange[] = [];
    const select = this.selectFrom(at, datasets);
    return { ...select, form, datasets, shortConstruct };
  }

  private selectFrom(from: number, datasets: TokenRange[]): SelectOutline {
    const exists: Group[] = [];
    this.skipUntil((at) => this.headEnds(at), exists);
    const head = { from, to: this.at };
    while (this.is("FROM")) {
      const start = this.at;
      this.at += this.is("NAMED", start + 1) ? 3 : 2;
      datasets.push({ from: start, to: this.at });
    }
    if (this.is("WHERE")) this.at++;
    const where = this.is("{") ? this.group() : undefined;
    const tail = this.skipUntil((at) => this.is("VALUES", at) || this.is("}", at), exists);
    const values = this.is("VALUES") ? this.values() : undefined;
    return { from, to: this.at, head, tail, exists, where, values };
  }

  private headEnds(at: number): boolean {
    if (this.is("FROM", at) || this.is("WHERE", at) || this.is("{", at)) return true;
    return ["GROUP", "HAVING", "ORDER", "LIMIT", "OFFSET", "VALUES"].some((word) => this.is(word, at));
  }

  private group(): Group {
    const from = this.at++;
    if (this.is("SELECT")) {
      const select = this.selectFrom(this.at, []);
      this.at++;
      return { from, to: this.at, select, elements: [] };
    }
    const elements: Element[] = [];
    while (this.at < this.tokens.length && !this.is("}")) {
      if (this.is(".")) this.at++;
      else elements.push(this.element());
    }
    this.at++;
    return { from, to: this.at, elements };
  }

  private element(): Element {
    if (this.is("{")) return this.union();
    if (this.is("OPTIONAL")) return this.nested("optional");
    if (this.is("MINUS")) return this.nested("minus");
    if (this.is("GRAPH")) return this.graph();
    if (this.is("SERVICE")) return this.service();
    if (this.is("FILTER")) return this.filter();
    if (this.is("BIND")) return this.bind();
    return this.is("VALUES") ? this.values() : this.triples();
  }

  private nested(kind: NestedElement["kind"]): NestedElement {
    const from = this.at++;
    const group = this.group();
    return { kind, from, to: this.at, group };
  }

  private graph(): GraphElement {
    const from = this.at;
    this.at += 2;
    const group = this.group();
    return { kind: "graph", from, to: this.at, name: from + 1, group };
  }

  private service(): ServiceElement {
    const from = this.at;
    const silent = this.is("SILENT", from + 1);
    const name = from + (silent ? 2 : 1);
    this.at = name + 1;
    const group = this.group();
    return { kind: "service", from, to: this.at, name, silent, group };
  }

  private union(): UnionElement {
    const from = this.at;
    const branches = [this.group()];
    while (this.is("UNION")) {
      this.at++;
      branches.push(this.group());
    }
    return { kind: "union", from, to: this.at, branches };
  }

  private filter(): FilterElement {
    const from = this.at++;
    const exists: Group[] = [];
    if (this.is("NOT")) this.at++;
    if (this.is("EXISTS")) {
      this.at++;
      exists.push(this.group());
    } else {
      if (!this.is("(")) this.at++;
      this.brackets(exists);
    }
    return { kind: "filter", from, to: this.at, exists };
  }

  private bind(): BindElement {
    const from = this.at++;
    const exists: Group[] = [];
    this.brackets(exists);
    const variable = (this.tokens[this.at - 2]?.text ?? "?").slice(1);
    return { kind: "bind", from, to: this.at, exists, variable };
  }

  private values(): ValuesElement {
    const from = this.at++;
    const variables: string[] = [];
    for (; !this.is("{") && this.at < this.tokens.length; this.at++) {
      const token = tokenAt(this.tokens, this.at);
      if (token.kind === "var") variables.push(token.text.slice(1));
    }
    const tuples = this.is("(", from + 1);
    const rows: number[][] = [];
    this.at++;
    for (; !this.is("}") && this.at < this.tokens.length; this.at++) {
      if (tuples && this.is("(")) rows.push([]);
      else if (this.isCell() && tuples) rows.at(-1)?.push(this.at);
      else if (this.isCell()) rows.push([this.at]);
    }
    this.at++;
    return { kind: "values", from, to: this.at, variables, rows };
  }

  /** A token that starts a cell: not a bracket, sign, language tag, `^^` or the datatype behind it. */
  private isCell(): boolean {
    const token = tokenAt(this.tokens, this.at);
    return token.kind !== "punct" && token.kind !== "lang" && !this.is("^^", this.at - 1);
  }

  private triples(): TriplesElement {
    const stop = (at: number): boolean =>
      this.is("{", at) || this.is("}", at) || isWord(this.tokens[at], ...elementWords);
    const range = this.skipUntil(stop, []);
    // A stray word that the parser accepted but the outline does not know must not stop the loop.
    if (range.to === range.from) this.at++;
    return { kind: "triples", from: range.from, to: this.at };
  }
}

/** The outline of a query that the parser has accepted. */
export function outlineQuery(tokens: readonly Token[]): QueryOutline {
  return new Outliner(tokens).query();
}
