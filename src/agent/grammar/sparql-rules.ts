import { itemAt, valueFor } from "../../values.ts";
import { all, any, type Expression, maybe, oneOf } from "./grammar.ts";
import type { GrammarSource, Place } from "./places.ts";

const comparison = any("=", "!=", "<", "<=", ">", ">=");
const text: Expression = { set: '^"\\\\\\x00-\\x1F', least: 1, most: 60 };
const lowerText: Expression = { set: '^"\\\\A-Z\\x00-\\x1F', least: 1, most: 40 };
const digits = (least: number, most: number): Expression => ({ set: "0-9", least, most });

/** Rules that depend on no term. `x`, `y` and `z` are the nodes of a path, in its order. */
function* sharedRules(): Generator<readonly [string, Expression | undefined]> {
  yield ["text", all('"', text, '"')];
  yield ["lower-text", all('"', lowerText, '"')];
  yield ["number", all(maybe("-"), digits(1, 9), maybe(all(".", digits(1, 3))))];
  yield ["count", all({ set: "1-9", least: 1, most: 1 }, { set: "0-9", least: 0, most: 2 })];
  yield ["day", all('"', digits(4, 4), maybe(all("-", digits(2, 2), maybe(all("-", digits(2, 2))))), '"')];
  yield ["compare", comparison];
  for (const node of ["x", "y", "z"]) {
    const string = `STR(?${node}t)`;
    const either = any(all(`${string} = `, rule("text")), all(`CONTAINS(LCASE(${string}), `, rule("lower-text"), ")"));
    yield [`test-${node}t`, all(` ?${node}t . FILTER(`, either, ")")];
    const number = all(`?${node}n `, rule("compare"), " ", rule("number"));
    yield [`test-${node}n`, all(` ?${node}n . FILTER(`, number, maybe(all(" && ", number)), ")")];
    yield [`test-${node}d`, all(` ?${node}d . FILTER(STR(?${node}d) `, rule("compare"), " ", rule("day"), ")")];
  }
}

const rule = (name: string): Expression => ({ rule: name });

/** Variables that a pattern binds for sure, by the name of its shape; `?b` of `bn` is a number, `d` belongs to a linked node. */
const shapes = ["x", "a", "ab", "abc", "n", "abn", "ao", "xd", "ad", "abd"] as const;
type Shape = (typeof shapes)[number];

interface Context {
  readonly sources: readonly GrammarSource[];
  /** Patterns stand in SERVICE groups. */
  readonly asFederation: boolean;
  /** Start of each query. */
  readonly prologue: string;
}

type Define = (name: string, expression: Expression | undefined) => Expression | undefined;

/** The rules of queries over these places, the start first. */
export function grammarRules(places: readonly Place[], context: Context): ReadonlyMap<string, Expression> {
  const rules = new Map<string, Expression>();
  const define: Define = (name, expression) => {
    if (expression === undefined || expression === "") return expression;
    rules.set(name, expression);
    return { rule: name };
  };
  for (const [name, expression] of sharedRules()) define(name, expression);
  const subjects = defineSubjects(places, { context, define });
  const groups = new Map(shapes.map((shape) => [shape, patternOf(shape, subjects, { context, define })]));
  const query = all(context.prologue, any(...forms((shape) => groups.get(shape))));
  // The start comes first; rules that no sentence uses go.
  return used(new Map([["query", query ?? ""], ...rules]));
}

/** A group graph pattern of a shape at any source, or the union of two. */
function patternOf(shape: Shape, subjects: readonly Subject[], { context, define }: Defining): Expression | undefined {
  const bySource = Map.groupBy(subjects, ({ place }) => place.source);
  const groups = [...bySource].map(([source, own]) =>
    all(opening(source, context), any(...own.map((subject) => subject.shapes.get(shape))), closing(context)),
  );
  const group = define(`group-${shape}`, any(...groups));
  return define(`pattern-${shape}`, any(group, all("{ ", group, " } UNION { ", group, " }")));
}

const graphAt = (source: number, { sources }: Context): boolean =>
  sources[source]?.description.namedGraphs !== undefined;

function opening(source: number, context: Context): string {
  const { sources, asFederation } = context;
  const service = asFederation ? `SERVICE <${itemAt(sources, source).id}> { ` : "";
  if (!sources.some(({ description }) => description.namedGraphs)) return service;
  // All groups have as many braces, so that any of them can end a pattern that another one began.
  return `${service}${graphAt(source, context) ? `GRAPH ?g${source} ` : ""}{ `;
}

function closing({ sources, asFederation }: Context): string {
  return `${sources.some(({ description }) => description.namedGraphs) ? " }" : ""}${asFederation ? " }" : ""}`;
}

interface Subject {
  readonly place: Place;
  readonly shapes: ReadonlyMap<Shape, Expression | undefined>;
}

interface Defining {
  readonly context: Context;
  readonly define: Define;
}

/** The patterns whose first node is of a place. Rules of far nodes come first, as those of near ones name them. */
function defineSubjects(places: readonly Place[], defining: Defining): readonly Subject[] {
  const { define } = defining;
  const lists = new Map(places.map((place, at) => [place, listsOf(place, `${at + 1}`, define)]));
  const node = (place: Place): Lists => lists.get(place) ?? listsOf(place, "0", define);
  const far = new Map(
    places.map((place) => [
      place,
      define(`z${node(place).name}`, all(node(place).head, " .", tests(node(place), "z"))),
    ]),
  );
  const second = (place: Place, start: string, needed: Expression | undefined): Expression | undefined => {
    const more = linksFrom(place, { from: "y", to: "z", onward: (to) => far.get(to), context: defining.context });
    return define(
      `${start}${node(place).name}`,
      all(node(place).head, needed, " .", tests(node(place), "y"), maybe(more)),
    );
  };
  const near = new Map(places.map((place) => [place, second(place, "y", "")]));
  const nearWithValue = new Map(
    places.map((place) => [place, second(place, "yd", all(" ; ", node(place).values, " ?d"))]),
  );
  return places.map((place) => {
    const { name } = node(place);
    const links = { from: "x", to: "y", context: defining.context };
    const link = define(`l${name}`, linksFrom(place, { ...links, onward: (to) => near.get(to) }));
    const valueLink = define(`ld${name}`, linksFrom(place, { ...links, onward: (to) => nearWithValue.get(to) }));
    return { place, shapes: shapesOf(place, node(place), { link, valueLink, define }) };
  });
}

/** The rules for the terms of a place. */
interface Lists {
  /** Suffix of rule names. */
  readonly name: string;
  readonly head: Expression | undefined;
  readonly values: Expression | undefined;
  readonly numbers: Expression | undefined;
  readonly texts: Expression | undefined;
  readonly dates: Expression | undefined;
}

function listsOf(place: Place, name: string, define: Define): Lists {
  const numbers = define(`n${name}`, oneOf(place.numbers));
  const texts = define(`t${name}`, oneOf(place.texts));
  const dates = define(`d${name}`, oneOf(place.dates));
  const values = define(`v${name}`, any(texts, numbers, dates, oneOf(place.others)));
  // Without a class, a property says what the node is.
  const head = define(`h${name}`, place.class === undefined ? all(" ", values, " ?v") : ` a ${place.class}`);
  return { name, head, values, numbers, texts, dates };
}

/** Conditions: on a text, a number and a date of the first node, on one of them of the others. */
function tests({ texts, numbers, dates }: Lists, node: string): Expression | undefined {
  const kinds = [
    ["t", texts],
    ["n", numbers],
    ["d", dates],
  ] as const;
  const conditions = kinds.map(([kind, list]) => all(` ?${node} `, list, rule(`test-${node}${kind}`)));
  return node === "x" ? all(...conditions.map(maybe)) : maybe(any(...conditions));
}

interface Linking {
  readonly from: string;
  readonly to: string;
  readonly onward: (place: Place) => Expression | undefined;
  readonly context: Context;
}

/** Steps from a node to one of another place; one at another source ends the group and begins another. */
function linksFrom(place: Place, { from, to, onward, context }: Linking): Expression | undefined {
  const byTarget = Map.groupBy(place.links, (link) => link.to);
  const steps = [...byTarget].map(([target, links]) => {
    const leaves = target.source !== place.source;
    const change = leaves ? `${closing(context)} ${opening(target.source, context).trimEnd()}` : "";
    const forth = oneOf(links.filter(({ back }) => !back).map(({ property }) => property));
    const back = oneOf(links.filter((link) => link.back).map(({ property }) => property));
    return all(
      any(all(` ?${from} `, forth, ` ?${to} .${change}`), all(`${change} ?${to} `, back, ` ?${from} .`)),
      ` ?${to}`,
      onward(target),
    );
  });
  return any(...steps);
}

interface Onward {
  readonly link: Expression | undefined;
  readonly valueLink: Expression | undefined;
  readonly define: Define;
}

const value = (list: Expression | undefined, variable: string): Expression | undefined =>
  all(" ; ", list, ` ?${variable}`);

function shapesOf(place: Place, lists: Lists, { link, valueLink, define }: Onward): Subject["shapes"] {
  const { name, head, values, numbers } = lists;
  const absent = define(`absent${name}`, absence(place, lists));
  const conditions = define(`x${name}`, all(" .", tests(lists, "x")));
  const rest = define(`r${name}`, all(conditions, maybe(any(absent, link))));
  const a = value(values, "a");
  const ab = all(a, value(values, "b"));
  const optional = all(a, conditions, " OPTIONAL { ?x ", values, " ?b }");
  const patterns: Readonly<Record<Shape, Expression | undefined>> = {
    x: rest,
    a: all(a, rest),
    ab: all(ab, rest),
    abc: all(ab, value(values, "c"), rest),
    n: all(value(numbers, "n"), rest),
    abn: all(a, value(numbers, "n"), rest),
    ao: optional,
    xd: all(conditions, valueLink),
    ad: all(a, conditions, valueLink),
    abd: all(ab, conditions, valueLink),
  };
  return new Map(shapes.map((shape) => [shape, define(`${shape}-${name}`, all("?x", head, patterns[shape]))]));
}

/** Expression for a missing value of a node, or a missing link within its source. */
function absence(place: Place, { values }: Lists): Expression | undefined {
  const own = place.links.filter(({ to }) => to.source === place.source);
  const forth = oneOf(own.filter(({ back }) => !back).map(({ property }) => property));
  const back = oneOf(own.filter((link) => link.back).map(({ property }) => property));
  const lacking = any(all("?x ", any(values, forth), " ?q"), all("?q ", back, " ?x"));
  return all(" FILTER NOT EXISTS { ", lacking, " }");
}

const order = (variable: string): Expression => all(any(" ORDER BY ASC", " ORDER BY DESC"), `(?${variable})`) ?? "";

/** The query forms over patterns that bind what the form projects. */
function forms(pattern: (shape: Shape) => Expression | undefined): readonly (Expression | undefined)[] {
  const limit = maybe(all(" LIMIT ", rule("count")));
  const where = (shape: Shape): Expression | undefined => all(" WHERE { ", pattern(shape), " }");
  const select = (columns: Expression, shape: Shape, tail: Expression = ""): Expression | undefined =>
    all("SELECT ", maybe("DISTINCT "), columns, where(shape), tail, limit);
  const aggregate = any("AVG", "SUM", "MIN", "MAX");
  const grouped = (key: string, column: Expression | undefined, shape: Shape): Expression | undefined => {
    const having = maybe(all(" HAVING(COUNT(*) ", rule("compare"), " ", rule("count"), ")"));
    return all(`SELECT ${key} `, column, where(shape), ` GROUP BY ${key}`, having, maybe(order("value")), limit);
  };
  const counted = all("(COUNT(", any("*", "DISTINCT ?x"), ") AS ?value)");
  return [
    all("ASK { ", pattern("x"), " }"),
    select("?x", "x"),
    select("?a", "a", maybe(order("a"))),
    select("?x ?a", "a", maybe(order("a"))),
    select("?a ?b", "ab", maybe(any(order("a"), order("b")))),
    select("?a ?b ?c", "abc", maybe(any(order("a"), order("b"), order("c")))),
    select("?a ?b", "ao"),
    // The order is by a number that need not be a column.
    select(any("?a", "?a ?n") ?? "", "abn", order("n")),
    select("?d", "xd"),
    select("?a ?d", "ad", maybe(any(order("a"), order("d")))),
    select("?a ?b ?d", "abd"),
    all("SELECT ", counted, where("x")),
    all("SELECT (COUNT(DISTINCT ?a) AS ?value)", where("a")),
    all("SELECT (", aggregate, "(?n) AS ?value)", where("n")),
    all("SELECT (MIN(?n) AS ?least) (AVG(?n) AS ?mean) (MAX(?n) AS ?most)", where("n")),
    grouped("?a", counted, "a"),
    grouped("?x ?a", counted, "a"),
    grouped("?a", all("(", aggregate, "(?n) AS ?value)"), "abn"),
  ];
}

/** The rules that the first one leads to, in their order. */
function used(rules: ReadonlyMap<string, Expression>): ReadonlyMap<string, Expression> {
  const [start = ""] = rules.keys();
  const names = new Set([start]);
  for (const name of names) for (const next of rulesIn(valueFor(rules, name))) names.add(next);
  return new Map([...rules].filter(([name]) => names.has(name)));
}

function rulesIn(expression: Expression): readonly string[] {
  if (typeof expression === "string") return [];
  if ("rule" in expression) return [expression.rule];
  if ("all" in expression) return expression.all.flatMap(rulesIn);
  if ("any" in expression) return expression.any.flatMap(rulesIn);
  return "optional" in expression ? rulesIn(expression.optional) : [];
}
