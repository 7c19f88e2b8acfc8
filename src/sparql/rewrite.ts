import { type AnalysedQuery, type ServiceClause } from "./analyse-query.ts";
import { editRange, editText, emptyGroup, type TextEdit, textOf, unitGroup } from "./edit-text.ts";
import type { ServiceElement } from "./outline.ts";
import { hasScopedFilter, projectsAll, visibleInElement } from "./scope.ts";
import { tokenAt } from "./tokens.ts";

/** Which clauses are members of the federation, as opposed to extensions of an endpoint's engine. */
export type IsMember = (service: ServiceElement) => boolean;

const datasetEdits = (query: AnalysedQuery): TextEdit[] =>
  query.parsed.outline.datasets.map((range) => ({ range, replacement: "" }));

/** The text without FROM and FROM NAMED. */
export function withoutDatasets(query: AnalysedQuery): string {
  return editText(query.parsed, datasetEdits(query));
}

/**
 * The text with `SERVICE <iri> { P }` replaced by `{ P }` at every depth, and by `P` where the clause is all there is
 * in a WHERE. The braces keep the scope of FILTER, BIND, VALUES and subqueries; where an engine might take a FILTER
 * for the condition of the OPTIONAL around it, `{ SELECT * { P } }` does.
 */
export function withoutWrappers(query: AnalysedQuery, isMember: IsMember): string {
  const { tokens } = query.parsed;
  const edits = query.services
    .filter((clause) => isMember(clause.element))
    .flatMap(({ element, fillsWhere, fillsOptional }): TextEdit[] => {
      // `SERVICE <a> { ?s ?p ?o . } .` must not become `?s ?p ?o . .`.
      if (fillsWhere && tokens[element.to]?.text !== ".") return braces(element, "", "");
      if (fillsOptional && hasScopedFilter(tokens, element.group)) return braces(element, "{ SELECT * {", "} }");
      return [{ range: { from: element.from, to: element.name + 1 }, replacement: "" }];
    });
  return editText(query.parsed, edits);
}

/** Replaces `SERVICE <iri> {` and its closing brace. */
function braces(element: ServiceElement, open: string, close: string): TextEdit[] {
  return [
    { range: { from: element.from, to: element.name + 2 }, replacement: open },
    { range: { from: element.to - 1, to: element.to }, replacement: close },
  ];
}

/** The text with every outermost member clause replaced by one empty solution: what SILENT makes of a failure. */
export function withEmptySolutions(query: AnalysedQuery, isMember: IsMember): string {
  const all = projectsAll(query.parsed.tokens, query.parsed.outline);
  const edits = outermost(query, isMember).map(({ element }) => ({
    range: element,
    replacement: all ? unitGroup(visibleInElement(query.parsed.tokens, element)) : "{}",
  }));
  return editText(query.parsed, [...edits, ...datasetEdits(query)]);
}

/** Member clauses that stand in no other member clause. */
export function outermost(query: AnalysedQuery, isMember: IsMember): readonly ServiceClause[] {
  return query.services.filter((clause) => isMember(clause.element) && !clause.parent);
}

/** The text with each GRAPH around a SERVICE replaced by a group without solutions: our dataset has no named graph. */
export function withEmptyGraphs(query: AnalysedQuery): string {
  const edits = query.serviceGraphs.map((element) => ({
    range: element,
    replacement: emptyGroup(visibleInElement(query.parsed.tokens, element)),
  }));
  return editText(query.parsed, edits);
}

/**
 * The text with each `SERVICE ?v { P }`, as far as the values of `?v` are known, replaced by the union over the
 * values of `VALUES ?v { <iri> } SERVICE <iri> { P }` (SPARQL 1.1 Federated Query, section 4).
 */
export function withExpandedVariables(query: AnalysedQuery): string {
  const edits: TextEdit[] = [];
  let done = 0;
  for (const { target, element } of query.services) {
    if (target.kind !== "variable" || !target.values || element.from < done) continue;
    edits.push({ range: element, replacement: expansion(query, element, target) });
    done = element.to;
  }
  return editText(query.parsed, edits);
}

function expansion(
  query: AnalysedQuery,
  element: ServiceElement,
  target: ServiceClause["target"] & { kind: "variable" },
): string {
  const values = target.values ?? [];
  if (values.length === 0) return emptyGroup(visibleInElement(query.parsed.tokens, element));
  const silent = element.silent ? "SILENT " : "";
  const branches = values.map(({ iri }, copy) => {
    const body = copy === 0 ? textOf(query.parsed, element.group) : copyWithOwnLabels(query, element, copy);
    return `{ VALUES ?${target.name} { <${iri}> } SERVICE ${silent}<${iri}> ${body} }`;
  });
  return branches.join(" UNION ");
}

/** A blank-node label may not occur in two graph patterns, so each copy of a body gets labels of its own. */
function copyWithOwnLabels(query: AnalysedQuery, element: ServiceElement, copy: number): string {
  const { tokens, text } = query.parsed;
  const edits: TextEdit[] = [];
  for (let at = element.group.from; at < element.group.to; at++) {
    const token = tokenAt(tokens, at);
    if (token.kind !== "blank") continue;
    let label = `${token.text}_${copy}`;
    while (text.includes(label)) label += "x";
    edits.push({ range: { from: at, to: at + 1 }, replacement: label });
  }
  return editRange(query.parsed, element.group, edits);
}
