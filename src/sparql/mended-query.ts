import type { Expression, Term, Triple, VariableTerm } from "sparqljs";
import { FedwayError } from "../errors/fedway-error.ts";
import { editRange, editText, type TextEdit, textOf } from "./edit-text.ts";
import { isAggregated, partsOfExpression } from "./expression-parts.ts";
import type { Element, SelectOutline, TokenRange } from "./outline.ts";
import { followsGrammar, type ParsedQuery, parseQuery } from "./parse-query.ts";
import { isPath, mayBeEmpty } from "./query-patterns.ts";
import { elementsWithin, groupsOfSelect, groupsWithin, mentionedVariables, selectsOf, union } from "./scope.ts";
import { tokenAt } from "./tokens.ts";

// Oxigraph 0.5.11 gets some legal queries wrong. They are written otherwise for it, with the same meaning.

const aggregateWord = /\b(?:COUNT|SUM|MIN|MAX|AVG|SAMPLE|GROUP_CONCAT|GROUP\s+BY)\b/iu;
const repetition = /[>)\w]\s*[*?](?!\w)/u;

/** Longer texts hold the main thread for too long when they are parsed. */
const mostCharacters = 32_768;

/**
 * The query as the store answers it rightly; longer texts stay as they are.
 * - An aggregate over what the store knows to be empty would have no row: the emptiness is hidden from it.
 * - A column computed from an aggregate that an earlier column names is refused by it: the aggregate is written out.
 * - A path of no steps from a term that is not in the data would have no solution: it is added.
 * @throws FedwayError `QUERY_SYNTAX` for an illegal use that the store would take, such as SUM(COUNT(?x));
 *   `ENDPOINT_REJECTED_QUERY` for a column that cannot be written out
 */
export function mendedQuery(text: string): string {
  if (text.length > mostCharacters || !(aggregateWord.test(text) || repetition.test(text))) return text;
  const query = parsed(text);
  if (!query) return text;
  const selects = selectsOf(query.outline);
  const columns = selects.flatMap((select) => writtenColumns(query, select));
  const edits = [...selects.flatMap(hiddenEmptiness), ...columns, ...addedTerms(query)];
  return edits.length === 0 ? text : editText(query, edits);
}

/** Undefined for what only the store's parser reads. */
function parsed(text: string): ParsedQuery | undefined {
  try {
    return parseQuery(text);
  } catch (error) {
    if (!(error instanceof FedwayError)) throw error;
    if (error.code === "QUERY_SYNTAX" && followsGrammar(text)) throw error;
    return undefined;
  }
}

/** A condition that the store does not decide before it runs the query. */
const NEVER = "{ FILTER(1 = 2) }";

function hiddenEmptiness({ tree, where }: SelectOutline): readonly TextEdit[] {
  if (tree.queryType !== "SELECT" || tree.group || !isAggregated(tree) || !where) return [];
  const mayBeKnown = elementsWithin([where]).some(({ kind }) => kind === "filter" || kind === "values");
  if (!mayBeKnown) return [];
  const { from, to } = where;
  return [
    { range: { from, to: from + 1 }, replacement: "{ {" },
    { range: { from: to - 1, to }, replacement: `} UNION ${NEVER} }` },
  ];
}

/** Of columns that use earlier ones, what those name. */
function writtenColumns(query: ParsedQuery, select: SelectOutline): readonly TextEdit[] {
  const { tree } = select;
  if (tree.queryType !== "SELECT" || (!tree.group && !isAggregated(tree))) return [];
  const inPatterns = union(select.exists.map((group) => mentionedVariables(query.tokens, group)));
  /** The text in the place of each column; undefined where it must be computed once. */
  const earlier = new Map<string, string | undefined>();
  const edits: TextEdit[] = [];
  for (const column of tree.variables) {
    if (!("expression" in column)) continue;
    const own = usesIn(column.expression, earlier).map(({ variable, isWritable }): TextEdit => {
      const [range, replacement] = [query.places.get(variable), earlier.get(variable.value)];
      if (!range || replacement === undefined || !isWritable) throw notWritable(variable.value);
      return { range, replacement };
    });
    edits.push(...own);
    const { value } = column.variable;
    const written = editRange(query, expressionOf(query, column.variable), own);
    const isOnce = written.length > longestColumn || inPatterns.has(value) || isVolatile(column.expression);
    earlier.set(value, isOnce ? undefined : `(${written})`);
  }
  return edits;
}

/** Names double their length from column to column. */
const longestColumn = 4_096;

const isVolatile = (expression: Expression): boolean =>
  partsOfExpression(expression).some(
    (part) => "operator" in part && /^(?:rand|uuid|struuid|bnode)$/iu.test(part.operator),
  );

/** The expression of a column: what stands before AS, back to its bracket. */
function expressionOf({ places, tokens }: ParsedQuery, column: VariableTerm): TokenRange {
  const to = (places.get(column)?.from ?? 0) - 1;
  let from = to;
  for (let depth = 0; from > 0 && depth >= 0; from--) {
    const { text } = tokenAt(tokens, from - 1);
    if (text === ")") depth += 1;
    if (text === "(") depth -= 1;
  }
  return { from: from + 1, to };
}

/** Where an expression uses columns; BOUND takes nothing but a variable. */
const usesIn = (expression: Expression, columns: ReadonlyMap<string, unknown>) =>
  [...partsOfExpression(expression)].flatMap((part) => {
    const isBound = "operator" in part && part.operator === "bound";
    const term = isBound ? part.args[0] : part;
    const isUse = term && "termType" in term && term.termType === "Variable" && columns.has(term.value);
    return isUse ? { variable: term, isWritable: !isBound } : [];
  });

const notWritable = (name: string): FedwayError =>
  new FedwayError(
    "ENDPOINT_REJECTED_QUERY",
    `The hosted endpoint cannot compute a column of the column ?${name.slice(0, 60)}, which is computed from an aggregate.`,
    { next: `Compute ?${name.slice(0, 60)} in a subquery, and what uses it around that.` },
  );

/** Triples with a constant and a path that may have no steps, each with the solution of no steps. */
function addedTerms(query: ParsedQuery): readonly TextEdit[] {
  return [...groupsWithin(groupsOfSelect(query.outline), isOfDefaultGraph)].flatMap(({ elements }) =>
    elements.flatMap((element) => {
      if (element.kind !== "triples" || !element.triples.some(mayLackTerm)) return [];
      const written = element.triples.map((triple) => tripleText(query, triple));
      // Brackets and blank nodes belong to one block.
      if (written.includes(undefined)) return [];
      return [{ range: element, replacement: `${written.join(" ")} ` }];
    }),
  );
}

const isOfDefaultGraph = ({ kind }: Element): boolean => kind !== "graph" && kind !== "service";

const isVariable = (term: Term): boolean => term.termType === "Variable";

function mayLackTerm({ subject, predicate, object }: Triple): boolean {
  if (!isPath(predicate) || predicate.pathType === "/" || !mayBeEmpty(predicate)) return false;
  return isVariable(subject) !== isVariable(object) || (!isVariable(subject) && subject.equals(object));
}

function tripleText(query: ParsedQuery, triple: Triple): string | undefined {
  const { subject, predicate, object } = triple;
  if ([subject, object].some(({ termType }) => termType === "BlankNode")) return undefined;
  const [s, p, o] = [subject, predicate, object].map((node) => {
    const range = query.places.get(node);
    return range && textOf(query, range);
  });
  if (s === undefined || p === undefined || o === undefined) return undefined;
  if (!mayLackTerm(triple)) return `${s} ${p} ${o} .`;
  const [variable, constant] = isVariable(subject) ? [s, o] : [o, s];
  const values =
    variable === constant || (!isVariable(subject) && !isVariable(object)) ? "" : `VALUES ${variable} { ${constant} } `;
  return `{ ${s} ${p} ${o} } UNION { ${values}FILTER NOT EXISTS { ${s} ${p} ${o} } }`;
}
