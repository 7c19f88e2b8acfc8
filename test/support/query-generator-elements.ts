import { factsAt, type Fact, type Kind } from "./query-generator-data.ts";
import {
  boundTest,
  generateBind,
  generateCondition,
  isNumeric,
  isOrderable,
  outOfScopeCondition,
} from "./query-generator-expressions.ts";
import { generateTriples } from "./query-generator-patterns.ts";
import {
  emptyScope,
  hasIdentity,
  innerScope,
  isJoinKind,
  joinable,
  joinableEndpoint,
  joinScope,
  someTerm,
  type Build,
  type Known,
  type Scope,
} from "./query-generator-scope.ts";
import type { Condition, Element, Group, PathKind, Select, Triple, Values } from "./query-generator-syntax.ts";

/** Kinds of element that a group can be asked to contain. */
const features = [
  "basic",
  "repeat-endpoint",
  "numeric",
  "optional",
  "optional-filter",
  "union",
  "minus",
  "filter",
  "exists",
  "not-exists",
  "values",
  "bind",
  "select",
  "group",
  "service-variable",
  "out-of-scope",
  "inside",
  "path",
] as const;
export type Feature = (typeof features)[number];

/** How often each is wanted, relative to the others. */
const weights: Readonly<Partial<Record<Feature, number>>> = {
  inside: 12,
  filter: 6,
  path: 11,
  select: 4,
  "out-of-scope": 3,
  values: 2,
  optional: 3,
  minus: 2,
  bind: 2,
  union: 2,
  exists: 2,
  "not-exists": 3,
  "optional-filter": 2,
  "service-variable": 3,
};
/** Features to pick from, each as often as its weight. */
export const weightedFeatures: readonly Feature[] = features.flatMap((feature) =>
  Array<Feature>(weights[feature] ?? 1).fill(feature),
);

/** Where elements stand: inside the SERVICE of one endpoint, or outside of all. */
export interface Place {
  readonly endpoint: number | undefined;
  readonly depth: number;
}

type Builder = (build: Build, scope: Scope, place: Place) => readonly Element[];

const paths: readonly PathKind[] = ["sequence", "alternative", "inverse", "star", "plus"];
const insideFeatures: readonly Feature[] = [
  "filter",
  "optional",
  "union",
  "minus",
  "values",
  "values",
  "values",
  "bind",
  "bind",
  "bind",
  "select",
  "select",
  "select",
  "exists",
  "not-exists",
  "path",
];

/** A group that has the wanted features; the scope learns its variables. */
export function generateGroup(
  build: Build,
  scope: Scope,
  request: Place & { readonly wanted: readonly Feature[] },
): Group {
  const { draw } = build;
  const place: Place = { endpoint: request.endpoint, depth: request.depth };
  const elements: Element[] = [];
  if (joinable(scope).length === 0 && draw.chance(12)) elements.push(...leadingValues(build, scope));
  elements.push(...basic(build, scope, place));
  for (const feature of request.wanted) elements.push(...builders[feature](build, scope, place));
  return elements;
}

/** Triple patterns; outside, within a SERVICE. */
function basic(build: Build, scope: Scope, place: Place): readonly Element[] {
  if (place.endpoint !== undefined) return present(generateTriples(build, scope, { endpoint: place.endpoint }));
  return service(build, scope, { endpoint: joinableEndpoint(build, scope), wanted: [] });
}

interface ServiceRequest {
  readonly endpoint: number;
  readonly wanted: readonly Feature[];
  readonly kinds?: readonly Kind[];
  readonly count?: number;
  readonly path?: PathKind;
}

function service(build: Build, scope: Scope, request: ServiceRequest): readonly Element[] {
  const inner = innerScope(scope);
  const triples = generateTriples(build, inner, request);
  if (!triples) return [];
  const place: Place = { endpoint: request.endpoint, depth: 2 };
  const body = [triples, ...request.wanted.flatMap((feature) => builders[feature](build, inner, place))];
  joinScope(scope, inner);
  return [{ kind: "service", target: request.endpoint, silent: build.draw.chance(9), body }];
}

function repeatEndpoint(build: Build, scope: Scope, place: Place): readonly Element[] {
  if (place.endpoint !== undefined) return basic(build, scope, place);
  const endpoint = joinableEndpoint(build, scope);
  const wanted: Feature[] = build.draw.chance(50) ? ["out-of-scope"] : ["filter"];
  return [...service(build, scope, { endpoint, wanted: [] }), ...service(build, scope, { endpoint, wanted })];
}

/** A block that binds a number, for comparisons and aggregates. */
function numeric(build: Build, scope: Scope, place: Place): readonly Element[] {
  const kinds: readonly Kind[] = [build.draw.pick(["integer", "integer", "decimal", "double"] as const)];
  if (place.endpoint !== undefined) {
    return present(generateTriples(build, scope, { endpoint: place.endpoint, count: 1, kinds }));
  }
  const subjects = new Set(joinable(scope).map((known) => known.witness));
  const fits = (fact: Fact): boolean => kinds.includes(fact.kind) && subjects.has(fact.subject);
  const fitting = build.data.facts.filter(fits).flatMap((fact) => fact.endpoints);
  const endpoint = fitting.length > 0 ? build.draw.pick(fitting) : joinableEndpoint(build, scope);
  return service(build, scope, { endpoint, wanted: [], count: 1, kinds });
}

function inside(build: Build, scope: Scope, place: Place): readonly Element[] {
  if (place.endpoint !== undefined) return basic(build, scope, place);
  return service(build, scope, { endpoint: joinableEndpoint(build, scope), wanted: [build.draw.pick(insideFeatures)] });
}

function path(build: Build, scope: Scope, place: Place): readonly Element[] {
  const kind = build.draw.pick(paths);
  if (place.endpoint !== undefined) {
    return present(generateTriples(build, scope, { endpoint: place.endpoint, count: 0, path: kind }));
  }
  return service(build, scope, { endpoint: joinableEndpoint(build, scope), wanted: [], count: 0, path: kind });
}

function optional(build: Build, scope: Scope, place: Place): readonly Element[] {
  const { draw } = build;
  const inner = innerScope(scope);
  const wanted: Feature[] =
    place.depth < 2 && draw.chance(25) ? [draw.pick(["basic", "optional", "filter", "bind"])] : [];
  const body = generateGroup(build, inner, { ...place, depth: place.depth + 1, wanted });
  joinScope(scope, inner, false);
  const added = [...inner.variables.keys()]
    .flatMap((name) => scope.variables.get(name) ?? [])
    .filter((known) => !known.certain);
  const after = added.length > 0 && draw.chance(40) ? filterOf(boundTest(build, draw.pick(added))) : [];
  return [{ kind: "optional", body }, ...after];
}

/** OPTIONAL whose FILTER sees both sides (LeftJoin condition, SPARQL 1.1 Query, section 18.2.2.6). */
function optionalFilter(build: Build, scope: Scope, place: Place): readonly Element[] {
  const inner = innerScope(scope);
  const body = [...generateGroup(build, inner, { ...place, depth: place.depth + 1, wanted: [] })];
  const visible: Scope = { variables: new Map([...scope.variables, ...inner.variables]), anchors: new Map() };
  body.push(...filterOf(generateCondition(build, visible)));
  joinScope(scope, inner, false);
  return [{ kind: "optional", body }];
}

function union(build: Build, scope: Scope, place: Place): readonly Element[] {
  const { draw } = build;
  const first = innerScope(scope);
  const deeper = { ...place, depth: place.depth + 1 };
  const branches: Group[] = [generateGroup(build, first, { ...deeper, wanted: [] })];
  const scopes = [first];
  const count = 1 + draw.below(2);
  for (let index = 0; index < count; index++) {
    const copy = place.endpoint === undefined && draw.chance(55) ? retarget(build, branches[0] ?? []) : undefined;
    if (copy) {
      branches.push(copy);
      continue;
    }
    const other = draw.chance(50)
      ? innerScope({ ...scope, anchors: new Map([...scope.anchors, ...first.variables]) })
      : innerScope(scope);
    branches.push(generateGroup(build, other, { ...deeper, wanted: [] }));
    scopes.push(other);
  }
  joinScope(scope, unionScope(scopes));
  return [{ kind: "union", branches }];
}

/** The same pattern at another endpoint: the federation that agents write most often. */
function retarget(build: Build, group: Group): Group | undefined {
  const [only] = group;
  if (group.length !== 1 || only?.kind !== "service" || typeof only.target !== "number") return undefined;
  return [{ ...only, target: (only.target + 1 + build.draw.below(build.data.endpoints - 1)) % build.data.endpoints }];
}

function unionScope(scopes: readonly Scope[]): Scope {
  const all = emptyScope();
  for (const scope of scopes) joinScope(all, scope);
  const result = emptyScope();
  for (const [name, known] of all.variables) {
    const certain = scopes.every((scope) => scope.variables.get(name)?.certain === true);
    result.variables.set(name, { ...known, certain, witness: scopes[0]?.variables.get(name)?.witness });
  }
  return result;
}

function minus(build: Build, scope: Scope, place: Place): readonly Element[] {
  const body = constantGroup(build, scope, place) ?? generateGroup(build, innerScope(scope), { ...place, wanted: [] });
  return [{ kind: "minus", body }];
}

/** A pattern about a variable of the scope that holds for some of its values, but rarely for its witness. */
function constantGroup(build: Build, scope: Scope, place: Place): Group | undefined {
  const { draw } = build;
  const subjects = [...scope.variables.values()].filter((known) => known.kind === "iri" && known.witness !== undefined);
  if (subjects.length === 0 || draw.chance(20)) return undefined;
  const known = draw.pick(subjects);
  const endpoint = place.endpoint ?? draw.below(build.data.endpoints);
  const facts = factsAt(build.data, endpoint).filter((fact) => fact.subject !== known.witness && fact.kind !== "blank");
  if (facts.length === 0) return undefined;
  const fact = draw.pick(facts);
  const object = draw.chance(60) ? fact.object : build.fresh();
  return inPlace(place, endpoint, { subject: known.name, predicate: fact.predicate, object });
}

function inPlace(place: Place, endpoint: number, triple: Triple): Group {
  const triples: Element = { kind: "triples", triples: [triple] };
  return place.endpoint === undefined
    ? [{ kind: "service", target: endpoint, silent: false, body: [triples] }]
    : [triples];
}

/** EXISTS has only one pattern and shares only variables with what surrounds it: substitution into more is not defined alike everywhere. */
function exists(build: Build, scope: Scope, place: Place): readonly Element[] {
  const anchors = [...scope.variables.values()].filter(
    (known) => known.kind === "iri" && known.witness !== undefined && known.certain,
  );
  if (anchors.length === 0) return [];
  const known = build.draw.pick(anchors);
  const facts = build.data.facts.filter(
    (fact) =>
      fact.subject === known.witness && (place.endpoint === undefined || fact.endpoints.includes(place.endpoint)),
  );
  if (facts.length === 0) return [];
  const fact = build.draw.pick(facts);
  const endpoint = place.endpoint ?? build.draw.pick(fact.endpoints);
  const object = fact.kind !== "blank" && build.draw.chance(40) ? fact.object : build.fresh();
  const body = inPlace(place, endpoint, { subject: known.name, predicate: fact.predicate, object });
  return filterOf({ kind: "exists", negated: false, body });
}

function notExists(build: Build, scope: Scope, place: Place): readonly Element[] {
  const certain: Scope = { ...scope, variables: new Map([...scope.variables].filter(([, known]) => known.certain)) };
  const body = constantGroup(build, certain, place);
  return body ? filterOf({ kind: "exists", negated: true, body }) : [];
}

function filterOf(condition: Condition | undefined): readonly Element[] {
  return condition ? [{ kind: "filter", condition }] : [];
}

/** VALUES at the start of a group, which the patterns after it join. */
function leadingValues(build: Build, scope: Scope): readonly Element[] {
  const subjects = [...new Set(build.data.facts.map((fact) => fact.subject))];
  const witness = build.draw.pick(subjects);
  const name = build.fresh();
  scope.variables.set(name, { name, kind: "iri", witness, certain: true });
  const others = subjects.filter((subject) => subject !== witness && build.draw.chance(50));
  return [{ kind: "values", variables: [name], rows: [[witness], ...others.map((other) => [other])] }];
}

function values(build: Build, scope: Scope): readonly Element[] {
  const { draw } = build;
  const candidates = [...scope.variables.values()].filter(
    (known) => isJoinKind(known.kind) && known.witness !== undefined,
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

function bind(build: Build, scope: Scope): readonly Element[] {
  return present(generateBind(build, scope));
}

function filter(build: Build, scope: Scope): readonly Element[] {
  return filterOf(generateCondition(build, scope));
}

function outOfScope(build: Build, scope: Scope, place: Place): readonly Element[] {
  if (place.endpoint !== undefined) return filterOf(outOfScopeCondition(build, scope));
  const endpoint = joinableEndpoint(build, scope);
  return service(build, scope, { endpoint, wanted: ["out-of-scope"] });
}

function braces(build: Build, scope: Scope, place: Place): readonly Element[] {
  const inner = innerScope(scope);
  const wanted: Feature[] = [build.draw.pick(["basic", "filter", "optional", "values", "bind"])];
  const body = generateGroup(build, inner, { ...place, depth: place.depth + 1, wanted });
  joinScope(scope, inner);
  return [{ kind: "group", body }];
}

/** `SERVICE ?g` whose endpoints VALUES names. */
function serviceVariable(build: Build, scope: Scope, place: Place): readonly Element[] {
  if (place.endpoint !== undefined) return basic(build, scope, place);
  const endpoint = joinableEndpoint(build, scope);
  const [element] = service(build, scope, { endpoint, wanted: [] });
  if (element?.kind !== "service") return [];
  const name = build.fresh();
  const other = (endpoint + 1 + build.draw.below(build.data.endpoints - 1)) % build.data.endpoints;
  const rows = [endpoint, other].map((index) => [`<endpoint:${index}>`]);
  // Its witness is an endpoint, which no data names: nothing is joined on it.
  scope.variables.set(name, { name, kind: "iri", witness: undefined, certain: true });
  return [
    { kind: "values", variables: [name], rows },
    { ...element, target: name },
  ];
}

function subSelect(build: Build, scope: Scope, place: Place): readonly Element[] {
  const { draw } = build;
  const inner = innerScope(scope);
  const wanted: Feature[] = draw.chance(45)
    ? [draw.pick(["filter", "optional", "basic", "union", "values", "bind"])]
    : [];
  const where = generateGroup(build, inner, { ...place, depth: place.depth + 1, wanted });
  const projected = projectedVariables(build, scope, inner);
  const select =
    draw.chance(25) && projected.every(hasIdentity)
      ? countSelect(build, where, projected)
      : plainSelect(build, where, projected);
  const visible = emptyScope();
  for (const known of projected) visible.variables.set(known.name, known);
  for (const { variable, aggregate } of select.projection) {
    if (aggregate)
      visible.variables.set(variable, { name: variable, kind: "integer", witness: undefined, certain: true });
  }
  joinScope(scope, visible);
  return [{ kind: "select", select }];
}

function projectedVariables(build: Build, scope: Scope, inner: Scope): readonly Known[] {
  const all = [...inner.variables.values()];
  // A name that is known outside too is always projected: Oxigraph 0.5.11 moves an outer filter on an unbound variable
  // into a subquery that has a hidden variable of the same name, so the oracle cannot judge that case.
  const kept = all.filter(({ name }) => scope.variables.has(name) || scope.anchors.has(name) || build.draw.chance(60));
  return kept.length > 0 ? kept : all.slice(0, 1);
}

const plain = { groupBy: [], having: undefined, orderBy: [], limit: undefined, offset: undefined } as const;

function plainSelect(build: Build, where: Group, projected: readonly Known[]): Select {
  const select: Select = {
    ...plain,
    distinct: build.draw.chance(50) && projected.every(hasIdentity),
    projection: projected.map(({ name }) => ({ variable: name })),
    where,
  };
  return build.draw.chance(65) ? ordered(build, select, projected) : select;
}

function countSelect(build: Build, where: Group, projected: readonly Known[]): Select {
  const variable = build.fresh();
  const keys = projected.map(({ name }) => ({ variable: name }));
  const projection = [...keys, { variable, expression: "COUNT(*)", aggregate: "count" as const }];
  return { ...plain, distinct: false, projection, where, groupBy: keys.map((key) => key.variable) };
}

/** ORDER BY everything that is projected, so that the order is total up to equal rows, and mostly LIMIT and OFFSET. */
export function ordered(build: Build, select: Select, projected: readonly Known[]): Select {
  const { draw } = build;
  if (projected.length === 0 || !projected.every((known) => isOrderable(known.kind))) return select;
  const orderBy = projected.map(({ name }) => (draw.chance(35) ? `DESC(${name})` : name));
  const limit = draw.chance(75) ? 1 + draw.below(12) : undefined;
  const offset = draw.chance(40) ? draw.below(3) : undefined;
  return { ...select, orderBy, limit, offset };
}

function present<T extends Element>(element: T | undefined): readonly T[] {
  return element ? [element] : [];
}

/** Variables whose numbers can be summed: bound in every solution, because engines differ on errors inside aggregates. */
export function summable(scope: Scope): readonly Known[] {
  return [...scope.variables.values()].filter((known) => known.certain && isNumeric(known.kind));
}

const builders: Readonly<Record<Feature, Builder>> = {
  basic,
  "repeat-endpoint": repeatEndpoint,
  numeric,
  optional,
  "optional-filter": optionalFilter,
  union,
  minus,
  filter,
  exists,
  "not-exists": notExists,
  values,
  bind,
  select: subSelect,
  group: braces,
  "service-variable": serviceVariable,
  "out-of-scope": outOfScope,
  inside,
  path,
};
