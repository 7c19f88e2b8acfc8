import type { Pattern, PropertyPath, SelectQuery, Term, Triple, VariableTerm } from "sparqljs";

/**
 * Variables that every solution of a group's elements binds. Errs on the safe side: one that is left out may still be
 * bound everywhere.
 */
export function certainVariables(patterns: readonly Pattern[]): Set<string> {
  return new Set(patterns.flatMap((pattern) => [...certainInPattern(pattern)]));
}

/** The triples that each solution of a group's elements matches. */
export const requiredTriples = (patterns: readonly Pattern[]): readonly Triple[] =>
  patterns.flatMap((pattern) => {
    if (pattern.type === "group") return requiredTriples(pattern.patterns);
    return pattern.type === "bgp" ? pattern.triples : [];
  });

function certainInPattern(pattern: Pattern): Iterable<string> {
  switch (pattern.type) {
    case "bgp":
      return pattern.triples.flatMap(({ subject, predicate, object }) => [subject, predicate, object].flatMap(nameOf));
    case "group":
      return pattern.patterns.some(isNever) ? namesInRows(pattern.patterns) : certainVariables(pattern.patterns);
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

/** The FILTER of a group that replaced a clause without solutions: every statement about its solutions is true. */
function isNever(pattern: Pattern): boolean {
  if (pattern.type !== "filter" || !("type" in pattern.expression)) return false;
  const { expression } = pattern;
  if (expression.type !== "operation" || expression.operator !== "=") return false;
  const [one, other] = expression.args.map((arg) => ("termType" in arg ? arg.value : undefined));
  return one === "1" && other === "0";
}

const namesInRows = (patterns: readonly Pattern[]): string[] =>
  patterns
    .flatMap((pattern) => (pattern.type === "values" ? Object.keys(pattern.values[0] ?? {}) : []))
    .map((name) => name.slice(1));

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
