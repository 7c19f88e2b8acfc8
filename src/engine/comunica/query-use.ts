import type { Algebra } from "@comunica/utils-algebra";
import type * as RDF from "@rdfjs/types";
import type { QueryNeeds } from "../sources/merged-graph.ts";
import { pathVariables } from "../sources/property-path.ts";
import type { TriplePattern } from "../sources/triple-pattern.ts";

/** How a query uses the variables of its patterns; learned from its algebra before anything is asked. */
export interface QueryUse extends QueryNeeds {
  /** Takes the whole algebra in; once, before the patterns are replaced by leaves. */
  read(operation: Algebra.Operation): void;
  /** Notes what will be asked for. */
  add(patterns: readonly TriplePattern[]): void;
  /** Something beside the patterns that share a leaf may mention the variable. */
  isVisible(variable: string): boolean;
}

/** @param text the query, whose own variables are always visible (COUNT(DISTINCT *) counts them) */
export function createQueryUse(text: string): QueryUse {
  const patterns: TriplePattern[] = [];
  const counts = new Map<string, number>();
  const mentioned = new Set<string>();
  let isToldApart = false;
  let all = false;
  const internal = new Set<string>(Object.values(pathVariables));
  const visit: Visitor = {
    pattern(name) {
      counts.set(name, (counts.get(name) ?? 0) + 1);
    },
    other(name, isUse) {
      mentioned.add(name);
      if (isUse) counts.set(name, (counts.get(name) ?? 0) + 1);
    },
    tellsApart() {
      isToldApart = true;
    },
    tellsAllApart() {
      all = true;
    },
  };
  return {
    patterns,
    read: (operation) => visitAlgebra(operation, visit),
    add: (more) => void patterns.push(...more),
    identified: (name) =>
      all ||
      (isToldApart && mentioned.has(name)) ||
      internal.has(name) ||
      name.startsWith("fedway_") ||
      (counts.get(name) ?? 0) > 1,
    isVisible: (name) => mentioned.has(name) || text.includes(`?${name}`) || text.includes(`$${name}`),
  };
}

interface Visitor {
  /** A variable in a triple or path pattern. */
  pattern(name: string): void;
  /** A variable elsewhere; `isUse` when its value is looked at and not only handed on. */
  other(name: string, isUse: boolean): void;
  /** The query compares solutions: whatever of them is mentioned beside the patterns. */
  tellsApart(): void;
  /** It counts distinct solutions, all of their variables. */
  tellsAllApart(): void;
}

const TELLING_APART = new Set(["distinct", "reduced", "group"]);
const HANDING_ON = new Set(["variables", "template"]);

function visitAlgebra(operation: Algebra.Operation, visit: Visitor): void {
  const { type } = operation;
  if (TELLING_APART.has(type)) visit.tellsApart();
  if (isDistinctWildcard(operation)) visit.tellsAllApart();
  if (type === "bgp") {
    for (const pattern of (operation as Algebra.Bgp).patterns) {
      for (const term of [pattern.subject, pattern.predicate, pattern.object]) visitTerm(term, visit);
    }
    return;
  }
  if (type === "path") {
    const { subject, object } = operation as Algebra.Path;
    for (const term of [subject, object]) visitTerm(term, visit);
    return;
  }
  for (const [key, value] of Object.entries(operation)) {
    if (key !== "metadata") visitValue(value, visit, !HANDING_ON.has(key));
  }
}

/** `COUNT(DISTINCT *)`. */
function isDistinctWildcard(operation: Algebra.Operation): boolean {
  const { distinct, expression } = operation as Partial<Algebra.AggregateExpression>;
  return distinct === true && expression?.subType === "wildcard";
}

function visitTerm(term: RDF.Term, visit: Visitor): void {
  if (term.termType === "Variable") visit.pattern(term.value);
}

function visitValue(value: unknown, visit: Visitor, isUse: boolean): void {
  if (Array.isArray(value)) for (const one of value) visitValue(one, visit, isUse);
  else if (isTerm(value)) {
    for (const name of variableNamesOf(value)) visit.other(name, isUse);
  } else if (typeof value === "object" && value !== null) {
    visitAlgebra(value as Algebra.Operation, visit);
  }
}

const isTerm = (value: unknown): value is RDF.Term =>
  typeof value === "object" && value !== null && typeof (value as RDF.Term).termType === "string";

function variableNamesOf(term: RDF.Term): readonly string[] {
  if (term.termType === "Variable") return [term.value];
  if (term.termType !== "Quad") return [];
  return [term.subject, term.predicate, term.object].flatMap((part) => variableNamesOf(part));
}
