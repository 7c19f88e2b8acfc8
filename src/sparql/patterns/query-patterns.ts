import type { QueryTree } from "../parse/query-tree.ts";
import type * as RDF from "@rdfjs/types";
import type { Triple, Pattern, PropertyPath, ServicePattern, Term } from "sparqljs";
import { rdf } from "../../rdf/vocabularies.ts";
import { requiredTriples } from "../structure/certain-variables.ts";

/** A pattern with its place in the query. */
export interface PlacedPattern extends QueryPattern {
  /** It stands inside EXISTS or NOT EXISTS, of whatever expression. */
  readonly inExists: boolean;
  /** Graph that it is matched in (section 13.3); the default graph when absent. */
  readonly graph?: PatternGraph;
  /** The IRI that the SERVICE around it names. */
  readonly service?: string;
  /** Number of that SERVICE among all, in the order of the text. */
  readonly clause?: number;
}

/** `named`: any of the named graphs; `none`: a graph that the query's dataset clauses leave out (section 13.2). */
type PatternGraph = "named" | "none" | { readonly iri: string };

/** @see QueryTree.patterns */
export function queryPatterns(ast: QueryTree["ast"], { services = false } = {}): readonly PlacedPattern[] {
  const found: PlacedPattern[] = [];
  const dataset = datasetOf(ast);
  const pending: Visit[] = [{ node: ast, inExists: false, graphs: dataset?.default ?? [undefined] }];
  let fresh = 0;
  let clauses = 0;
  const freshName = (): string => `_:path${fresh++}`;
  for (let visit = pending.pop(); visit; visit = pending.pop()) {
    const { node } = visit;
    if (!isNode(node)) continue;
    if (isTriple(node)) {
      found.push(...pathSteps(node, freshName).flatMap((pattern) => placed(pattern, visit)));
      continue;
    }
    const inside = insideOf(node, visit, dataset);
    if (isService(node)) {
      inside.clause = clauses++;
      if (!services || node.name.termType === "Variable") continue;
    }
    for (const inner of innerNodes(node).toReversed()) pending.push({ node: inner, ...inside });
  }
  return found;
}

/** The triple patterns of a query whose WHERE is nothing but those, without paths; none for any other. */
export function plainPatterns({ ast: { where = [] } }: QueryTree): readonly QueryPattern[] {
  const isPlain = (pattern: Pattern): boolean =>
    pattern.type === "group"
      ? pattern.patterns.every(isPlain)
      : pattern.type === "bgp" && !pattern.triples.some(({ predicate }) => isPath(predicate));
  return where.every(isPlain) ? requiredTriples(where).flatMap((triple) => pathSteps(triple, () => "")) : [];
}

const insideOf = (node: object, visit: Visit, dataset: Dataset | undefined): Surroundings => ({
  inExists: visit.inExists || isExists(node),
  graphs: graphsInside(node, visit, dataset),
  service: isService(node) ? node.name.value : visit.service,
  clause: visit.clause,
});

interface Surroundings {
  readonly inExists: boolean;
  readonly graphs: Graphs;
  readonly service?: string | undefined;
  clause?: number | undefined;
}

interface Visit extends Surroundings {
  readonly node: unknown;
}

function placed(pattern: QueryPattern, { inExists, graphs, service, clause }: Visit): PlacedPattern[] {
  const place = { inExists, ...(service !== undefined && { service }), ...(clause !== undefined && { clause }) };
  return graphs.map((graph) => Object.assign({}, pattern, place, graph !== undefined && { graph }));
}

type Graphs = readonly (PatternGraph | undefined)[];

/** Default graph and named graphs of dataset clauses. */
interface Dataset {
  readonly default: Graphs;
  readonly named: readonly string[];
}

function datasetOf({ from }: QueryTree["ast"]): Dataset | undefined {
  if (from === undefined) return undefined;
  return { default: graphsOf(from.default.map(({ value }) => value)), named: from.named.map(({ value }) => value) };
}

const graphsOf = (iris: readonly string[]): Graphs => (iris.length > 0 ? iris.map((iri) => ({ iri })) : ["none"]);

/** The innermost GRAPH decides. */
function graphsInside(node: object, { graphs }: Visit, dataset: Dataset | undefined): Graphs {
  if (!("type" in node) || node.type !== "graph" || !("name" in node)) return graphs;
  const { name } = node;
  const isIri = typeof name === "object" && name !== null && "termType" in name && name.termType === "NamedNode";
  const iri = isIri && "value" in name ? String(name.value) : undefined;
  if (dataset) return graphsOf(dataset.named.filter((known) => iri === undefined || known === iri));
  return [iri === undefined ? "named" : { iri }];
}

/** True if a node of a syntax tree is a triple pattern, or a path. */
export const isTriple = (node: object): node is Triple => "subject" in node && "predicate" in node && "object" in node;
const isNode = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !("termType" in value);
const isService = (node: object): node is ServicePattern => "type" in node && node.type === "service";
const isExists = (node: object): boolean =>
  "operator" in node && (node.operator === "exists" || node.operator === "notexists");

function innerNodes(node: object): readonly unknown[] {
  if (Array.isArray(node)) return node;
  return Object.entries(node).flatMap(([key, value]: [string, unknown]) => (key === "template" ? [] : [value]));
}

/** Term of a triple pattern. A blank node is a variable whose name starts with `_:`. */
export type PatternTerm =
  | { readonly kind: "variable"; readonly name: string }
  | { readonly kind: "iri"; readonly iri: string }
  | { readonly kind: "literal"; readonly literal: RDF.Literal };

/** A triple pattern without property path. */
interface QueryPattern {
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
function pathSteps({ subject, predicate, object }: Triple, freshName: FreshName): readonly QueryPattern[] {
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

/** A term of the syntax tree. */
export function patternTerm(term: Term): PatternTerm {
  if (term.termType === "NamedNode") return { kind: "iri", iri: term.value };
  if (term.termType === "Literal") return { kind: "literal", literal: term };
  return { kind: "variable", name: term.termType === "BlankNode" ? `_:${term.value}` : term.value };
}

const freshVariables = (freshName: FreshName): Ends => ({
  subject: { kind: "variable", name: freshName() },
  object: { kind: "variable", name: freshName() },
});

/** A predicate of the syntax tree that is a property path. */
export const isPath = (path: Path): path is PropertyPath => "type" in path;

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
  const forward = members.flatMap((member) => (isPath(member) ? [] : [member.value]));
  const backward = members.flatMap((member) =>
    isPath(member) ? member.items.flatMap((item) => (isPath(item) ? [] : [item.value])) : [],
  );
  const add = (ends: Ends, exceptPredicates: readonly string[]): void => {
    steps.found.push({ ...ends, predicate: { kind: "variable", name: steps.freshName() }, exceptPredicates });
  };
  // `!()` excludes nothing.
  if (forward.length > 0 || backward.length === 0) add({ subject, object }, forward);
  if (backward.length > 0) add({ subject: object, object: subject }, backward);
}

/** The path matches a node with itself (zero length). */
export function mayBeEmpty(path: Path): boolean {
  if (!isPath(path)) return false;
  if (path.pathType === "*" || path.pathType === "?") return true;
  if (path.pathType === "!") return false;
  if (path.pathType === "|") return path.items.some((item) => mayBeEmpty(item));
  return path.items.every((item) => mayBeEmpty(item));
}

/** A class or property that a query's patterns name. */
export interface UsedTerm {
  readonly kind: "class" | "property";
  readonly iri: string;
}

interface NamingPattern {
  readonly predicate: PatternTerm;
  readonly object: PatternTerm;
}

/** The classes and properties that some patterns name, each once. */
export function termsOf(patterns: readonly NamingPattern[]): readonly UsedTerm[] {
  const found = new Map<string, UsedTerm>();
  for (const { predicate, object } of patterns) {
    if (predicate.kind !== "iri") continue;
    if (predicate.iri !== rdf.type) found.set(`p ${predicate.iri}`, { kind: "property", iri: predicate.iri });
    else if (object.kind === "iri") found.set(`c ${object.iri}`, { kind: "class", iri: object.iri });
  }
  return [...found.values()];
}
