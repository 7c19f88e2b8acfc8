import { isNumeric, isOrderable } from "./query-generator-expressions.ts";
import {
  emptyScope,
  hasIdentity,
  innerScope,
  joinScope,
  type Build,
  type Known,
  type Scope,
} from "./query-generator-scope.ts";
import type { Element, Group, Select } from "./query-generator-syntax.ts";

/** A subquery; `fill` makes its pattern and tells the scope what it binds. */
export function subSelect(build: Build, scope: Scope, fill: (inner: Scope) => Group): readonly Element[] {
  const { draw } = build;
  const inner = innerScope(scope);
  const where = fill(inner);
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

/** Variables whose numbers can be summed; they may be unbound, which is an error (SPARQL 1.1 Query, section 18.5.1). */
export function summable(scope: Scope): readonly Known[] {
  return [...scope.variables.values()].filter((known) => isNumeric(known.kind));
}
