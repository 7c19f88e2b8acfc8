import { itemAt } from "../../values.ts";
import type { Query, TextEdit } from "../parse/query.ts";
import type { Expression, PropertyPath, Term, Triple, VariableTerm } from "sparqljs";
import { FedwayError } from "../../errors/fedway-error.ts";
import { isAggregated, partsOfExpression } from "../structure/expression-parts.ts";
import type { Element, SelectOutline, TokenRange } from "../parse/outline.ts";
import { followsGrammar, parseQuery } from "../parse/parse-query.ts";
import { isPath, mayBeEmpty } from "../patterns/query-patterns.ts";
import { elementsWithin, groupsWithin, union } from "../structure/scope.ts";
import { placeIn } from "../parse/term-reader.ts";

// Oxigraph 0.5.11 gets some legal queries wrong. They are written otherwise for it, with the same meaning.

const aggregateWord = /\b(?:COUNT|SUM|MIN|MAX|AVG|SAMPLE|GROUP_CONCAT|GROUP\s+BY)\b/iu;
const repetition = /[>)\w]\s*[*?](?!\w)/u;
const alternative = /(?<!\|)\|(?!\|)/u;

/** Longer texts hold the main thread for too long when they are parsed. */
const mostCharacters = 32_768;

/**
 * The query as the store answers it rightly; longer texts stay as they are.
 * - An aggregate over what the store knows to be empty would have no row: the emptiness is hidden from it.
 * - A column computed from an aggregate that an earlier column names is refused by it: the aggregate is written out.
 * - A path of no steps from a term that is not in the data would have no solution: it is added.
 * - Alternatives of a path would give a solution that two of them have once: they become a UNION.
 * @throws FedwayError `QUERY_SYNTAX` for an illegal use that the store would take, such as SUM(COUNT(?x));
 *   `ENDPOINT_REJECTED_QUERY` for a column that cannot be written out
 */
export function mendedQuery(text: string): string {
  if (text.length > mostCharacters || ![aggregateWord, repetition, alternative].some((each) => each.test(text)))
    return text;
  const query = parsed(text);
  if (!query) return text;
  const selects = query.selects;
  const columns = selects.flatMap((select) => writtenColumns(query, select));
  const edits = [...selects.flatMap(hiddenEmptiness), ...columns, ...writtenPaths(query)];
  return edits.length === 0 ? text : query.cut(edits);
}

/** Undefined for what only the store's parser reads. */
function parsed(text: string): Query | undefined {
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
function writtenColumns(query: Query, select: SelectOutline): readonly TextEdit[] {
  const { tree } = select;
  if (tree.queryType !== "SELECT" || (!tree.group && !isAggregated(tree))) return [];
  const inPatterns = union(select.exists.map((group) => query.variablesIn(group)));
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
    const written = query.cutRange(expressionOf(query, column.variable), own);
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
function expressionOf({ places, tokens }: Query, column: VariableTerm): TokenRange {
  const to = placeIn(places, column).from - 1;
  let from = to;
  for (let depth = 0; from > 0 && depth >= 0; from--) {
    const { text } = itemAt(tokens, from - 1);
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

/** Triples with a path: each alternative for itself, and where it may have no steps, the solution of no steps. */
function writtenPaths(query: Query): readonly TextEdit[] {
  const groups = query.outline.groups;
  // In a named graph only the terms of that graph have a path of no steps.
  const ofDefaultGraph = new Set(groupsWithin(groups, isOfDefaultGraph));
  return [...groupsWithin(groups, ({ kind }) => kind !== "service")].flatMap((group) => {
    const mayLack = (triple: Triple): boolean => ofDefaultGraph.has(group) && mayLackTerm(triple);
    return group.elements.flatMap((element) => {
      if (element.kind !== "triples" || !element.triples.some((triple) => mayLack(triple) || hasAlternatives(triple)))
        return [];
      const written = element.triples.map((triple) => tripleText(query, triple, mayLack));
      // Brackets and blank nodes belong to one block.
      if (written.includes(undefined)) return [];
      return [{ range: element, replacement: `${written.join(" ")} ` }];
    });
  });
}

const isOfDefaultGraph = ({ kind }: Element): boolean => kind !== "graph" && kind !== "service";

const isVariable = (term: Term): boolean => term.termType === "Variable";

function mayLackTerm({ subject, predicate, object }: Triple): boolean {
  if (!isPath(predicate) || predicate.pathType === "/" || !mayBeEmpty(predicate)) return false;
  return isVariable(subject) !== isVariable(object) || (!isVariable(subject) && subject.equals(object));
}

type Path = Triple["predicate"];

/** More alternatives than these are asked as they are. */
const mostAlternatives = 64;

function hasAlternatives({ predicate }: Triple): boolean {
  const { length } = "type" in predicate ? alternativesOf(predicate) : [];
  return length > 1 && length <= mostAlternatives;
}

/** The paths without alternatives that a path stands for together (SPARQL 1.1 Query, section 18.2.2.4); those of a repetition stay in it. */
function alternativesOf(path: Path | PropertyPath["items"][number]): readonly Exclude<Path, VariableTerm>[] {
  if (!("type" in path)) return path.termType === "Variable" ? [] : [path];
  const { pathType, items } = path;
  if (pathType !== "|" && pathType !== "^" && pathType !== "/") return [path];
  const each = items.map(alternativesOf);
  if (pathType === "|") return each.flat();
  const number = each.reduce((product, { length }) => product * length, 1);
  if (number === 1 || number > mostAlternatives) return [path];
  const sequences = each.reduce<readonly PropertyPath["items"][]>(
    (starts, ends) => starts.flatMap((start) => ends.map((end) => [...start, end])),
    [[]],
  );
  return sequences.map((sequence) => ({ type: "path", pathType, items: sequence }));
}

function pathText(query: Query, path: Path): string | undefined {
  const range = query.places.get(path);
  if (range) return query.textOf(range);
  if (!("type" in path)) return undefined;
  const items = path.items.map((item) => `(${pathText(query, item)})`);
  return path.pathType === "^" ? `^${items[0]}` : items.join("/");
}

function tripleText(query: Query, triple: Triple, mayLack: (triple: Triple) => boolean): string | undefined {
  const { subject, predicate, object } = triple;
  if ([subject, object].some(({ termType }) => termType === "BlankNode")) return undefined;
  const [s, o] = [subject, object].map((node) => {
    const range = query.places.get(node);
    return range && query.textOf(range);
  });
  if (s === undefined || o === undefined) return undefined;
  const paths = hasAlternatives(triple) ? alternativesOf(predicate) : [predicate];
  const texts = paths.map((path) => {
    const p = pathText(query, path);
    if (!mayLack({ ...triple, predicate: path })) return `${s} ${p} ${o} .`;
    const [variable, constant] = isVariable(subject) ? [s, o] : [o, s];
    const isKnown = variable === constant || (!isVariable(subject) && !isVariable(object));
    const values = isKnown ? "" : `VALUES ${variable} { ${constant} } `;
    return `{ ${s} ${p} ${o} } UNION { ${values}FILTER NOT EXISTS { ${s} ${p} ${o} } }`;
  });
  return texts.length === 1 ? texts[0] : `{ ${texts.join(" } UNION { ")} }`;
}
