import type * as RDF from "../../rdf/term.ts";
import type { Bgp, Path, PathSymbol } from "./algebra.ts";
import type { ClauseVariable } from "../../plan/query-plan.ts";
import { type PropertyPath, stepsOf } from "../sources/property-path.ts";
import {
  type Graphs,
  graphVariable,
  patternSelectivity,
  patternText,
  type TriplePattern,
  variablesOf,
} from "../sources/triple-pattern.ts";
import { itemAt } from "../../values.ts";

/** A property path with `?`, `*` or `+`, whose solutions are the pairs that it connects. */
export interface PathConjunct {
  readonly kind: "path";
  readonly subject: RDF.Term;
  readonly path: PropertyPath;
  readonly object: RDF.Term;
  /** Absent: the default graph. */
  readonly graphs?: Graphs | undefined;
}

interface TripleConjunct {
  readonly kind: "triple";
  readonly pattern: TriplePattern;
}

/** A part of a group of patterns over a merged graph; the group's solutions are the join of those of its parts. */
export type Conjunct =
  | TripleConjunct
  | PathConjunct
  /** The solutions of all branches. */
  | { readonly kind: "union"; readonly branches: readonly (readonly Conjunct[])[] };

/** Makes a variable that no query has. */
type FreshVariable = () => RDF.Variable;

/** The conjuncts of a basic graph pattern. */
export function bgpConjuncts(bgp: Bgp): readonly Conjunct[] {
  // A triple is in a graph once: a pattern that is written twice asks for nothing more.
  const distinct = new Map(bgp.patterns.map((pattern) => [patternText(pattern), pattern]));
  return [...distinct.values()].map(({ subject, predicate, object, graphs }) =>
    triple({ subject, predicate, object, graphs }),
  );
}

/**
 * The group with a term in place of a variable. Undefined where that would ask for something else: an end of a path need
 * not be in the graph when it is a term (SPARQL 1.1 Query, section 9.3), and a literal is no subject.
 */
export function withTerm(
  group: readonly Conjunct[],
  name: string,
  term: RDF.NamedNode | RDF.Literal,
): readonly Conjunct[] | undefined {
  const replaced: Conjunct[] = [];
  for (const conjunct of group) {
    const isMentioned = conjunctVariables(conjunct).some((variable) => variable.name === name);
    if (isMentioned && (conjunct.kind !== "triple" || (term.termType === "Literal" && !isOnlyObject(conjunct, name)))) {
      return undefined;
    }
    replaced.push(
      isMentioned && conjunct.kind === "triple" ? triple(replaceIn(conjunct.pattern, name, term)) : conjunct,
    );
  }
  return replaced;
}

const isOnlyObject = ({ pattern }: TripleConjunct, name: string): boolean =>
  pattern.subject.value !== name && pattern.predicate.value !== name && graphVariable(pattern.graphs)?.value !== name;

function replaceIn(pattern: TriplePattern, name: string, term: RDF.Term): TriplePattern {
  const at = (place: RDF.Term): RDF.Term => (place.termType === "Variable" && place.value === name ? term : place);
  return {
    ...pattern,
    subject: at(pattern.subject),
    predicate: at(pattern.predicate),
    object: at(pattern.object),
    graphs: pattern.graphs?.map(at),
  };
}

/** The conjuncts of a property path pattern (SPARQL 1.1 Query, section 18.2.2.4). */
export function pathConjuncts(operation: Path, fresh: FreshVariable): readonly Conjunct[] {
  const { subject, object, graphs } = operation;
  return connect({ subject, path: toPath(operation.predicate), object, graphs }, fresh);
}

const triple = (pattern: TriplePattern): Conjunct => ({ kind: "triple", pattern });

function connect(
  { subject, path, object, graphs }: Omit<PathConjunct, "kind">,
  fresh: FreshVariable,
): readonly Conjunct[] {
  switch (path.kind) {
    case "link":
      return [triple({ subject, predicate: path.iri, object, graphs })];
    case "not":
      return [triple({ subject, predicate: fresh(), object, not: path.iris, graphs })];
    case "inverse":
      return connect({ subject: object, path: path.path, object: subject, graphs }, fresh);
    case "alternative": {
      const branches = path.paths.map((part) => connect({ subject, path: part, object, graphs }, fresh));
      return [{ kind: "union", branches }];
    }
    case "sequence": {
      const stops = [subject, ...path.paths.slice(1).map(() => fresh()), object];
      return path.paths.flatMap((part, index) =>
        connect({ subject: itemAt(stops, index), path: part, object: itemAt(stops, index + 1), graphs }, fresh),
      );
    }
    default:
      return [{ kind: "path", subject, path, object, graphs }];
  }
}

/** A property path of the algebra, as it is evaluated. */
export function toPath(symbol: PathSymbol): PropertyPath {
  switch (symbol.type) {
    case "link":
      return { kind: "link", iri: symbol.iri };
    case "nps":
      return { kind: "not", iris: symbol.iris.map(({ value }) => value) };
    case "inv":
      return { kind: "inverse", path: toPath(symbol.path) };
    case "alt":
      return { kind: "alternative", paths: symbol.input.map(toPath) };
    case "seq":
      return { kind: "sequence", paths: symbol.input.map(toPath) };
    default: {
      const [zero, many] = [symbol.type !== "OneOrMorePath", symbol.type !== "ZeroOrOnePath"];
      return { kind: "closure", path: toPath(symbol.path), zero, many };
    }
  }
}

/** Variables of a conjunct, in order of appearance. */
export function conjunctVariables(conjunct: Conjunct): readonly ClauseVariable[] {
  switch (conjunct.kind) {
    case "triple":
      return variablesOf(conjunct.pattern).map((name) => ({ name, certain: true }));
    case "path": {
      const terms = [conjunct.subject, conjunct.object, ...(conjunct.graphs ?? [])];
      const names = terms.flatMap((t) => (t.termType === "Variable" ? [t.value] : []));
      return [...new Set(names)].map((name) => ({ name, certain: true }));
    }
    default: {
      const branches = conjunct.branches.map((branch) => groupVariables(branch));
      const names = new Set(branches.flat().map(({ name }) => name));
      return [...names].map((name) => ({
        name,
        certain: branches.every((branch) => branch.some((known) => known.name === name && known.certain)),
      }));
    }
  }
}

/** Variables of a group: certain when one of its conjuncts always binds them. */
export function groupVariables(group: readonly Conjunct[]): readonly ClauseVariable[] {
  const known = new Map<string, boolean>();
  for (const { name, certain } of group.flatMap((conjunct) => conjunctVariables(conjunct))) {
    known.set(name, certain || known.get(name) === true);
  }
  return [...known].map(([name, certain]) => ({ name, certain }));
}

/** The patterns of a group that has some and nothing else. */
export function triplesIn(group: readonly Conjunct[]): readonly TriplePattern[] | undefined {
  const patterns = group.flatMap((conjunct) => (conjunct.kind === "triple" ? [conjunct.pattern] : []));
  return patterns.length > 0 && patterns.length === group.length ? patterns : undefined;
}

/** In how many places of a query a variable of a group stands in it: once, where the branches of a path share an end. */
export function placesIn(group: readonly Conjunct[], name: string): number {
  const isIt = ({ termType, value }: RDF.Term): boolean => termType === "Variable" && value === name;
  return group.reduce((places, conjunct) => {
    if (conjunct.kind === "union") {
      return places + Math.max(0, ...conjunct.branches.map((branch) => placesIn(branch, name)));
    }
    const { subject, object, graphs = [] } = conjunct.kind === "path" ? conjunct : conjunct.pattern;
    const predicate = conjunct.kind === "path" ? [] : [conjunct.pattern.predicate];
    return places + [subject, ...predicate, object, ...graphs].filter((term) => isIt(term)).length;
  }, 0);
}

/** The parts of a group that share no variable with the others. */
export function connectedConjuncts(group: readonly Conjunct[]): readonly (readonly Conjunct[])[] {
  return group.reduce<readonly (readonly Conjunct[])[]>((parts, conjunct) => {
    const names = new Set(conjunctVariables(conjunct).map(({ name }) => name));
    const touched = parts.filter((part) => groupVariables(part).some(({ name }) => names.has(name)));
    return [...parts.filter((part) => !touched.includes(part)), [...touched.flat(), conjunct]];
  }, []);
}

// More than -1: a size is divided by the excess.
const LEAST_SELECTIVE = -0.9;

/** Constants that narrow a group. */
export function groupSelectivity(group: readonly Conjunct[]): number {
  const sum = group.reduce((all, conjunct) => all + conjunctSelectivity(conjunct), 0);
  return Math.max(LEAST_SELECTIVE, sum);
}

/** Constants that narrow a conjunct; paths are asked late, from the nodes that are known by then. */
export function conjunctSelectivity(conjunct: Conjunct): number {
  switch (conjunct.kind) {
    case "triple":
      return patternSelectivity(conjunct.pattern);
    case "path":
      return [conjunct.subject, conjunct.object].some(({ termType }) => termType !== "Variable") ? 1 : LEAST_SELECTIVE;
    default:
      return Math.min(...conjunct.branches.map((branch) => groupSelectivity(branch)));
  }
}

/** Every triple pattern that a conjunct may be asked as. */
export function patternsOf(conjunct: Conjunct): readonly TriplePattern[] {
  switch (conjunct.kind) {
    case "triple":
      return [conjunct.pattern];
    case "path":
      return stepsOf(conjunct.path, conjunct.graphs);
    default:
      return conjunct.branches.flat().flatMap((part) => patternsOf(part));
  }
}
