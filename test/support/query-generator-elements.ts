import { serverPredicates, type Fact, type Kind } from "./query-generator-data.ts";
import { constantGroup, exists, notExists } from "./query-generator-exists.ts";
import { boundTest, generateBind, generateCondition, outOfScopeCondition } from "./query-generator-expressions.ts";
import { generateTriples, leadingValues, values } from "./query-generator-patterns.ts";
import {
  emptyScope,
  innerScope,
  joinable,
  joinableEndpoint,
  joinScope,
  type Build,
  type Place,
  type Scope,
} from "./query-generator-scope.ts";
import { subSelect } from "./query-generator-select.ts";
import type { Condition, Element, Group, PathKind } from "./query-generator-syntax.ts";

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
  const dead = build.data.dead === true && build.draw.chance(5);
  joinScope(scope, inner, !dead);
  return [{ kind: "service", target: request.endpoint, silent: build.draw.chance(9), dead, body }];
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
    place.depth < 2 && draw.chance(25) ? [draw.pick(["basic", "optional", "filter", "bind", "path"])] : [];
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
      scopes.push(first);
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
  // What OPTIONAL leaves unbound is not compared.
  const wanted: Feature[] = place.depth < 2 && build.draw.chance(25) ? ["optional"] : [];
  const other = (): Group => generateGroup(build, innerScope(scope), { ...place, wanted });
  const body = (wanted.length > 0 ? undefined : constantGroup(build, scope, place)) ?? other();
  return [{ kind: "minus", body }];
}

function filterOf(condition: Condition | undefined): readonly Element[] {
  return condition ? [{ kind: "filter", condition }] : [];
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

/** `SERVICE ?g` whose endpoints VALUES or the data name. */
function serviceVariable(build: Build, scope: Scope, place: Place): readonly Element[] {
  if (place.endpoint !== undefined) return basic(build, scope, place);
  if (build.data.dead === true && build.draw.chance(60)) {
    const followed = followedService(build, scope);
    if (followed.length > 0) return followed;
  }
  const endpoint = joinableEndpoint(build, scope);
  const [element] = service(build, scope, { endpoint, wanted: [] });
  if (element?.kind !== "service") return [];
  const name = build.fresh();
  const other = (endpoint + 1 + build.draw.below(build.data.endpoints - 1)) % build.data.endpoints;
  const dead = build.data.dead === true && build.draw.chance(30);
  const rows = [endpoint, other, ...(dead ? ["dead"] : [])].map((target) => [`<endpoint:${target}>`]);
  // Its witness would be an endpoint, which no data names.
  scope.variables.set(name, { name, kind: "iri", witness: undefined, certain: true });
  return [
    { kind: "values", variables: [name], rows },
    { ...element, dead: false, target: name, silent: dead || element.silent },
  ];
}

/** One of the facts, about something that a variable stands for if there is one. */
function pickAnchored({ draw }: Build, facts: readonly Fact[], known: ReturnType<typeof joinable>): Fact {
  const anchored = facts.filter((fact) => known.some(({ witness }) => witness === fact.subject));
  return draw.pick(anchored.length > 0 ? anchored : facts);
}

/** `SERVICE ?g` whose endpoints a triple pattern before it binds, now and then in an OPTIONAL. */
function followedService(build: Build, scope: Scope): readonly Element[] {
  const { draw, data } = build;
  const { server, mirror } = serverPredicates;
  const naming = data.facts.filter(({ predicate }) => predicate === server || predicate === mirror);
  if (naming.length === 0) return [];
  const known = joinable(scope).filter(({ kind }) => kind === "iri");
  const fact = pickAnchored(build, naming, known);
  const subject = known.find(({ witness }) => witness === fact.subject)?.name ?? build.fresh();
  const object = build.fresh();
  scope.variables.set(subject, { name: subject, kind: "iri", witness: fact.subject, certain: true });
  scope.variables.set(object, { name: object, kind: "iri", witness: undefined, certain: true });
  const triples = [{ subject, predicate: fact.predicate, object }];
  const [index] = fact.object.match(/\d+/u) ?? [];
  const inner = innerScope(scope);
  const endpoint = index === undefined ? joinableEndpoint(build, inner) : Number(index);
  const [element] = service(build, inner, { endpoint, wanted: draw.chance(30) ? ["filter"] : [] });
  if (element?.kind !== "service") return [];
  const isOptional = draw.chance(25);
  joinScope(scope, inner, !isOptional && fact.predicate === server);
  const clause: Element = {
    ...element,
    dead: false,
    target: object,
    silent: fact.predicate === mirror || element.silent,
  };
  return [
    { kind: "service", target: draw.pick(fact.endpoints), silent: false, body: [{ kind: "triples", triples }] },
    isOptional ? { kind: "optional", body: [clause] } : clause,
  ];
}

function present<T extends Element>(element: T | undefined): readonly T[] {
  return element ? [element] : [];
}

function subquery(build: Build, scope: Scope, place: Place): readonly Element[] {
  const { draw } = build;
  const wanted: Feature[] = draw.chance(45)
    ? [draw.pick(["filter", "optional", "basic", "union", "values", "bind"])]
    : [];
  return subSelect(build, scope, (inner) => generateGroup(build, inner, { ...place, depth: place.depth + 1, wanted }));
}

const builders: Readonly<Record<Feature, Builder>> = {
  basic,
  "repeat-endpoint": repeatEndpoint,
  numeric,
  optional,
  "optional-filter": optionalFilter,
  union,
  minus,
  filter: (build, scope) => filterOf(generateCondition(build, scope)),
  exists: (build, scope, place) => present(exists(build, scope, place)),
  "not-exists": (build, scope, place) => present(notExists(build, scope, place)),
  values,
  bind: (build, scope) => present(generateBind(build, scope)),
  select: subquery,
  group: braces,
  "service-variable": serviceVariable,
  "out-of-scope": outOfScope,
  inside,
  path,
};
