import { factsAt, linkPredicates, typePredicate, type Fact, type Kind } from "./query-generator-data.ts";
import {
  factsAround,
  isJoinKind,
  isWritten,
  joinable,
  someTerm,
  type Build,
  type Known,
  type Scope,
} from "./query-generator-scope.ts";
import type { Element, PathKind, Triple, Triples, Values } from "./query-generator-syntax.ts";

/** Triple patterns that match at one endpoint, joined with the scope where the data allows it. */
export function generateTriples(build: Build, scope: Scope, request: PatternRequest): Triples | undefined {
  const triples: Triple[] = [];
  const count = request.count ?? 1 + build.draw.below(2);
  for (let index = 0; index < count; index++) {
    const fact = chooseFact(build, scope, request);
    if (fact) triples.push(patternOf(build, scope, fact));
  }
  const path = request.path ? pathPattern(build, scope, { endpoint: request.endpoint, path: request.path }) : undefined;
  if (path) triples.push(...path);
  return triples.length > 0 ? { kind: "triples", triples } : undefined;
}

export interface PatternRequest {
  readonly endpoint: number;
  readonly count?: number;
  readonly path?: PathKind;
  /** Kinds of object wanted. */
  readonly kinds?: readonly Kind[];
}

function chooseFact(build: Build, scope: Scope, request: PatternRequest): Fact | undefined {
  const { draw } = build;
  const wanted = (facts: readonly Fact[]): readonly Fact[] =>
    request.kinds ? facts.filter((fact) => request.kinds?.includes(fact.kind)) : facts;
  const anchors = [...joinable({ ...scope, anchors: new Map() }), ...joinable(scope)];
  const around = anchors
    .map((known) => wanted(factsAround(build, request.endpoint, known)))
    .filter((f) => f.length > 0);
  if (around.length > 0) return draw.pick(draw.pick(around.slice(0, 3)));
  const facts = wanted(factsAt(build.data, request.endpoint));
  return facts.length > 0 ? draw.pick(facts) : undefined;
}

export function patternOf(build: Build, scope: Scope, fact: Fact): Triple {
  const { draw } = build;
  const joined = termFor(build, scope, { term: fact.subject, kind: subjectKind(fact), constant: 8 });
  const unanchored = joinable(scope).length === 0;
  if (draw.chance(6) && !unanchored) return openPattern(build, scope, joined);
  const constant = fact.predicate === typePredicate ? 65 : 15;
  const object =
    fact.kind === "blank"
      ? use(scope, { name: build.fresh(), kind: "blank", witness: undefined, certain: true })
      : termFor(build, scope, { term: fact.object, kind: fact.kind, constant });
  return { subject: joined, predicate: fact.predicate, object };
}

/** `?s ?p ?o`: the object may be anything, so it is never joined on. */
function openPattern(build: Build, scope: Scope, subject: string): Triple {
  const predicate = use(scope, { name: build.fresh(), kind: "iri", witness: undefined, certain: true });
  const object = use(scope, { name: build.fresh(), kind: "any", witness: undefined, certain: true });
  return { subject, predicate, object };
}

interface Position {
  readonly term: string;
  readonly kind: Kind;
  /** Percentage of constants. */
  readonly constant: number;
}

const subjectKind = ({ subject }: Fact): Kind => (subject.startsWith("_:") ? "node" : "iri");

/** The variable that has this term as witness, a constant, or a new variable. */
function termFor(build: Build, scope: Scope, position: Position): string {
  const { draw } = build;
  const known = joinable(scope).filter((k) => k.witness === position.term && k.kind === position.kind);
  if (known.length > 0 && isJoinKind(position.kind) && draw.chance(90)) {
    const chosen = draw.pick(known);
    return use(scope, { ...chosen, certain: true });
  }
  if (isWritten(position.kind) && draw.chance(position.constant)) return position.term;
  return use(scope, { name: build.fresh(), kind: position.kind, witness: position.term, certain: true });
}

function use(scope: Scope, known: Known): string {
  scope.variables.set(known.name, known);
  return known.name;
}

interface PathRequest {
  readonly endpoint: number;
  readonly path: PathKind;
}

function pathPattern(build: Build, scope: Scope, request: PathRequest): Triple[] | undefined {
  const links = factsAt(build.data, request.endpoint).filter((fact) => linkPredicates.includes(fact.predicate));
  if (links.length === 0) return undefined;
  const anchored = links.filter((link) => joinable(scope).some((k) => k.witness === link.subject && k.kind === "iri"));
  const link = build.draw.pick(anchored.length > 0 ? anchored : links);
  const subject = termFor(build, scope, { term: link.subject, kind: "iri", constant: 10 });
  if (request.path === "sequence") return [sequencePattern(build, scope, { ...request, link, subject })];
  const object = termFor(build, scope, { term: link.object, kind: "iri", constant: 10 });
  const [first, second] = linkPredicates;
  const repeated = build.draw.chance(40) ? `(${first}|${second})` : link.predicate;
  switch (request.path) {
    case "alternative":
      // Two solutions where both hold (SPARQL 1.1 Query, section 18.2.2.4), of which Oxigraph finds one.
      if (links.some((one) => links.some((other) => isTwin(one, other)))) break;
      return [{ subject, predicate: `${first}|${second}`, object, path: "alternative" }];
    case "plus":
      return [{ subject, predicate: `${repeated}+`, object, path: "plus" }];
    case "star":
      // A zero-length path between variables ranges over all nodes of the graph, blank ones too, and one from a constant
      // holds even where the term is absent, which engines see differently: an ordinary pattern binds the start first.
      if (!subject.startsWith("?")) return [{ subject, predicate: `${repeated}+`, object, path: "plus" }];
      return [
        { subject, predicate: link.predicate, object: build.fresh() },
        { subject, predicate: `${repeated}*`, object, path: "star" },
      ];
  }
  return [{ subject: object, predicate: `^${link.predicate}`, object: subject, path: "inverse" }];
}

/** The same nodes linked otherwise. */
const isTwin = (one: Fact, other: Fact): boolean =>
  one.subject === other.subject && one.object === other.object && one.predicate !== other.predicate;

function sequencePattern(
  build: Build,
  scope: Scope,
  request: PathRequest & { readonly link: Fact; readonly subject: string },
): Triple {
  const { link, subject } = request;
  const next = factsAt(build.data, request.endpoint).filter((f) => f.subject === link.object && f.kind !== "blank");
  const second = next.length > 0 ? build.draw.pick(next) : undefined;
  const object = termFor(
    build,
    scope,
    second ? { term: second.object, kind: second.kind, constant: 10 } : { term: link.object, kind: "iri", constant: 0 },
  );
  return { subject, predicate: `${link.predicate}/${second?.predicate ?? link.predicate}`, object, path: "sequence" };
}

/** VALUES at the start of a group, which the patterns after it join. */
export function leadingValues(build: Build, scope: Scope): readonly Element[] {
  const subjects = [...new Set(build.data.facts.map((fact) => fact.subject))].filter((one) => one.startsWith("<"));
  if (subjects.length === 0) return [];
  const witness = build.draw.pick(subjects);
  const name = build.fresh();
  scope.variables.set(name, { name, kind: "iri", witness, certain: true });
  const others = subjects.filter((subject) => subject !== witness && build.draw.chance(50));
  return [{ kind: "values", variables: [name], rows: [[witness], ...others.map((other) => [other])] }];
}

/** VALUES over variables of the scope, with UNDEF. */
export function values(build: Build, scope: Scope): readonly Element[] {
  const { draw } = build;
  const candidates = [...scope.variables.values()].filter(
    (known) => isJoinKind(known.kind) && isWritten(known.kind) && known.witness !== undefined,
  );
  if (candidates.length === 0) return [];
  const first = draw.pick(candidates);
  const second = draw.chance(40) ? candidates.find((known) => known.name !== first.name) : undefined;
  const variables = second ? [first, second] : [first];
  const rows = [variables.map((known) => known.witness)];
  const more = 1 + draw.below(3);
  for (let index = 0; index < more; index++) rows.push(variables.map((known) => valueCell(build, known)));
  const element: Values = { kind: "values", variables: variables.map((known) => known.name), rows };
  return [element];
}

function valueCell(build: Build, known: Known): string | undefined {
  if (build.draw.chance(42)) return undefined;
  return someTerm(build, known.kind) ?? known.witness;
}
