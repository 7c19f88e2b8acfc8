import { itemAt } from "../../values.ts";
import type { Query as Tree } from "sparqljs";
import { analysisOf } from "../structure/analysis.ts";
import type { Element, Group, QueryOutline, SelectOutline, TokenRange } from "./outline.ts";
import type { Prologue } from "./prologue.ts";
import {
  groupsWithin,
  mentionedVariables,
  projectedVariables,
  visibleInElement,
  visibleInGroup,
} from "../structure/scope.ts";
import type { Places } from "./term-reader.ts";
import { areFewToEvaluate, refuseLargeEvaluation, isWord, type Token, whereAt } from "./tokens.ts";
import { certainVariables } from "../structure/certain-variables.ts";
import { nonMonotoneWords } from "../patterns/monotone.ts";
import { QueryTree } from "./query-tree.ts";
import { foldedTokens } from "../rewrite/united-services.ts";

/** The four query forms of SPARQL 1.1. */
export type QueryForm = QueryOutline["form"];

/** The values of `AnswerKind` in `results/model.ts`, which this folder does not import. */
type AnswerKind = "bindings" | "boolean" | "quads";

/** Replacement of a token range. */
export interface TextEdit {
  readonly range: TokenRange;
  readonly replacement: string;
}

interface QueryParts {
  readonly ast: Tree;
  readonly text: string;
  readonly tokens: readonly Token[];
  readonly vocabulary: ReadonlySet<string>;
  readonly prologue: Prologue;
  readonly places: Places;
  readonly outline: QueryOutline;
}

const kinds: Record<QueryForm, AnswerKind> = {
  SELECT: "bindings",
  ASK: "boolean",
  CONSTRUCT: "quads",
  DESCRIBE: "quads",
};

/** The kind of answer a query form has. */
export const answerKindOf = (form: QueryForm): AnswerKind => kinds[form];

/** A query that is valid SPARQL 1.1, with its syntax tree and the place of each part in the text. */
export class Query extends QueryTree implements QueryParts {
  /** As it was written, but for codepoint escapes outside of strings. */
  readonly text: string;
  readonly tokens: readonly Token[];
  /** The keywords in it, in upper case, and the kinds of its other tokens. */
  readonly vocabulary: ReadonlySet<string>;
  readonly prologue: Prologue;
  /** Where its terms and paths are written. */
  readonly places: Places;
  readonly outline: QueryOutline;
  #analysis: ReturnType<typeof analysisOf> | undefined;

  constructor({ text, ast, tokens, vocabulary, prologue, places, outline }: QueryParts) {
    super(ast);
    this.text = text;
    this.tokens = tokens;
    this.vocabulary = vocabulary;
    this.prologue = prologue;
    this.places = places;
    this.outline = outline;
  }

  get form(): QueryForm {
    return this.outline.form;
  }

  get kind(): AnswerKind {
    return kinds[this.form];
  }

  #analysed() {
    return (this.#analysis ??= analysisOf(this));
  }

  /** It has a word without which missing solutions only take rows away. */
  get mayAddRows(): boolean {
    return nonMonotoneWords.some((word) => this.vocabulary.has(word));
  }

  /** Its SELECT, or other form, and all subqueries inside it. */
  get selects(): readonly SelectOutline[] {
    return [this.outline, ...Array.from(groupsWithin(this.outline.groups)).flatMap(({ select }) => select ?? [])];
  }

  /** Its SERVICE clauses, wherever they stand, in text order, each before those nested in it. */
  get services() {
    return this.#analysed().services;
  }

  /** Patterns outside of every SERVICE that need data: triples (property paths included), or GRAPH. */
  get outside() {
    return this.#analysed().outside;
  }

  /** Outermost GRAPH patterns, outside of every SERVICE, with a SERVICE inside. */
  get serviceGraphs() {
    return this.#analysed().serviceGraphs;
  }

  /** FROM and FROM NAMED. */
  get datasets(): readonly { readonly iri: string; readonly named: boolean }[] {
    return this.outline.datasets.map(({ from, to }) => ({
      iri: this.prologue.iriOf(itemAt(this.tokens, to - 1)),
      named: to - from === 3,
    }));
  }

  /** Takes FROM and FROM NAMED out. */
  get datasetEdits(): TextEdit[] {
    return this.outline.datasets.map((range) => ({ range, replacement: "" }));
  }

  /** The columns that its answer must have, and those that may be there too; undefined without a SELECT. */
  get columns(): { readonly asked: readonly string[]; readonly allowed: readonly string[] } | undefined {
    if (this.form !== "SELECT") return undefined;
    const asked = [...this.projected(this.outline)];
    // Engines differ on which variables SELECT * means.
    const allowed = this.outline.projectsAll ? this.variablesIn({ from: 0, to: this.tokens.length }) : [];
    return { asked, allowed: [...allowed] };
  }

  /** The projected variables of one of its SELECTs (`*`: the visible ones of its WHERE). */
  projected(select: SelectOutline): Set<string> {
    return projectedVariables(this.tokens, select);
  }

  /** Names of all variables written in a range, without `?`. */
  variablesIn(range: TokenRange): Set<string> {
    return mentionedVariables(this.tokens, range);
  }

  /** Variables that a group or an element brings into scope (SPARQL 1.1 Query, section 18.2.1). */
  visibleIn(part: Group | Element): Set<string> {
    return part.kind === "group" ? visibleInGroup(this.tokens, part) : visibleInElement(this.tokens, part);
  }

  /**
   * True when a group has a FILTER on a variable that the group may leave unbound. Such a FILTER must not become the condition of an
   * OPTIONAL around it, where it would see the variables of the left side; some engines take `OPTIONAL { { P FILTER } }` for
   * `OPTIONAL { P FILTER }`.
   */
  hasScopedFilter({ elements, patterns }: Group): boolean {
    const certain = certainVariables(patterns);
    return elements.some((each) => each.kind === "filter" && !this.variablesIn(each).isSubsetOf(certain));
  }

  /** @throws FedwayError `QUERY_TOO_LARGE` for a query that is too large to be evaluated here */
  refuseLargeEvaluation(): void {
    if (!areFewToEvaluate(this.tokens)) refuseLargeEvaluation(this.text, foldedTokens(this));
  }

  /** Line and column of the first token of a range. */
  whereIs({ from }: TokenRange): { readonly line: number; readonly column: number } {
    return whereAt(this.text, itemAt(this.tokens, from).start);
  }

  /** The user's own characters of a token range; never starts or ends with a comment. */
  textOf({ from, to }: TokenRange): string {
    return to <= from ? "" : this.text.slice(itemAt(this.tokens, from).start, itemAt(this.tokens, to - 1).end);
  }

  /** True if two places, the first before the second, are in different branches of one UNION. */
  areAlternatives(one: number, other: number): boolean {
    const between = this.tokens.slice(one, other);
    let depth = 0;
    // Braces and UNION with their depth; a brace is where it stands, not what it opens or closes.
    const steps = between.map((token) => {
      if (token.text === "}") depth -= 1;
      return { token, depth: token.text === "{" ? depth++ : depth };
    });
    const least = Math.min(...steps.map((step) => step.depth));
    const [first, ...others] = steps.filter((step) => step.depth === least).map(({ token }) => token);
    return first?.text === "}" && others.length > 1 && others.every((token, at) => isStepOfUnion(token, at % 3));
  }

  /** The text with edits applied, comments around the query included; edits must not overlap. */
  cut(edits: readonly TextEdit[]): string {
    const start = this.tokens[0]?.start ?? 0;
    const end = this.tokens.at(-1)?.end ?? start;
    const whole = { from: 0, to: this.tokens.length };
    return this.text.slice(0, start) + this.cutRange(whole, edits) + this.text.slice(end);
  }

  /** A range of the text with edits applied; edits must lie inside it and must not overlap. */
  cutRange(range: TokenRange, edits: readonly TextEdit[]): string {
    if (range.to <= range.from) return "";
    let at = itemAt(this.tokens, range.from).start;
    let out = "";
    for (const edit of edits.toSorted((a, b) => a.range.from - b.range.from)) {
      const start = itemAt(this.tokens, edit.range.from).start;
      if (start < at) throw new RangeError("overlapping edits");
      out += this.text.slice(at, start) + edit.replacement;
      at = itemAt(this.tokens, edit.range.to - 1).end;
    }
    return out + this.text.slice(at, itemAt(this.tokens, range.to - 1).end);
  }

  /**
   * The text of a query without dataset clauses, with the merge of these graphs as its default graph (section 13.2), and with
   * these named graphs.
   */
  withDefaultGraphs(graphs: readonly string[], named: readonly string[] = []): string {
    const { to } = this.outline.head;
    const last = { from: to - 1, to };
    const clauses = [...graphs.map((iri) => ` FROM <${iri}>`), ...named.map((iri) => ` FROM NAMED <${iri}>`)].join("");
    return this.cut([{ range: last, replacement: `${this.textOf(last)}${clauses} ` }]);
  }

  /**
   * A term in the place of a range, written as the query writes what stands there: IRIs in full where that has one in full, else with
   * a prefix that the query declares. A space sets it apart where the text has none.
   * @param term in N-Triples syntax, or a path over such terms
   */
  termEdit(range: TokenRange, term: string): TextEdit {
    const isFull = this.tokens.slice(range.from, range.to).some(({ kind }) => kind === "iri");
    const shortened = (all: string, iri?: string): string => (iri === undefined ? all : this.prologue.written(iri));
    const written = isFull ? term : term.replaceAll(iriOutsideStrings, shortened);
    const isApart = (at: number): boolean => /^[\s(){}[\],;]?$/.test(this.text.charAt(at));
    const [before, behind] = [itemAt(this.tokens, range.from).start - 1, itemAt(this.tokens, range.to - 1).end];
    return { range, replacement: `${isApart(before) ? "" : " "}${written}${isApart(behind) ? "" : " "}` };
  }
}

const iriOutsideStrings = /"(?:[^"\\]|\\.)*"?|<([^<>"{}|\\^`\s]+)>/g;

/** `UNION { }`, again and again. */
const isStepOfUnion = (token: Token, at: number): boolean =>
  at === 0 ? isWord(token, "UNION") : token.text === (at === 1 ? "{" : "}");
