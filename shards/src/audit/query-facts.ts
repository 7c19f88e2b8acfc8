import { isObject } from "../guards.ts";
import type { Query } from "../../../src/sparql/query.ts";
import { rdf } from "../../../src/rdf/vocabularies.ts";

/** A query as the checks read it. Variables are named without `?`; variables of subqueries that are renamed have both names. */
export type QueryFacts = ReturnType<typeof readFacts>;

/** A column of the answer. */
export interface Column {
  readonly name: string;
  /** In lower case; absent for a variable. */
  readonly aggregate?: string | undefined;
  /** Variables that are shown or aggregated. */
  readonly variables: readonly string[];
}

/** A literal and what the query does with it. */
export interface UsedLiteral {
  readonly value: string;
  readonly datatype: string;
  /** How it is compared, the variable or aggregate on the left; absent in a pattern or a function. */
  readonly operator?: string | undefined;
  readonly properties: readonly string[];
  /** It is compared with an aggregate. */
  readonly aggregated?: boolean;
}

type Node = Readonly<Record<string, unknown>>;
type Sets = Map<string, Set<string>>;

/** Reads a query that `parseQuery` has parsed. */
export function readFacts(query: Query) {
  const nodes = [...nodesOf(query.ast)];
  const ast: Node = { ...query.ast };
  const { literals, ...patterns } = readPatterns(query, nodes);
  const compared = nodes.flatMap((node) => comparedIn(node, patterns.properties));
  const others = nodes.filter(isLiteral).map((node): UsedLiteral => Object.assign(plain(node), { properties: [] }));
  return {
    query,
    columns: listOf(ast["variables"]).flatMap(columnOf),
    /** Variables and expressions of GROUP BY; undefined without one. */
    keys: ast["group"] === undefined ? undefined : listOf(ast["group"]).flatMap((key) => variablesIn(key)),
    orders: listOf(ast["order"]).map(({ expression, descending }) =>
      Object.assign(shownBy(expression), { descending: descending === true }),
    ),
    limit: typeof ast["limit"] === "number" ? ast["limit"] : undefined,
    /** Every literal of the query, with the properties that it is a value of or compared with. */
    literals: [...literals, ...compared, ...others],
    ...patterns,
    /** Operators and elements: `minus`, `notexists`, `!=`, `||`, `union`, `count`. */
    operators: new Set(nodes.flatMap(({ operator, type, aggregation }) => [operator, type, aggregation].map(String))),
  };
}

/** Facts from patterns about variables, also about those that a subquery renames. */
function readPatterns(query: Query, nodes: readonly Node[]) {
  const [terms, things] = [new Set<string>(), new Set<string>()];
  const [properties, subjects, classes]: readonly [Sets, Sets, Sets] = [new Map(), new Map(), new Map()];
  const literals: UsedLiteral[] = [];
  for (const { subject, predicate, object } of query.patterns) {
    const property = predicate.kind === "iri" ? predicate.iri : "";
    const of = subject.kind === "variable" ? subject.name : "";
    if (subject.kind === "iri") things.add(subject.iri);
    if (property === rdf.type && object.kind === "iri") {
      terms.add(object.iri);
      add(classes, of, object.iri);
      continue;
    }
    if (property !== "") terms.add(property);
    if (object.kind === "iri") things.add(object.iri);
    else if (object.kind === "literal") literals.push({ ...plain(object.literal), properties: [property] });
    else {
      add(properties, object.name, property);
      add(subjects, object.name, of);
    }
  }
  for (const { expression, variable } of nodes) renamed(variableName(expression), variableName(variable));
  return {
    /** Properties whose objects a variable is. */
    properties,
    /** Variables whose property it is the object of. */
    subjects,
    classes,
    /** Classes and properties that patterns name. */
    terms,
    /** IRIs that are no class and no property. */
    things,
    literals,
  };

  function renamed(from: string | undefined, to: string | undefined): void {
    if (from === undefined || to === undefined) return;
    for (const sets of [properties, subjects]) for (const each of sets.get(from) ?? []) add(sets, to, each);
  }
}

function add(sets: Sets, name: string, value: string): void {
  if (name === "" || value === "") return;
  const set = sets.get(name) ?? new Set();
  sets.set(name, set.add(value));
}

/** The objects of a syntax tree, terms among them, in no order. */
function* nodesOf(root: unknown): Generator<Node> {
  const pending = [root];
  while (pending.length > 0) {
    const node = pending.pop();
    if (Array.isArray(node)) pending.push(...(node as readonly unknown[]));
    if (!isObject(node)) continue;
    yield node;
    if (!("termType" in node)) pending.push(...Object.values(node));
  }
}

const isLiteral = (node: Node): boolean => node["termType"] === "Literal";
const listOf = (value: unknown): readonly Node[] => (Array.isArray(value) ? value.filter(isObject) : []);
const variableName = (value: unknown): string | undefined =>
  isObject(value) && value["termType"] === "Variable" ? String(value["value"]) : undefined;
const variablesIn = (node: unknown): readonly string[] =>
  [...nodesOf(node)].flatMap((each) => variableName(each) ?? []);

function plain({ value, datatype }: { readonly value?: unknown; readonly datatype?: unknown }) {
  return { value: String(value), datatype: isObject(datatype) ? String(datatype["value"]) : "" };
}

function shownBy(expression: unknown): Omit<Column, "name"> {
  const aggregate = [...nodesOf(expression)].find(({ type }) => type === "aggregate")?.["aggregation"];
  return { variables: variablesIn(expression), ...(typeof aggregate === "string" && { aggregate }) };
}

function columnOf(node: Node): readonly Column[] {
  const name = variableName(node) ?? variableName(node["variable"]);
  return name === undefined ? [] : [{ name, ...shownBy("expression" in node ? node["expression"] : node) }];
}

const flipped: Readonly<Record<string, string>> = { "<": ">", ">": "<", "<=": ">=", ">=": "<=", "=": "=", "!=": "!=" };

/** The literals of a comparison, as if they stood on its right. */
function comparedIn({ operator, args }: Node, properties: Sets): readonly UsedLiteral[] {
  if (typeof operator !== "string" || !(operator in flipped || operator === "in" || operator === "notin")) return [];
  const [left, right] = Array.isArray(args) ? (args as readonly unknown[]) : [];
  const isFlipped = isObject(left) && isLiteral(left);
  const [tested, against] = isFlipped ? [right, left] : [left, right];
  const name = variableName(tested);
  const of = name === undefined ? [] : [...(properties.get(name) ?? [])];
  const literals = (Array.isArray(against) ? (against as readonly unknown[]) : [against])
    .filter(isObject)
    .filter(isLiteral);
  return literals.map((node) =>
    Object.assign(plain(node), {
      operator: isFlipped ? (flipped[operator] ?? operator) : operator,
      properties: of,
      aggregated: isObject(tested) && tested["type"] === "aggregate",
    }),
  );
}
