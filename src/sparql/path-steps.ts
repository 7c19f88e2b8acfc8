import type * as RDF from "@rdfjs/types";
import type { IriTerm, PropertyPath, Term, Triple, VariableTerm } from "sparqljs";

/** What stands at a place of a triple pattern. A blank node is a variable whose name starts with `_:`. */
export type PatternTerm =
  | { readonly kind: "variable"; readonly name: string }
  | { readonly kind: "iri"; readonly iri: string }
  | { readonly kind: "literal"; readonly literal: RDF.Literal };

/** A triple pattern without property path. */
export interface QueryPattern {
  readonly subject: PatternTerm;
  readonly predicate: PatternTerm;
  readonly object: PatternTerm;
  /** IRIs that the predicate may not be (negated property set). */
  readonly exceptPredicates?: readonly string[];
}

/** Gives a name of a variable that the query does not use. */
type FreshName = () => string;

interface Ends {
  readonly subject: PatternTerm;
  readonly object: PatternTerm;
}

type Path = Triple["predicate"];

/**
 * The triple patterns that a triple of the syntax tree may ask for. A path whose length may be zero between two
 * variables asks for every node of the graph, which is a pattern of three variables.
 */
export function pathSteps({ subject, predicate, object }: Triple, freshName: FreshName): readonly QueryPattern[] {
  const ends = { subject: patternTerm(subject), object: patternTerm(object) };
  const found: QueryPattern[] = [];
  addSteps(predicate, ends, { found, freshName });
  const bothOpen = ends.subject.kind === "variable" && ends.object.kind === "variable";
  if (bothOpen && mayBeEmpty(predicate)) {
    const fresh = freshVariables(freshName);
    found.push({ ...fresh, predicate: { kind: "variable", name: freshName() } });
  }
  return found;
}

function patternTerm(term: Term): PatternTerm {
  if (term.termType === "NamedNode") return { kind: "iri", iri: iriOf(term) };
  if (term.termType === "Literal") return { kind: "literal", literal: term };
  return { kind: "variable", name: term.termType === "BlankNode" ? `_:${term.value}` : term.value };
}

/** The parser keeps the backslashes of escaped local names; no IRI has one. */
const iriOf = (term: IriTerm | VariableTerm): string => term.value.replaceAll("\\", "");

const freshVariables = (freshName: FreshName): Ends => ({
  subject: { kind: "variable", name: freshName() },
  object: { kind: "variable", name: freshName() },
});

const isPath = (path: Path): path is PropertyPath => "type" in path;

interface Steps {
  readonly found: QueryPattern[];
  readonly freshName: FreshName;
}

/** Recursion is as deep as the path, which `parseQuery` limits. */
function addSteps(path: Path, ends: Ends, steps: Steps): void {
  if (!isPath(path)) {
    steps.found.push({ ...ends, predicate: patternTerm(path) });
    return;
  }
  switch (path.pathType) {
    case "/":
      addSequence(path.items, ends, steps);
      break;
    case "|":
      for (const item of path.items) addSteps(item, ends, steps);
      break;
    case "^":
      for (const item of path.items) addSteps(item, { subject: ends.object, object: ends.subject }, steps);
      break;
    case "!":
      addNegated(path.items, ends, steps);
      break;
    case "?":
      for (const item of path.items) addSteps(item, ends, steps);
      break;
    default:
      // + and *: any step of the way, whose ends are known to none.
      for (const item of path.items) addSteps(item, freshVariables(steps.freshName), steps);
  }
}

function addSequence(items: readonly Path[], { subject, object }: Ends, steps: Steps): void {
  let from = subject;
  for (const [index, item] of items.entries()) {
    const to: PatternTerm = index === items.length - 1 ? object : { kind: "variable", name: steps.freshName() };
    addSteps(item, { subject: from, object: to }, steps);
    from = to;
  }
}

/** `!(p|^q)` asks for triples in both directions, each with another set of forbidden predicates. */
function addNegated(items: readonly Path[], { subject, object }: Ends, steps: Steps): void {
  const members = items.flatMap((item) => (isPath(item) && item.pathType === "|" ? item.items : [item]));
  const forward = members.flatMap((member) => (isPath(member) ? [] : [iriOf(member)]));
  const backward = members.flatMap((member) =>
    isPath(member) ? member.items.flatMap((item) => (isPath(item) ? [] : [iriOf(item)])) : [],
  );
  const add = (ends: Ends, exceptPredicates: readonly string[]): void => {
    steps.found.push({ ...ends, predicate: { kind: "variable", name: steps.freshName() }, exceptPredicates });
  };
  if (forward.length > 0) add({ subject, object }, forward);
  if (backward.length > 0) add({ subject: object, object: subject }, backward);
}

/** The path matches a node with itself (zero length). */
function mayBeEmpty(path: Path): boolean {
  if (!isPath(path)) return false;
  if (path.pathType === "*" || path.pathType === "?") return true;
  if (path.pathType === "!") return false;
  if (path.pathType === "|") return path.items.some((item) => mayBeEmpty(item));
  return path.items.every((item) => mayBeEmpty(item));
}
