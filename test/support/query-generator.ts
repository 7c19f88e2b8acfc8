import { Arbitrary, type Random, stream, type Stream, Value } from "fast-check";
import { generateData, type Draw, type GeneratedCase, type GeneratedData } from "./query-generator-data.ts";
import { generateGroup, type Feature, weightedFeatures } from "./query-generator-elements.ts";
import { exists } from "./query-generator-exists.ts";
import { isOrderable } from "./query-generator-expressions.ts";
import { createBuild, emptyScope, hasIdentity, type Build, type Known, type Scope } from "./query-generator-scope.ts";
import { ordered, summable } from "./query-generator-select.ts";
import { simplerCases } from "./query-generator-shrink.ts";
import { generateShape, type Shape } from "./query-generator-shapes.ts";
import type {
  Aggregate,
  Condition,
  Element,
  GeneratedQuery,
  Group,
  Projection,
  Select,
  Triple,
} from "./query-generator-syntax.ts";

/**
 * Cases for fast-check: seeded by it, shrunk by structure (elements, rows and facts are dropped one by one).
 *
 * Not generated, because the oracle cannot judge it: patterns outside SERVICE; LIMIT without a total order; joins on
 * blank nodes (local to one answer); zero-length paths from constants or between free variables; ordering, MIN and MAX
 * over mixed or language-tagged values; SAMPLE, GROUP_CONCAT, REDUCED, RAND, NOW, UUID; EXISTS around more than one
 * pattern; SERVICE inside SERVICE, and `SERVICE ?g` that nothing before it binds; literals in other spellings than Oxigraph's own.
 */
export function generatedCases(dataOf: (draw: Draw) => GeneratedData = generateData): Arbitrary<GeneratedCase> {
  return new CaseArbitrary((draw) => generateCase(draw, dataOf(draw)));
}

/** Cases that are more than a query and its data. */
export function casesBy<Case extends GeneratedCase>(make: (draw: Draw) => Case): Arbitrary<Case> {
  return new CaseArbitrary(make);
}

class CaseArbitrary<Case extends GeneratedCase> extends Arbitrary<Case> {
  readonly #make: (draw: Draw) => Case;

  constructor(make: (draw: Draw) => Case) {
    super();
    this.#make = make;
  }

  override generate(random: Random): Value<Case> {
    return new Value(this.#make(drawFrom(random)), undefined);
  }

  override canShrinkWithoutContext(value: unknown): value is Case {
    return typeof value === "object" && value !== null && "query" in value && "data" in value;
  }

  override shrink(value: Case): Stream<Value<Case>> {
    return stream(simplerCases(value)).map((simpler) => new Value({ ...value, ...simpler }, undefined));
  }
}

function drawFrom(random: Random): Draw {
  const below = (bound: number): number => (bound <= 1 ? 0 : random.nextInt(0, bound - 1));
  return {
    below,
    chance: (percent) => below(100) < percent,
    pick: <T>(items: readonly T[]) => {
      const item = items[below(items.length)];
      if (item === undefined) throw new Error("Nothing to pick from");
      return item;
    },
  };
}

/** What a query is made of beside the generator's own features. */
interface Ingredients {
  /** Shapes to pick from; none: there are no shapes, and no LIMIT without a total order. */
  readonly shapes?: readonly Shape[];
  /** Percentage of cases with shapes; default 60. */
  readonly shaped?: number;
  /** Percentage of DESCRIBE, of the twelve that are graphs; default none. */
  readonly describes?: number;
}

/** A query over these data. */
export function generateCase(
  draw: Draw,
  data: GeneratedData,
  { shapes = [], shaped = 60, describes = 0 }: Ingredients = {},
): GeneratedCase {
  const build = createBuild(draw, data);
  const scope = emptyScope();
  const form = draw.below(100);
  const aggregated = form >= 22 && form < 56;
  const wanted = wantedFeatures(draw);
  const request = { endpoint: undefined, depth: 0, wanted: aggregated ? ["numeric" as const, ...wanted] : wanted };
  const where = generateWhere(build, scope, { ...request, shapes, shaped });
  if (form < 10 || scope.variables.size === 0) return { data, query: { form: "ask", where } };
  if (form < 22) return { data, query: graphQuery(form < 10 + describes)(build, scope, where) };
  const select = aggregated ? aggregateSelect(build, scope, where) : plainSelect(build, scope, where);
  return { data, query: { form: "select", select: shapes.length > 0 ? someRows(draw, select) : select } };
}

const graphQuery = (describes: boolean) => (describes ? describeSome : construct);

type WhereRequest = Parameters<typeof generateGroup>[2] & Required<Omit<Ingredients, "describes">>;

/** A generated group, or one or two shapes, mostly with nothing beside them that would keep a planner from its better way. */
function generateWhere(build: Build, scope: Scope, request: WhereRequest): Group {
  const { draw } = build;
  const { shapes, shaped, wanted } = request;
  if (shapes.length === 0 || !draw.chance(shaped)) return generateGroup(build, scope, request);
  const count = 1 + draw.below(2);
  const elements: Element[] = [];
  for (let index = 0; index < count; index++) elements.push(...generateShape(build, scope, draw.pick(shapes)));
  if (draw.chance(60) && elements.length > 0) return elements;
  return [...elements, ...generateGroup(build, scope, { ...request, wanted: wanted.slice(-1) })];
}

/** Now and then LIMIT and OFFSET without ORDER BY, which any rows of the answer satisfy. */
function someRows(draw: Draw, select: Select): Select {
  if (select.orderBy.length > 0 || !draw.chance(35)) return select;
  return { ...select, limit: draw.below(9), offset: draw.chance(25) ? draw.below(3) : undefined };
}

function wantedFeatures(draw: Draw): readonly Feature[] {
  const count = 2 + draw.below(3);
  return Array.from({ length: count }, () => draw.pick(weightedFeatures));
}

const unordered = { groupBy: [], having: undefined, orderBy: [], limit: undefined, offset: undefined } as const;

function plainSelect(build: Build, scope: Scope, where: Group): Select {
  const { draw } = build;
  const all = [...scope.variables.values()];
  const wantsDistinct = draw.chance(45);
  if (draw.chance(25))
    return { ...unordered, distinct: wantsDistinct && all.every(hasIdentity), projection: [], where };
  const wantsOrder = draw.chance(55);
  const orderable = all.filter((known) => !["blank", "any", "lang", "boolean", "spelled"].includes(known.kind));
  const candidates = wantsOrder && orderable.length > 0 ? orderable : all;
  const some = candidates.filter(() => draw.chance(70));
  const projected = some.length > 0 ? some : candidates.slice(0, 1);
  const select: Select = {
    ...unordered,
    distinct: wantsDistinct && projected.every(hasIdentity),
    projection: projected.map(({ name }) => ({ variable: name })),
    where,
  };
  return wantsOrder ? ordered(build, select, projected) : select;
}

function aggregateSelect(build: Build, scope: Scope, where: Group): Select {
  const { draw } = build;
  const all = [...scope.variables.values()];
  // Oxigraph 0.5.11 gives no row instead of one for an aggregate without GROUP BY over a filter that it knows to be
  // false, as a BOUND test and NOT EXISTS of a clause that is silent without its endpoint can be:
  // `SELECT (MAX(?o) AS ?n) { ?s ?p ?o FILTER(NOT EXISTS {}) }`. The oracle and the endpoints would err alike or apart.
  const written = JSON.stringify(where);
  const needsKey = written.includes("BOUND(") || /"kind":"exists".*"dead":true/u.test(written);
  const identities = all.filter(hasIdentity);
  const grouped = identities.length > 0 && (needsKey || draw.chance(70));
  const keys = grouped ? [draw.pick(identities)] : [];
  if (needsKey && keys.length === 0) return plainSelect(build, scope, where);
  const items = aggregates(build, scope, keys);
  const projection = [...keys.map(({ name }) => ({ variable: name })), ...items];
  const having = keys.length > 0 && draw.chance(50) ? havingOf(build, items, keys) : undefined;
  const select: Select = { ...unordered, distinct: false, projection, where, groupBy: keys.map((k) => k.name), having };
  // Keys alone make the order total: there is one row a key.
  return draw.chance(35) ? ordered(build, select, keys) : select;
}

function aggregates(build: Build, scope: Scope, keys: readonly Known[]): readonly Projection[] {
  const { draw } = build;
  const numbers = summable(scope).filter((known) => !keys.includes(known));
  const count = 2 + draw.below(3);
  return Array.from({ length: count }, () => {
    const name = draw.pick<Aggregate>(["count", "sum", "min", "max", "avg"]);
    const fitting = ["min", "max"].includes(name) && draw.chance(50) ? comparable(scope) : numbers;
    const known = fitting.length > 0 && name !== "count" ? draw.pick(fitting) : undefined;
    return known ? aggregateOf(build, name, known) : countOf(build, scope);
  });
}

const comparable = (scope: Scope): readonly Known[] =>
  [...scope.variables.values()].filter(({ kind }) => isOrderable(kind) && kind !== "iri");

function aggregateOf(build: Build, aggregate: Aggregate, known: Known): Projection {
  const distinct = build.draw.chance(20) ? "DISTINCT " : "";
  return { variable: build.fresh(), aggregate, expression: `${aggregate.toUpperCase()}(${distinct}${known.name})` };
}

function countOf(build: Build, scope: Scope): Projection {
  const { draw } = build;
  const variable = build.fresh();
  const all = [...scope.variables.values()];
  const whole = draw.chance(30) && all.every(hasIdentity) ? "COUNT(DISTINCT *)" : "COUNT(*)";
  if (draw.chance(40)) return { variable, aggregate: "count", expression: whole };
  const counted = draw.pick(all);
  const distinct = hasIdentity(counted) && draw.chance(50) ? "DISTINCT " : "";
  return { variable, aggregate: "count", expression: `COUNT(${distinct}${counted.name})` };
}

function havingOf(build: Build, items: readonly Projection[], keys: readonly Known[]): Condition {
  const scope: Scope = { variables: new Map(keys.map((known) => [known.name, known])), anchors: new Map() };
  const filter = build.draw.chance(25) ? exists(build, scope, { endpoint: undefined, depth: 0 }) : undefined;
  return filter?.condition ?? { kind: "test", operator: "comparison", text: comparedAggregate(build, items) };
}

function comparedAggregate(build: Build, items: readonly Projection[]): string {
  const counted = items.find((item) => item.aggregate === "count");
  const other = items.find((item) => item.aggregate !== "count");
  if (other?.expression && build.draw.chance(50)) return `${other.expression} > 1`;
  return `${counted?.expression ?? "COUNT(*)"} >= ${1 + build.draw.below(2)}`;
}

/** Of all variables, bound or not, or of some. */
function describeSome({ draw }: Build, scope: Scope, where: Group): GeneratedQuery {
  const variables = [...scope.variables.keys()].filter(() => draw.chance(50));
  return { form: "describe", variables, where };
}

/** What is no triple (SPARQL 1.1 Query, section 16.2.1) is left out: literals as subjects, what is no IRI as predicates. */
function construct(build: Build, scope: Scope, where: Group): GeneratedQuery {
  const { draw } = build;
  const all = [...scope.variables.values()];
  const subjects = all.filter((known) => known.kind === "iri");
  const count = 1 + draw.below(2);
  const template = Array.from({ length: count }, (_, index): Triple => {
    const own = subjects.length > 0 ? draw.pick(subjects).name : "<http://data.example/result>";
    const subject = draw.chance(25) ? draw.pick([draw.pick(all).name, "_:made"]) : own;
    const predicate = draw.chance(15) ? draw.pick(all).name : `<http://vocabulary.example/result${index}>`;
    const object = draw.chance(25) ? draw.pick([...templateTerms, ...lists(draw.pick(all))]) : draw.pick(all).name;
    return { subject, predicate, object };
  });
  return { form: "construct", template, where };
}

const lists = ({ name }: Known): readonly string[] => [`(${name} 1 ${name})`, `[ <http://v.example/of> ${name} ]`];

const templateTerms = [
  '"\u00FC"@de',
  "5",
  '"2.50"^^<http://www.w3.org/2001/XMLSchema#decimal>',
  "true",
  "_:made",
] as const;
