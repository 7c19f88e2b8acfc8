import type { Fact, GeneratedCase, GeneratedData } from "./query-generator-data.ts";
import type {
  Block,
  Condition,
  Element,
  GeneratedQuery,
  Group,
  Select,
  Service,
  SubSelect,
  Triples,
} from "./query-generator-syntax.ts";

/** Every case that is one step simpler, boldest first. All of them stay within what the oracle can judge. */
export function* simplerCases(value: GeneratedCase): Generator<GeneratedCase> {
  for (const query of simplerQueries(value.query)) yield { data: value.data, query };
  for (const data of simplerData(value.data)) yield { data, query: value.query };
}

/** Takes simpler cases as long as `fails` holds for one; gives up after `budget` tries. */
export async function reduceCase(
  value: GeneratedCase,
  fails: (simpler: GeneratedCase) => Promise<boolean>,
  budget = 600,
): Promise<GeneratedCase> {
  let current = value;
  let left = budget;
  for (let found = true; found; ) {
    found = false;
    for (const simpler of simplerCases(current)) {
      if (left-- <= 0) return current;
      if (!(await fails(simpler))) continue;
      current = simpler;
      found = true;
      break;
    }
  }
  return current;
}

function* simplerQueries(query: GeneratedQuery): Generator<GeneratedQuery> {
  if (query.form === "select") {
    for (const select of simplerSelects(query.select)) yield { form: "select", select };
    return;
  }
  for (const where of simplerGroups(query.where)) yield { ...query, where };
  if (query.form === "construct" && query.template.length > 1) {
    for (const template of without(query.template)) yield { ...query, template };
  }
}

function* simplerSelects(select: Select): Generator<Select> {
  for (const where of simplerGroups(select.where)) {
    const simpler = { ...select, where };
    if (aggregatesAreBound(simpler)) yield simpler;
  }
  const plainer: readonly Select[] = [
    { ...select, distinct: false },
    { ...select, having: undefined },
    { ...select, limit: undefined },
    { ...select, offset: undefined },
  ];
  yield* plainer.filter((one) => JSON.stringify(one) !== JSON.stringify(select));
  if (select.limit !== undefined || select.offset !== undefined) return;
  if (select.orderBy.length > 0) yield { ...select, orderBy: [] };
  else if (select.projection.length > 1) {
    for (const projection of without(select.projection)) yield { ...select, projection };
  }
}

/** Aggregates keep the pattern that binds what they sum, so that a wrong answer stays wrong for its own reason. */
function aggregatesAreBound(select: Select): boolean {
  const pattern = JSON.stringify(select.where);
  const names = select.projection.flatMap((item) => item.expression?.match(/\?v\d+/gu) ?? []);
  return names.every((name) => pattern.includes(JSON.stringify(name)));
}

function* simplerGroups(group: Group): Generator<Group> {
  for (const [index, element] of group.entries()) {
    const before = group.slice(0, index);
    const after = group.slice(index + 1);
    const rest = [...before, ...after];
    if (rest.length > 0 && targetsAreBound(rest)) yield rest;
    for (const replacement of simplerElements(element)) yield [...before, ...replacement, ...after];
  }
}

/** `SERVICE ?v` keeps the VALUES or the pattern that names its endpoints. */
function targetsAreBound(group: Group): boolean {
  const bound = new Set(group.flatMap(boundBy));
  return group.every(
    (element) => element.kind !== "service" || typeof element.target === "number" || bound.has(element.target),
  );
}

function boundBy(element: Element): readonly string[] {
  if (element.kind === "service") return element.body.flatMap(boundBy);
  if (element.kind === "triples") return element.triples.map(({ object }) => object);
  return element.kind === "values" ? element.variables : [];
}

function* simplerElements(element: Element): Generator<readonly Element[]> {
  switch (element.kind) {
    case "triples":
      yield* simplerTriples(element);
      return;
    case "union":
      yield* simplerUnions(element.branches);
      return;
    case "filter":
      for (const condition of simplerConditions(element.condition)) yield [{ ...element, condition }];
      return;
    case "values":
      if (element.rows.length > 1) for (const rows of without(element.rows)) yield [{ ...element, rows }];
      return;
    case "select":
      yield* simplerSubSelects(element);
      return;
    case "bind":
      return;
    default:
      yield* simplerBlocks(element);
  }
}

function* simplerBlocks(element: Service | Block): Generator<readonly Element[]> {
  if (element.kind === "optional" || element.kind === "group") yield element.body;
  if (element.kind === "service" && element.silent && typeof element.target === "number")
    yield [{ ...element, silent: false }];
  for (const body of simplerGroups(element.body)) yield [{ ...element, body }];
}

function* simplerSubSelects(element: SubSelect): Generator<readonly Element[]> {
  if (element.select.groupBy.length === 0) yield element.select.where;
  for (const select of simplerSelects(element.select)) {
    // Hiding a variable of a subquery changes its scope, which the oracle cannot judge (see the generator).
    if (select.projection.length === element.select.projection.length) yield [{ ...element, select }];
  }
}

function* simplerTriples(element: Triples): Generator<readonly Element[]> {
  for (const triples of element.triples.length > 1 ? without(element.triples) : []) {
    if (starsAreAnchored(triples)) yield [{ kind: "triples", triples }];
  }
}

/** The start of a zero-length path stays bound by another pattern, as the generator made it. */
function starsAreAnchored(triples: Triples["triples"]): boolean {
  const starts = new Set(triples.flatMap((t) => (t.path === "star" ? [] : [t.subject, t.object])));
  return triples.every((t) => t.path !== "star" || starts.has(t.subject));
}

function* simplerUnions(branches: readonly Group[]): Generator<readonly Element[]> {
  yield* branches;
  if (branches.length > 2) for (const fewer of without(branches)) yield [{ kind: "union", branches: fewer }];
  for (const [index, branch] of branches.entries()) {
    for (const simpler of simplerGroups(branch)) yield [{ kind: "union", branches: branches.with(index, simpler) }];
  }
}

function* simplerConditions(condition: Condition): Generator<Condition> {
  switch (condition.kind) {
    case "and":
    case "or":
      yield condition.left;
      yield condition.right;
      for (const left of simplerConditions(condition.left)) yield { ...condition, left };
      for (const right of simplerConditions(condition.right)) yield { ...condition, right };
      return;
    case "not":
      yield condition.inner;
      return;
    case "exists":
      for (const body of simplerGroups(condition.body)) yield { ...condition, body };
      return;
    case "test":
  }
}

function* simplerData(data: GeneratedData): Generator<GeneratedData> {
  const { facts } = data;
  for (let size = Math.ceil(facts.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let start = 0; start < facts.length; start += size) {
      yield { ...data, facts: [...facts.slice(0, start), ...facts.slice(start + size)] };
    }
  }
  for (const [index, fact] of facts.entries()) {
    if (fact.endpoints.length > 1) {
      for (const endpoints of without(fact.endpoints))
        yield { ...data, facts: facts.with(index, { ...fact, endpoints }) satisfies readonly Fact[] };
    }
  }
}

function* without<T>(items: readonly T[]): Generator<readonly T[]> {
  for (const index of items.keys()) yield [...items.slice(0, index), ...items.slice(index + 1)];
}
