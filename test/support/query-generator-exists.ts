import { factsAt, type Fact } from "./query-generator-data.ts";
import { isOrderable } from "./query-generator-expressions.ts";
import { generateTriples } from "./query-generator-patterns.ts";
import { innerScope, isWritten, type Build, type Known, type Place, type Scope } from "./query-generator-scope.ts";
import type { Condition, Element, Filter, Group, Triple } from "./query-generator-syntax.ts";

/** A pattern about a variable of the scope that holds for some of its values, but rarely for its witness. */
export function constantGroup(build: Build, scope: Scope, place: Place): Group | undefined {
  const { draw } = build;
  const chosen = draw.chance(20) ? undefined : strangeFact(build, scope, place);
  if (!chosen) return undefined;
  const { known, fact, endpoint } = chosen;
  const object = draw.chance(60) ? fact.object : build.fresh();
  return inPlace(build, place, endpoint, [triplesOf({ subject: known.name, predicate: fact.predicate, object })]);
}

interface StrangeFact {
  readonly known: Known;
  readonly fact: Fact;
  readonly endpoint: number;
}

/** An IRI variable and a fact about another subject than its witness. */
function strangeFact(build: Build, scope: Scope, place: Place): StrangeFact | undefined {
  const { draw } = build;
  const subjects = [...scope.variables.values()].filter((known) => known.kind === "iri" && known.witness !== undefined);
  if (subjects.length === 0) return undefined;
  const known = draw.pick(subjects);
  const endpoint = place.endpoint ?? draw.below(build.data.endpoints);
  const facts = factsAt(build.data, endpoint).filter((fact) => fact.subject !== known.witness && isConstant(fact));
  return facts.length > 0 ? { known, fact: draw.pick(facts), endpoint } : undefined;
}

/** EXISTS over patterns that are joined by what surrounds them, and FILTERs that compare with it. */
export function exists(build: Build, scope: Scope, place: Place): Filter | undefined {
  const certain = certainScope(scope);
  const anchors = [...certain.variables.values()].filter(
    ({ kind, witness }) => kind === "iri" && witness !== undefined,
  );
  if (anchors.length === 0) return undefined;
  const known = build.draw.pick(anchors);
  const here = ({ endpoints }: Fact): boolean => place.endpoint === undefined || endpoints.includes(place.endpoint);
  const facts = build.data.facts.filter((fact) => fact.subject === known.witness && here(fact));
  if (facts.length === 0) return undefined;
  const fact = build.draw.pick(facts);
  const endpoint = place.endpoint ?? build.draw.pick(fact.endpoints);
  const compared = build.draw.chance(40) ? comparedGroup(build, scope, place, { known, fact, endpoint }) : undefined;
  if (compared) return existence(compared, false);
  const path = build.draw.chance(20) ? pathGroup(build, certain, place, endpoint) : undefined;
  if (path) return existence(path, build.draw.chance(30));
  const object = isConstant(fact) && build.draw.chance(40) ? fact.object : build.fresh();
  const triple = { subject: known.name, predicate: fact.predicate, object };
  return existence(inPlace(build, place, endpoint, [triplesOf(triple)]), false);
}

/** A path from or to what the scope binds. */
function pathGroup(build: Build, scope: Scope, place: Place, endpoint: number): Group | undefined {
  const path = build.draw.pick(["sequence", "alternative", "inverse", "plus"] as const);
  const triples = generateTriples(build, innerScope(scope), { endpoint, count: 0, path });
  return triples && inPlace(build, place, endpoint, [triples]);
}

export function notExists(build: Build, scope: Scope, place: Place): Filter | undefined {
  const certain = certainScope(scope);
  const strange = build.draw.chance(40) ? strangeFact(build, certain, place) : undefined;
  const body = (strange && comparedGroup(build, scope, place, strange)) ?? constantGroup(build, certain, place);
  return body && existence(body, true);
}

/**
 * A pattern whose object is compared with a variable that no pattern of it names: EXISTS substitutes it (SPARQL 1.1 Query,
 * section 18.6). It may be unbound, and the FILTER may stand within the SERVICE or behind it.
 */
function comparedGroup(
  build: Build,
  scope: Scope,
  place: Place,
  { known, fact, endpoint }: StrangeFact,
): Group | undefined {
  const { draw } = build;
  if (!isOrderable(fact.kind)) return undefined;
  const others = [...scope.variables.values()].filter(({ kind, name }) => kind === fact.kind && name !== known.name);
  if (others.length === 0) return undefined;
  const object = build.fresh();
  const signs = fact.kind === "iri" ? ["=", "!="] : ["=", "!=", "<=", ">", ">="];
  const text = `${object} ${draw.pick(signs)} ${draw.pick(others).name}`;
  const filter: Filter = { kind: "filter", condition: { kind: "test", operator: "comparison", text } };
  const triples = triplesOf({ subject: known.name, predicate: fact.predicate, object });
  if (draw.chance(65)) return inPlace(build, place, endpoint, [triples, filter]);
  return [...inPlace(build, place, endpoint, [triples]), filter];
}

const isConstant = ({ kind }: Fact): boolean => isWritten(kind);

const certainScope = (scope: Scope): Scope => ({
  ...scope,
  variables: new Map([...scope.variables].filter(([, known]) => known.certain)),
});

const triplesOf = (triple: Triple): Element => ({ kind: "triples", triples: [triple] });

function existence(body: Group, negated: boolean): Filter {
  const condition: Condition = { kind: "exists", negated, body };
  return { kind: "filter", condition };
}

function inPlace({ draw, data }: Build, place: Place, endpoint: number, body: Group): Group {
  if (place.endpoint !== undefined) return body;
  const dead = data.dead === true && draw.chance(8);
  return [{ kind: "service", target: endpoint, silent: false, dead, body }];
}
