import type { ParsedQuery } from "./parse-query.ts";

const rdfType = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";

/** IRIs that a query asks for, each once, in order of appearance. */
export interface UsedTerms {
  /** Predicates, those inside property paths included; `rdf:type` left out. */
  readonly predicates: readonly string[];
  /** Objects of `rdf:type`. */
  readonly classes: readonly string[];
}

/** The predicates and classes that a query's patterns name. */
export function usedTerms(query: ParsedQuery): UsedTerms {
  const predicates = new Set<string>();
  const classes = new Set<string>();
  const pending: unknown[] = [query.ast.where];
  while (pending.length > 0) {
    const node = pending.pop();
    if (typeof node !== "object" || node === null) continue;
    if ("subject" in node && "predicate" in node && "object" in node) {
      addTriple(node, predicates, classes);
      continue;
    }
    pending.push(...(Array.isArray(node) ? node : Object.values(node)).toReversed());
  }
  return { predicates: [...predicates], classes: [...classes] };
}

interface TripleNode {
  readonly predicate: unknown;
  readonly object: unknown;
}

interface TermLike {
  readonly termType?: unknown;
  readonly value?: unknown;
  readonly items?: unknown;
}

const isTerm = (node: unknown): node is TermLike => typeof node === "object" && node !== null;
const iriOf = (node: unknown): string | undefined =>
  isTerm(node) && node.termType === "NamedNode" && typeof node.value === "string"
    ? // sparqljs keeps the backslash of an escaped local name; no IRI has one.
      node.value.replaceAll("\\", "")
    : undefined;

function addTriple({ predicate, object }: TripleNode, predicates: Set<string>, classes: Set<string>): void {
  const pending: unknown[] = [predicate];
  while (pending.length > 0) {
    const node = pending.pop();
    const iri = iriOf(node);
    if (iri !== undefined && iri !== rdfType) predicates.add(iri);
    if (isTerm(node) && Array.isArray(node.items)) pending.push(...node.items.toReversed());
  }
  const klass = iriOf(object);
  if (klass !== undefined && iriOf(predicate) === rdfType) classes.add(klass);
}
