import { itemAt } from "../values.ts";
import { type Query, type ServiceClause, type ServiceElement, type TextEdit } from "../sparql/query.ts";

/** Which clauses are members of the federation, as opposed to extensions of an endpoint's engine. */
type IsMember = (service: ServiceElement) => boolean;

/** The text without FROM and FROM NAMED. */
export const withoutDatasets = (query: Query): string => query.cut(query.datasetEdits);

/**
 * The text with `SERVICE <iri> { P }` replaced by `{ P }` at every depth, and by `P` where the clause is all there is
 * in a WHERE. The braces keep the scope of FILTER, BIND, VALUES and subqueries; where an engine might take a FILTER
 * for the condition of the OPTIONAL around it, `{ SELECT * { P } }` does.
 */
export function withoutWrappers(query: Query, isMember: IsMember): string {
  const { tokens } = query;
  const edits = query.services
    .filter((clause) => isMember(clause.element))
    .flatMap(({ element, fillsWhere, fillsOptional }): TextEdit[] => {
      // `SERVICE <a> { ?s ?p ?o . } .` must not become `?s ?p ?o . .`.
      if (fillsWhere && tokens[element.to]?.text !== ".") return braces(element, "", "");
      if (fillsOptional && query.hasScopedFilter(element.group)) return braces(element, "{ SELECT * {", "} }");
      return [{ range: { from: element.from, to: element.name + 1 }, replacement: "" }];
    });
  return query.cut(edits);
}

/** Replaces `SERVICE <iri> {` and its closing brace. */
function braces(element: ServiceElement, open: string, close: string): TextEdit[] {
  return [
    { range: { from: element.from, to: element.name + 2 }, replacement: open },
    { range: { from: element.to - 1, to: element.to }, replacement: close },
  ];
}

/** The text with every outermost member clause replaced by one empty solution: what SILENT makes of a failure. */
export function withEmptySolutions(query: Query, isMember: IsMember): string {
  const all = query.outline.projectsAll;
  const edits = outermost(query, isMember).map(({ element }) => ({
    range: element,
    replacement: all ? unitGroup(query.visibleIn(element)) : "{}",
  }));
  return query.cut([...edits, ...query.datasetEdits]);
}

/** Member clauses that stand in no other member clause. */
export function outermost(query: Query, isMember: IsMember): readonly ServiceClause[] {
  return query.services.filter((clause) => isMember(clause.element) && !clause.parent);
}

/** The text with each GRAPH around a SERVICE replaced by a group without solutions: our dataset has no named graph. */
export function withEmptyGraphs(query: Query): string {
  const edits = query.serviceGraphs.map((element) => ({
    range: element,
    replacement: emptyGroup(query.visibleIn(element)),
  }));
  return query.cut(edits);
}

/** A group without solutions that still brings variables into scope, so that `SELECT *` has the same columns. */
export function emptyGroup(variables: Iterable<string>): string {
  // Oxigraph leaves out the row of an aggregate over what it knows to be empty, as with FILTER(false).
  return `{ ${undefRow(variables)} FILTER(1 = 0) }`;
}

/** A group with one solution that binds nothing but brings variables into scope. */
function unitGroup(variables: Iterable<string>): string {
  const row = undefRow(variables);
  return row === "" ? "{}" : `{ ${row} }`;
}

function undefRow(variables: Iterable<string>): string {
  const names = [...variables].toSorted();
  if (names.length === 0) return "";
  return `VALUES (${names.map((name) => `?${name}`).join(" ")}) { (${names.map(() => "UNDEF").join(" ")}) }`;
}

/**
 * The text with each `SERVICE ?v { P }`, as far as the values of `?v` are known, replaced by the union over the
 * values of `VALUES ?v { <iri> } SERVICE <iri> { P }` (SPARQL 1.1 Federated Query, section 4); and each SERVICE whose IRI
 * stands for several endpoints by the union over these.
 * @param endpointsOf the endpoints that an IRI stands for; undefined when it is one endpoint's own
 */
export function withExpandedTargets(query: Query, endpointsOf: (iri: string) => readonly string[] | undefined): string {
  const edits: TextEdit[] = [];
  let done = 0;
  for (const { target, element } of query.services) {
    const named = target.kind === "iri" ? endpointsOf(target.iri) : target.values?.map(({ iri = "" }) => iri);
    if (!named || element.from < done) continue;
    const variable = target.kind === "variable" ? target.name : undefined;
    edits.push({ range: element, replacement: expansion(query, element, { variable, named }) });
    done = element.to;
  }
  return query.cut(edits);
}

interface Expanded {
  readonly variable: string | undefined;
  readonly named: readonly string[];
}

function expansion(query: Query, element: ServiceElement, { variable, named }: Expanded): string {
  if (named.length === 0) return emptyGroup(query.visibleIn(element));
  const silent = element.silent ? "SILENT " : "";
  const branches = named.map((iri, copy) => {
    const body = copy === 0 ? query.textOf(element.group) : copyWithOwnLabels(query, element, copy);
    const value = variable === undefined ? "" : `VALUES ?${variable} { <${iri}> } `;
    return `{ ${value}SERVICE ${silent}<${iri}> ${body} }`;
  });
  return branches.join(" UNION ");
}

/** A blank-node label may not occur in two graph patterns, so each copy of a body gets labels of its own. */
function copyWithOwnLabels(query: Query, element: ServiceElement, copy: number): string {
  const { tokens, text } = query;
  const edits: TextEdit[] = [];
  for (let at = element.group.from; at < element.group.to; at++) {
    const token = itemAt(tokens, at);
    if (token.kind !== "blank") continue;
    let label = `${token.text}_${copy}`;
    while (text.includes(label)) label += "x";
    edits.push({ range: { from: at, to: at + 1 }, replacement: label });
  }
  return query.cutRange(element.group, edits);
}

type Tree = Record<string, unknown>;

const isTree = (value: unknown): value is Tree => typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * True when two queries have the same syntax tree once member clauses are read as plain groups and dataset clauses
 * are left out: the proof, before anything is sent, that only wrappers were removed.
 */
export function sameWithoutWrappers(a: Query, b: Query, isMemberIri: (iri: string) => boolean): boolean {
  return shape(a, isMemberIri) === shape(b, isMemberIri);
}

function shape(query: Query, isMemberIri: (iri: string) => boolean): string {
  return JSON.stringify(query.ast, (key, value: unknown) => {
    // The whole query is no subquery.
    if (key === "") return value;
    if (key === "from") return undefined;
    if (key === "where" && Array.isArray(value)) return whereShape(value, isMemberIri);
    return isTree(value) ? nodeShape(value, isMemberIri) : value;
  });
}

function isMemberClause(tree: Tree, isMemberIri: (iri: string) => boolean): boolean {
  const name = tree["name"];
  return tree["type"] === "service" && isTree(name) && isMemberIri(String(name["value"]));
}

/** `SELECT * { P }` without modifiers, which has the solutions of `{ P }`. */
function isPlainSubquery(tree: Tree): boolean {
  const { type, variables } = tree;
  if (type !== "query" || !Array.isArray(variables)) return false;
  const first: unknown = variables[0];
  const keys = Object.keys(tree).filter(
    (key) => !["type", "queryType", "variables", "where", "prefixes"].includes(key),
  );
  return keys.length === 0 && isTree(first) && first["termType"] === "Wildcard";
}

function nodeShape(tree: Tree, isMemberIri: (iri: string) => boolean): Tree {
  let node = tree;
  for (;;) {
    if (isMemberClause(node, isMemberIri)) node = { type: "group", patterns: node["patterns"] };
    if (isPlainSubquery(node)) node = { type: "group", patterns: node["where"] };
    const inner = node["patterns"];
    const only: unknown = node["type"] === "group" && Array.isArray(inner) && inner.length === 1 ? inner[0] : undefined;
    // `{ { P } }` is `{ P }`; a FILTER or BIND alone keeps its group.
    if (!isTree(only) || only["type"] === "filter" || only["type"] === "bind") return node;
    node = only;
  }
}

/** WHERE with one group in it is WHERE with the group's content. */
function whereShape(where: readonly unknown[], isMemberIri: (iri: string) => boolean): readonly unknown[] {
  let patterns = where;
  while (patterns.length === 1 && isTree(patterns[0])) {
    const only = patterns[0];
    const opened = isMemberClause(only, isMemberIri) || only["type"] === "group";
    if (!opened || !Array.isArray(only["patterns"])) break;
    patterns = only["patterns"] as readonly unknown[];
  }
  return patterns;
}
