import type { Expression, OperationExpression, Pattern, SelectQuery, Triple } from "sparqljs";
import type { ContainerAnswer } from "../../src/agent/container/container.ts";
import type { AskedStep } from "../../src/agent/container/read-step.ts";
import { parseQuery } from "../../src/sparql/query.ts";

/** One step of a container. @throws when the container refuses it */
export type TakeStep = (step: AskedStep) => Promise<ContainerAnswer>;

/** A query that has a form which the choices do not. */
export class NotBuildable extends Error {}

const rdfType = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";

/**
 * Puts a query together that asks what another one does, by nothing but choices: what a model would do that never errs.
 * @returns the last answer of the container
 * @throws NotBuildable for what there are no choices for; whatever the container refuses
 */
export async function buildFrom(text: string, take: TakeStep): Promise<ContainerAnswer> {
  const ast = parseQuery(text).ast;
  if (ast.queryType !== "SELECT") throw new NotBuildable(ast.queryType);
  const [query, minus] = withoutMinus(ast);
  const builder = createBuilder(take);
  const where = flat(query.where ?? []);
  await builder.pattern(where);
  if (minus) await builder.except(projected(query), { where: flat(minus.where ?? []), column: projected(minus) });
  return builder.head(query, { distinct: ast.distinct === true });
}

/** `{ SELECT (?a AS ?c) ... } MINUS { SELECT (?b AS ?c) ... }` as the first query and the second. */
function withoutMinus(ast: SelectQuery): readonly [SelectQuery, SelectQuery?] {
  const [first, second, ...more] = ast.where ?? [];
  if (second?.type !== "minus" || more.length > 0 || first === undefined) return [ast];
  const [left, right] = [innerSelect(first), innerSelect(second)];
  if (!left || !right || left.variables.length !== 1 || right.group || left.group)
    throw new NotBuildable("MINUS of several columns or groups");
  return [left, right];
}

function innerSelect(pattern: Pattern): SelectQuery | undefined {
  if (pattern.type === "query") return pattern;
  const patterns = pattern.type === "group" || pattern.type === "minus" ? pattern.patterns : [];
  const [only] = patterns;
  return patterns.length === 1 && only ? innerSelect(only) : undefined;
}

function projected({ variables }: SelectQuery): string {
  const [first] = variables;
  if (first !== undefined && "expression" in first && "termType" in first.expression) return first.expression.value;
  if (first !== undefined && "termType" in first) return first.value;
  throw new NotBuildable("a computed column is compared");
}

interface Flat {
  readonly triples: Triple[];
  readonly filters: Expression[];
  readonly selects: SelectQuery[];
}

/** Groups and subqueries that only select are parts of the pattern around them. */
function flat(patterns: readonly Pattern[], into: Flat = { triples: [], filters: [], selects: [] }): Flat {
  for (const pattern of patterns) {
    if (pattern.type === "bgp") into.triples.push(...pattern.triples);
    else if (pattern.type === "filter") into.filters.push(...conjuncts(pattern.expression));
    else if (pattern.type === "group") flat(pattern.patterns, into);
    else if (pattern.type === "query" && isPlain(pattern)) flat(pattern.where ?? [], into);
    else if (pattern.type === "query") into.selects.push(pattern);
    else throw new NotBuildable(pattern.type.toUpperCase());
  }
  return into;
}

const isPlain = ({ variables, group, limit, having }: SelectQuery): boolean =>
  !group && !having && limit === undefined && variables.every((variable) => "termType" in variable);

const isOperation = (expression: unknown): expression is OperationExpression =>
  typeof expression === "object" && expression !== null && "type" in expression && expression.type === "operation";

function conjuncts(expression: Expression): readonly Expression[] {
  return isOperation(expression) && expression.operator === "&&"
    ? expression.args.flatMap((arg) => conjuncts(arg as Expression))
    : [expression];
}

function disjuncts(expression: Expression): readonly Expression[] {
  return isOperation(expression) && expression.operator === "||"
    ? expression.args.flatMap((arg) => disjuncts(arg as Expression))
    : [expression];
}

const plainIri = (iri: string): string => iri.replaceAll("\\", "");
const localName = (iri: string): string => plainIri(iri).split(/[/#]/).at(-1) ?? "";

function createBuilder(take: TakeStep) {
  /** Variables of the query to those of the draft. */
  const names = new Map<string, string>();
  const listed = async (step: AskedStep["step"], words: string): Promise<readonly string[]> =>
    (await take({ step, value: words })).lists.flatMap(({ items }) => items);
  const columns = async (): Promise<readonly string[]> =>
    (await take({ step: "show" })).lists.flatMap(({ items }) => items);
  const newest = async (): Promise<string> => /\?(\w+)/.exec((await columns()).at(-1) ?? "")?.[1] ?? "";
  const number = (lines: readonly string[], isOne: (line: string) => boolean, what: string): number => {
    const line = lines.find((each) => isOne(each));
    if (line === undefined) throw new NotBuildable(`no choice ${what}`);
    return Number.parseInt(line, 10);
  };
  const columnNumber = async (name: string): Promise<number> => {
    const own = names.get(name);
    if (own === undefined) throw new NotBuildable(`?${name} is bound by nothing that can be chosen`);
    return number(await columns(), (line) => line.includes(`?${own} `), own);
  };

  async function nodes({ triples }: Flat): Promise<void> {
    const types = new Map(
      triples
        .filter(({ predicate }) => isType(predicate))
        .map(({ subject, object }) => [subject.value, plainIri(object.value)]),
    );
    for (const { subject, predicate } of triples) {
      // A property whose class is not said: its name begins with it.
      if (!types.has(subject.value) && "value" in predicate)
        types.set(subject.value, plainIri(predicate.value).split("#")[0] ?? "");
    }
    const links = triples.filter(
      ({ predicate, object }) => !isType(predicate) && object.termType === "Variable" && types.has(object.value),
    );
    const todo = new Set(links);
    for (const [name, iri] of types) {
      if (names.has(name)) continue;
      await chooseClass(name, iri);
      await follow(todo, types);
    }
  }

  async function chooseClass(name: string, iri: string): Promise<void> {
    const lines = await listed("class", localName(iri));
    await take({ step: "class", choice: number(lines, (line) => endsWith(line, localName(iri)), iri) });
    names.set(name, await newest());
  }

  /** Links that begin or end at a node that is there, until none is left. */
  async function follow(todo: Set<Triple>, types: ReadonlyMap<string, string>): Promise<void> {
    for (let link = next(todo, names); link !== undefined; link = next(todo, names)) {
      todo.delete(link);
      const { subject, predicate, object } = link;
      const [from, to] = names.has(subject.value) ? [subject.value, object.value] : [object.value, subject.value];
      const arrow = from === subject.value ? "- " : "<- ";
      const property = localName("value" in predicate ? predicate.value : "");
      const end = names.get(to);
      const lines = await listed("path", property);
      const target = localName(types.get(to) ?? "");
      const isOne = (line: string): boolean =>
        line.includes(`?${names.get(from)} ${arrow}`) &&
        new RegExp(`[:/#]${escaped(property)}>? `).test(line) &&
        (end === undefined ? endsWith(line, target) : line.endsWith(` = ?${end}`));
      await take({ step: "path", choice: number(lines, isOne, `${property} to ${target}`) });
      if (end === undefined) names.set(to, await newest());
    }
  }

  async function values({ triples }: Flat): Promise<void> {
    const seen = new Set<string>();
    for (const { subject, predicate, object } of triples) {
      if (!("value" in predicate)) throw new NotBuildable("a property path");
      const key = `${subject.value} ${predicate.value} ${object.value}`;
      if (isType(predicate) || seen.has(key)) continue;
      seen.add(key);
      if (object.termType !== "Variable") throw new NotBuildable("a constant in a pattern");
      if (names.has(object.value)) continue;
      const property = localName(predicate.value);
      const owner = names.get(subject.value);
      const lines = await listed("property", property);
      const isOne = (line: string): boolean =>
        line.includes(`?${owner} `) && new RegExp(`[:/#]${escaped(property)}>? \\(`).test(line);
      await take({ step: "property", choice: number(lines, isOne, property) });
      names.set(object.value, await newest());
    }
  }

  async function condition(expression: Expression, step: "filter" | "or"): Promise<void> {
    if (!isOperation(expression)) throw new NotBuildable("a condition that is no comparison");
    const [left, given] = expression.args as readonly unknown[];
    const [right] = Array.isArray(given) ? (given as readonly unknown[]) : [given];
    const operator = expression.operator === "in" ? "=" : expression.operator;
    if (!["=", "!=", "<", ">", "<=", ">=", "contains"].includes(operator)) throw new NotBuildable(`FILTER ${operator}`);
    if (!isTerm(left) || !isTerm(right) || left.termType !== "Variable") throw new NotBuildable("a computed condition");
    const other = names.get(right.value);
    if (right.termType === "Variable" && other === undefined)
      throw new NotBuildable("a subquery with groups or a limit");
    const value = right.termType === "Variable" ? `?${other}` : right.value;
    await take({ step, choice: await columnNumber(left.value), value: `${operator} ${value}` });
  }

  async function pattern(where: Flat): Promise<void> {
    await nodes(where);
    await values(where);
    for (const filter of where.filters) {
      if (isOperation(filter) && filter.operator === "notexists") await absent(filter);
      else if (!(await compared(filter, where.selects))) {
        for (const [index, each] of disjuncts(filter).entries()) await condition(each, index === 0 ? "filter" : "or");
      }
    }
    const args = where.filters.flatMap((filter) => (isOperation(filter) ? filter.args : []));
    const compares = new Set(args.flatMap((arg) => (isTerm(arg) ? arg.value : [])));
    if (where.selects.some((select) => !compares.has(aliasOf(select))))
      throw new NotBuildable("a subquery with groups or a limit");
  }

  /** FILTER NOT EXISTS { { SELECT ?b ... } FILTER(?a IN (?b)) } */
  async function absent({ args: [group] }: OperationExpression): Promise<void> {
    const inner = flat([group as unknown as Pattern]);
    const [link, ...rest] = inner.filters.filter((filter) => isOperation(filter) && filter.operator === "in");
    const filters = inner.filters.filter((filter) => filter !== link);
    if (!isOperation(link) || rest.length > 0 || inner.selects.length > 0)
      throw new NotBuildable("NOT EXISTS over groups");
    const [outer, [value]] = link.args as unknown as readonly [{ value: string }, readonly { value: string }[]];
    await except(outer.value, { where: { ...inner, filters }, column: value?.value ?? "" });
  }

  async function except(outer: string, { where, column }: { where: Flat; column: string }): Promise<void> {
    await take({ step: "except", choice: await columnNumber(outer) });
    await pattern(where);
    await take({ step: "end", choice: await columnNumber(column) });
  }

  /** A condition against the one figure of a subquery. */
  async function compared(filter: Expression, selects: readonly SelectQuery[]): Promise<boolean> {
    if (!isOperation(filter)) return false;
    const [left, right] = filter.args;
    const select = selects.find((each) => isTerm(right) && aliasOf(each) === right.value);
    if (!select || !isTerm(left)) return false;
    const [variable] = select.variables;
    const aggregate = variable && "expression" in variable ? variable.expression : undefined;
    if (
      !aggregate ||
      !("aggregation" in aggregate) ||
      !isTerm(aggregate.expression) ||
      select.group ||
      select.limit !== undefined
    )
      throw new NotBuildable("a subquery with groups or a limit");
    await take({ step: "compare", choice: await columnNumber(left.value), value: filter.operator });
    await pattern(flat(select.where ?? []));
    await take({ step: "end", choice: await columnNumber(aggregate.expression.value), value: aggregate.aggregation });
    return true;
  }

  /** The number of the column that an aggregate is over, 0 for rows, and its words. */
  async function figure(expression: unknown): Promise<{ readonly choice: number; readonly words: string }> {
    const {
      aggregation,
      distinct,
      expression: over,
    } = expression as { aggregation?: string; distinct?: boolean; expression?: unknown };
    if (aggregation === undefined) throw new NotBuildable("a computed column");
    const choice = isTerm(over) && over.termType === "Variable" ? await columnNumber(over.value) : 0;
    return { choice, words: `${aggregation}${distinct === true ? " distinct" : ""}` };
  }

  async function columnsOf({ group, variables }: SelectQuery): Promise<ReadonlyMap<string, Expression>> {
    const aliases = new Map<string, Expression>();
    for (const { expression } of group ?? []) await show("group", expression);
    for (const variable of variables) {
      if ("termType" in variable || isTerm(variable.expression)) {
        await show("show", "termType" in variable ? variable : variable.expression);
        continue;
      }
      aliases.set(variable.variable.value, variable.expression);
      const { choice, words } = await figure(variable.expression);
      await take({ step: "aggregate", choice, value: words });
    }
    return aliases;
  }

  async function show(step: "group" | "show", term: unknown): Promise<void> {
    if (!isTerm(term) || term.termType !== "Variable") throw new NotBuildable("a column that is no variable");
    await take({ step, choice: await columnNumber(term.value) });
  }

  async function orderBy({ order }: SelectQuery, aliases: ReadonlyMap<string, Expression>): Promise<void> {
    for (const { expression, descending } of order ?? []) {
      const direction = descending === true ? "desc" : "asc";
      const alias = isTerm(expression) ? aliases.get(expression.value) : expression;
      if (isTerm(expression) && alias === undefined) {
        await take({ step: "order", choice: await columnNumber(expression.value), value: direction });
        continue;
      }
      const { choice, words } = await figure(alias);
      await take({ step: "order", choice, value: `${direction} ${words}` });
    }
  }

  async function head(query: SelectQuery, { distinct }: { distinct: boolean }): Promise<ContainerAnswer> {
    const aliases = await columnsOf(query);
    if (distinct || query.distinct) await take({ step: "distinct" });
    for (const having of (query.having ?? []).flatMap(conjuncts)) {
      if (!isOperation(having) || !isTerm(having.args[1])) throw new NotBuildable("a computed HAVING");
      const { choice, words } = await figure(having.args[0]);
      await take({ step: "having", choice, value: `${words} ${having.operator} ${having.args[1].value}` });
    }
    await orderBy(query, aliases);
    if (query.limit !== undefined) await take({ step: "limit", choice: query.limit });
    return take({ step: "show" });
  }

  return { pattern, except, head };
}

const aliasOf = ({ variables: [first] }: SelectQuery): string =>
  first !== undefined && "expression" in first ? first.variable.value : "";

const isTerm = (value: unknown): value is { readonly termType: string; readonly value: string } =>
  typeof value === "object" && value !== null && "termType" in value;

const isType = (predicate: Triple["predicate"]): boolean => "value" in predicate && predicate.value === rdfType;
const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
const endsWith = (line: string, name: string): boolean => new RegExp(`[:/#]${escaped(name)}>?$`).test(line);

function next(todo: ReadonlySet<Triple>, names: ReadonlyMap<string, string>): Triple | undefined {
  return [...todo].find(({ subject, object }) => names.has(subject.value) || names.has(object.value));
}
