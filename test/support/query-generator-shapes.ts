import { generateCondition } from "./query-generator-expressions.ts";
import { factsAt, linkPredicates, type Fact } from "./query-generator-data.ts";
import { patternOf } from "./query-generator-patterns.ts";
import {
  factsAround,
  innerScope,
  joinable,
  joinableEndpoint,
  joinScope,
  type Build,
  type Scope,
} from "./query-generator-scope.ts";
import type { Element, Group, Triple } from "./query-generator-syntax.ts";

/** Groups that a planner has a better way for than one pattern after the other. */
export const shapes = [
  "star",
  "optional-star",
  "chain",
  "self-join",
  "union-all",
  "unlike-keys",
  "constant",
  "filtered-star",
  "negated-path",
  "zero-path",
] as const;
export type Shape = (typeof shapes)[number];

type Maker = (build: Build, scope: Scope) => readonly Element[];

/** The elements of a shape, joined with the scope where the data allow it. */
export function generateShape(build: Build, scope: Scope, shape: Shape): readonly Element[] {
  return makers[shape](build, scope);
}

const makers: Readonly<Record<Shape, Maker>> = {
  star: (build, scope) => star(build, scope),
  "optional-star": optionalStar,
  chain,
  "self-join": selfJoin,
  "union-all": unionAll,
  "unlike-keys": unlikeKeys,
  constant: (build, scope) => star(build, scope, { constants: 60 }),
  "filtered-star": filteredStar,
  "negated-path": (build, scope) => pathBetween(build, scope, "negated"),
  "zero-path": (build, scope) => pathBetween(build, scope, "zero"),
};

/** Zero-length paths between free variables are seen differently by endpoints that get keys for them. */
export const shapesOfServices: readonly Shape[] = shapes.filter((shape) => shape !== "zero-path");

/** Several patterns over one subject, at the members that have them. */
function star(build: Build, scope: Scope, { constants = 15 } = {}): readonly Element[] {
  const { draw } = build;
  const facts = factsOfSubject(build, scope);
  const chosen = facts.filter(() => draw.chance(60)).slice(0, 4);
  const wanted = chosen.length > 0 ? chosen : facts.slice(0, 1);
  return wanted.flatMap((fact) => clause(build, scope, fact, constants));
}

/** Facts about a subject that is joined, or else about any. */
function factsOfSubject(build: Build, scope: Scope): readonly Fact[] {
  const { draw, data } = build;
  const witnesses = new Set(joinable(scope).flatMap(({ kind, witness }) => (kind === "iri" ? [witness] : [])));
  const joined = data.facts.filter(({ subject }) => witnesses.has(subject));
  const among = joined.length > 0 && draw.chance(85) ? joined : data.facts;
  if (among.length === 0) return [];
  const { subject } = draw.pick(among);
  return data.facts.filter((fact) => fact.subject === subject);
}

/** The pattern of a fact in the SERVICE of a member that has it. */
function clause(build: Build, scope: Scope, fact: Fact, constants = 15): readonly Element[] {
  const inner = innerScope(scope);
  const pattern = patternOf(build, inner, fact);
  const fixed = constants > 15 && pattern.object.startsWith("?") && isFixable(fact) && build.draw.chance(constants);
  if (fixed) inner.variables.delete(pattern.object);
  joinScope(scope, inner);
  return [at(build.draw.pick(fact.endpoints), [fixed ? { ...pattern, object: fact.object } : pattern])];
}

const isFixable = ({ kind }: Fact): boolean => !["blank", "node", "spelled", "any"].includes(kind);

const at = (target: number, triples: readonly Triple[]): Element => ({
  kind: "service",
  target,
  silent: false,
  body: [{ kind: "triples", triples }],
});

function optionalStar(build: Build, scope: Scope): readonly Element[] {
  const required = star(build, scope).slice(0, 2);
  const inner = innerScope(scope);
  const body = star(build, inner);
  joinScope(scope, inner, false);
  return body.length === 0 ? required : [...required, { kind: "optional", body }];
}

function filteredStar(build: Build, scope: Scope): readonly Element[] {
  const elements = star(build, scope);
  const conditions = [0, 1].flatMap(() => generateCondition(build, scope) ?? []);
  return [...elements, ...conditions.map((condition): Element => ({ kind: "filter", condition }))];
}

/** From item to item, and what the last one has. */
function chain(build: Build, scope: Scope): readonly Element[] {
  const { draw, data } = build;
  const elements: Element[] = [];
  let from: string | undefined;
  for (let step = 0; step < 3; step++) {
    const links: readonly Fact[] = data.facts.filter(
      ({ predicate, subject }) => linkPredicates.includes(predicate) && (from === undefined || subject === from),
    );
    if (links.length === 0) break;
    const link = draw.pick(links);
    elements.push(...clause(build, scope, link));
    from = link.object;
  }
  const ends = data.facts.filter(({ subject }) => subject === from);
  return ends.length > 0 ? [...elements, ...clause(build, scope, draw.pick(ends))] : elements;
}

/** One pattern twice, with other names for its object. */
function selfJoin(build: Build, scope: Scope): readonly Element[] {
  const { draw, data } = build;
  if (data.facts.length === 0) return [];
  const facts = factsOfSubject(build, scope);
  if (facts.length === 0) return [];
  const fact = draw.pick(facts);
  const inner = innerScope(scope);
  const pattern = patternOf(build, inner, fact);
  const again = patternOf(build, innerScope(inner), fact);
  if (!pattern.object.startsWith("?")) return [at(draw.pick(fact.endpoints), [pattern])];
  const object = build.fresh();
  const known = inner.variables.get(pattern.object);
  if (known) inner.variables.set(object, { ...known, name: object });
  joinScope(scope, inner);
  const triples = [pattern, { ...again, subject: pattern.subject, predicate: pattern.predicate, object }];
  if (draw.chance(50)) return [at(draw.pick(fact.endpoints), triples)];
  return triples.map((triple) => at(draw.pick(fact.endpoints), [triple]));
}

/** One group at every member, as agents write who do not know where their data are. */
function unionAll(build: Build, scope: Scope): readonly Element[] {
  const { draw, data } = build;
  const inner = innerScope(scope);
  const facts = factsOfSubject(build, scope);
  const triples = facts
    .filter(() => draw.chance(45))
    .slice(0, 2)
    .map((fact) => patternOf(build, inner, fact));
  if (triples.length === 0) return [];
  const condition = draw.chance(25) ? generateCondition(build, { ...inner, anchors: new Map() }) : undefined;
  joinScope(scope, inner);
  const body: Group = condition
    ? [
        { kind: "triples", triples },
        { kind: "filter", condition },
      ]
    : [{ kind: "triples", triples }];
  const targets = Array.from({ length: data.endpoints }, (_, target) => target);
  return [
    { kind: "union", branches: targets.map((target): Group => [{ kind: "service", target, silent: false, body }]) },
  ];
}

/** A pattern that a FILTER joins with what is there. */
function unlikeKeys(build: Build, scope: Scope): readonly Element[] {
  const { draw, data } = build;
  const keys = joinable(scope).filter(({ kind }) => ["iri", "string", "integer", "date", "spelled"].includes(kind));
  if (keys.length === 0) return star(build, scope);
  const key = draw.pick(keys);
  const facts = data.facts.filter(
    ({ kind, object }) => kind === key.kind && (object === key.witness || draw.chance(20)),
  );
  if (facts.length === 0) return star(build, scope);
  const fact = draw.pick(facts);
  const [subject, object] = [build.fresh(), build.fresh()];
  scope.variables.set(subject, { name: subject, kind: "iri", witness: fact.subject, certain: true });
  scope.variables.set(object, { name: object, kind: fact.kind, witness: fact.object, certain: true });
  const sign = draw.pick([
    `${key.name} = ${object}`,
    `STR(${key.name}) = STR(${object})`,
    `${key.name} IN (${object})`,
  ]);
  return [
    at(draw.pick(fact.endpoints), [{ subject, predicate: fact.predicate, object }]),
    { kind: "filter", condition: { kind: "test", operator: "comparison", text: sign } },
  ];
}

/** `!p` between any nodes, `p*` and `p?` also between nodes that are in no triple with `p`. */
function pathBetween(build: Build, scope: Scope, kind: "negated" | "zero"): readonly Element[] {
  const { draw, data } = build;
  const endpoint = joinableEndpoint(build, scope);
  const anchors = joinable(scope).filter(({ kind: of }) => of === "iri");
  const around = anchors.flatMap((known) => factsAround(build, endpoint, known).map((fact) => ({ known, fact })));
  const facts = factsAt(data, endpoint);
  const chosen = around.length > 0 ? draw.pick(around) : undefined;
  const fact = chosen?.fact ?? (facts.length > 0 ? draw.pick(facts) : undefined);
  if (!fact) return [];
  const subject = chosen && chosen.known.witness === fact.subject ? chosen.known.name : build.fresh();
  const object = build.fresh();
  // What a path leads to may be anything.
  if (!scope.variables.has(subject))
    scope.variables.set(subject, { name: subject, kind: "any", witness: undefined, certain: true });
  scope.variables.set(object, { name: object, kind: "any", witness: undefined, certain: true });
  const [first, second] = linkPredicates;
  const others = data.facts.filter(({ predicate }) => predicate !== fact.predicate);
  const other = others.length > 0 ? draw.pick(others).predicate : first;
  // With both directions a triple can count twice (SPARQL 1.1 Query, section 18.2.2.4), of which Oxigraph finds one.
  const negated = draw.pick([`!${other}`, `!(${other}|${first})`, `!(^${other})`]);
  const zero = draw.pick([`${first}*`, `${second}?`, `(${first}|${second})*`]);
  const predicate = kind === "negated" ? negated : zero;
  return [at(endpoint, [{ subject, predicate, object }])];
}
