import type { Pattern, PropertyPath, SelectQuery, Term, Triple, VariableTerm } from "sparqljs";

/**
 * Variables that every solution of a group's elements binds. Errs on the safe side: one that is left out may still be
 * bound everywhere.
 */
export function certainVariables(patterns: readonly Pattern[]): Set<string> {
  return new Set(patterns.flatMap((pattern) => [...certainInPattern(pattern)]));
}

function certainInPattern(pattern: Pattern): Iterable<string> {
  switch (pattern.type) {
    case "bgp":
      return pattern.triples.flatMap(({ subject, predicate, object }) => [subject, predicate, object].flatMap(nameOf));
    case "group":
      return certainVariables(pattern.patterns);
    case "graph":
      return [...nameOf(pattern.name), ...certainVariables(pattern.patterns)];
    case "service":
      // A silenced service may give one solution that binds nothing.
      return pattern.silent ? [] : [...nameOf(pattern.name), ...certainVariables(pattern.patterns)];
    case "union": {
      const [first = [], ...others] = pattern.patterns.map((branch) => new Set(certainInPattern(branch)));
      return [...first].filter((name) => others.every((branch) => branch.has(name)));
    }
    case "values":
      return certainInRows(pattern.values);
    case "query":
      return certainInSelect(pattern);
    default:
      // OPTIONAL and MINUS bind nothing for certain, a BIND's expression may fail.
      return [];
  }
}

function certainInRows(rows: readonly Readonly<Record<string, unknown>>[]): string[] {
  const names = new Set(rows.flatMap((row) => Object.keys(row)));
  return [...names].filter((name) => rows.every((row) => row[name] !== undefined)).map((name) => name.slice(1));
}

function certainInSelect(query: SelectQuery): Iterable<string> {
  const inner = certainVariables(query.where ?? []);
  for (const name of certainInRows(query.values ?? [])) inner.add(name);
  const plain = query.variables.flatMap((variable) => ("termType" in variable ? [variable] : []));
  if (plain.some(({ termType }) => termType === "Wildcard")) return inner;
  return plain.map(({ value }) => value).filter((name) => inner.has(name));
}

function nameOf(term: Term | PropertyPath): string[] {
  return isVariable(term) ? [term.value] : [];
}

function isVariable(term: Term | PropertyPath): term is VariableTerm {
  return "termType" in term && term.termType === "Variable";
}

/** How much constants narrow a group: subjects and objects that are terms (classes aside), filters, inline data. */
export function selectivityOf(patterns: readonly Pattern[]): number {
  return patterns.reduce((sum, pattern) => sum + selectivityOfPattern(pattern), 0);
}

const rdfType = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";

function selectivityOfPattern(pattern: Pattern): number {
  switch (pattern.type) {
    case "bgp":
      return pattern.triples.reduce((sum, triple) => sum + selectivityOfTriple(triple), 0);
    case "filter":
      return 1;
    case "values":
      return 4;
    case "query":
      return selectivityOf(pattern.where ?? []) + (pattern.limit === undefined ? 0 : 2);
    case "group":
    case "graph":
      return selectivityOf(pattern.patterns);
    default:
      return 0;
  }
}

function selectivityOfTriple({ subject, predicate, object }: Triple): number {
  const isClass = "termType" in predicate && predicate.value === rdfType;
  return (isConstant(subject) ? 3 : 0) + (isConstant(object) && !isClass ? 2 : 0);
}

function isConstant({ termType }: Term): boolean {
  return termType === "NamedNode" || termType === "Literal";
}
