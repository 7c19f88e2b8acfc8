import type { Group, TokenRange } from "../parse/outline.ts";
import { type Token, tokenAt, whereAt } from "../parse/tokens.ts";
import type { ParsedQuery } from "../parse/parse-query.ts";
import { writtenIri } from "../parse/resolve-iri.ts";

/** The text and tokens of a query, as far as rewriting needs them. */
interface SourceText {
  readonly text: string;
  readonly tokens: readonly Token[];
}

/** Line and column of the first token of a range. */
export const placeOf = ({ text, tokens }: SourceText, { from }: TokenRange) =>
  whereAt(text, tokenAt(tokens, from).start);

/** Replacement of a token range. */
export interface TextEdit {
  readonly range: TokenRange;
  readonly replacement: string;
}

/**
 * A term in the place of a range, written as the query writes what stands there: IRIs in full where that has one in full, else with
 * a prefix that the query declares. A space sets it apart where the text has none.
 * @param term in N-Triples syntax, or a path over such terms
 */
export function termEdit({ text, tokens, prologue }: ParsedQuery, range: TokenRange, term: string): TextEdit {
  const isFull = tokens.slice(range.from, range.to).some(({ kind }) => kind === "iri");
  const written = isFull
    ? term
    : term.replaceAll(iriOutsideStrings, (all, iri?: string) => (iri === undefined ? all : writtenIri(prologue, iri)));
  const isApart = (at: number): boolean => /^[\s(){}[\],;]?$/.test(text.charAt(at));
  const [before, behind] = [tokenAt(tokens, range.from).start - 1, tokenAt(tokens, range.to - 1).end];
  return { range, replacement: `${isApart(before) ? "" : " "}${written}${isApart(behind) ? "" : " "}` };
}

const iriOutsideStrings = /"(?:[^"\\]|\\.)*"?|<([^<>"{}|\\^`\s]+)>/g;

/** The user's own characters of a token range; never starts or ends with a comment. */
export function textOf(source: SourceText, range: TokenRange): string {
  if (range.to <= range.from) return "";
  return source.text.slice(tokenAt(source.tokens, range.from).start, tokenAt(source.tokens, range.to - 1).end);
}

/** `range` of the text with edits applied; edits must lie inside it and must not overlap. */
export function editRange(source: SourceText, range: TokenRange, edits: readonly TextEdit[]): string {
  if (range.to <= range.from) return "";
  let at = tokenAt(source.tokens, range.from).start;
  let out = "";
  for (const edit of edits.toSorted((a, b) => a.range.from - b.range.from)) {
    const start = tokenAt(source.tokens, edit.range.from).start;
    if (start < at) throw new RangeError("overlapping edits");
    out += source.text.slice(at, start) + edit.replacement;
    at = tokenAt(source.tokens, edit.range.to - 1).end;
  }
  return out + source.text.slice(at, tokenAt(source.tokens, range.to - 1).end);
}

/** The whole text with edits applied; comments around the query survive. */
export function editText(source: SourceText, edits: readonly TextEdit[]): string {
  const whole = { from: 0, to: source.tokens.length };
  const last = source.tokens.at(-1);
  const start = source.tokens[0]?.start ?? 0;
  return source.text.slice(0, start) + editRange(source, whole, edits) + source.text.slice(last?.end ?? start);
}

/** `range` with each of the groups in it replaced by what `render` makes of it. */
export function replaceGroups(
  source: SourceText,
  range: TokenRange,
  replacing: { readonly groups: readonly Group[]; readonly render: (group: Group) => string },
): string {
  const edits = replacing.groups.map((group) => ({ range: group, replacement: replacing.render(group) }));
  return editRange(source, range, edits);
}

/** Takes FROM and FROM NAMED out. */
export const datasetEdits = ({ outline }: ParsedQuery): TextEdit[] =>
  outline.datasets.map((range) => ({ range, replacement: "" }));

/** A group without solutions that still brings variables into scope, so that `SELECT *` has the same columns. */
export function emptyGroup(variables: Iterable<string>): string {
  // Oxigraph leaves out the row of an aggregate over what it knows to be empty, as with FILTER(false).
  return `{ ${undefRow(variables)} FILTER(1 = 0) }`;
}

/** A group with one solution that binds nothing but brings variables into scope. */
export function unitGroup(variables: Iterable<string>): string {
  const row = undefRow(variables);
  return row === "" ? "{}" : `{ ${row} }`;
}

function undefRow(variables: Iterable<string>): string {
  const names = [...variables].toSorted();
  if (names.length === 0) return "";
  return `VALUES (${names.map((name) => `?${name}`).join(" ")}) { (${names.map(() => "UNDEF").join(" ")}) }`;
}

/**
 * The text of a query without dataset clauses, with the merge of these graphs as its default graph (section 13.2), and with
 * these named graphs.
 */
export function withDefaultGraphs(
  query: ParsedQuery,
  graphs: readonly string[],
  named: readonly string[] = [],
): string {
  const { head } = query.outline;
  const last = { from: head.to - 1, to: head.to };
  const clauses = [...graphs.map((iri) => ` FROM <${iri}>`), ...named.map((iri) => ` FROM NAMED <${iri}>`)].join("");
  return editText(query, [{ range: last, replacement: `${textOf(query, last)}${clauses} ` }]);
}
