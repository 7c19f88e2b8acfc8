import { rdf } from "../../../src/rdf/vocabularies.ts";
import type { Query } from "../../../src/sparql/query.ts";
import { isObject } from "../guards.ts";

type Node = Readonly<Record<string, unknown>>;

/** A literal or IRI of a query that stands for a value of the data. */
export interface Constant {
  readonly node: Node;
  /** Names the group of values that it belongs to. */
  readonly slot: string;
}

/** Uses of values in a query beyond comparing them for equality. */
interface Reading {
  readonly slot: string;
  readonly query: string;
  /** As in the query: `strlen`, `sum`, `+`. */
  readonly by: string;
  /** `order`: only that counts; `equality`: nothing else, but of an IRI the text counts. */
  readonly level: "inside" | "order" | "equality";
}

const equality = new Set(["=", "!=", "in", "notin"]);
const order = new Set(["<", ">", "<=", ">="]);
/** Functions whose value is one of the values, or its text. */
const chosen = new Set(["min", "max", "sample", "str"]);
const logic = new Set(["&&", "||", "!", "exists", "notexists"]);
/** Functions whose result is the same for renamed values. */
const blind = new Set(
  "count bound isiri isuri isblank isliteral isnumeric datatype lang langmatches sameterm".split(" "),
);

/**
 * Uses of properties' values in queries. Properties whose values meet in a variable or a comparison are one group,
 * named by one of its slots: what must stay for one must stay for all.
 */
export class ValueUses {
  readonly readings: Reading[] = [];
  /** IRIs of properties, classes and datatypes that queries name. */
  readonly schema = new Set<string>();
  /** Slots of variables that are subjects of patterns. */
  readonly things = new Set<string>();
  /** Queries with a variable in the place of a property. */
  readonly open = new Set<string>();
  readonly #parents = new Map<string, string>();
  #constants: Constant[] = [];
  #fresh = 0;
  #id = "";

  /** Reads a query. @returns its constants */
  add(id: string, query: Query): readonly Constant[] {
    this.#id = id;
    this.#constants = [];
    this.#visit({ ...query.ast });
    return this.#constants;
  }

  /** The group of a property, or of another slot. */
  groupOf(slot: string): string {
    let group = slot;
    for (let up = this.#parents.get(group); up !== undefined; up = this.#parents.get(group)) group = up;
    return group;
  }

  #unite(left: string, right: string): void {
    const [from, to] = [this.groupOf(left), this.groupOf(right)];
    if (from !== to) this.#parents.set(from, to);
  }

  #visit(node: unknown): void {
    if (Array.isArray(node)) for (const each of node as readonly unknown[]) this.#visit(each);
    if (!isObject(node) || "termType" in node) return;
    if ("predicate" in node) this.#pattern(node);
    else if (node["type"] === "values") this.#rows(node["values"]);
    else if (isExpression(node)) this.#slot(node);
    else if ("expression" in node) this.#column(node);
    else this.#clauses(node);
  }

  #clauses({ values, order: keys, group, variables, ...others }: Node): void {
    this.#rows(values);
    for (const key of [...listOf(variables), ...listOf(group)]) this.#column(key);
    const isCut = others["limit"] !== undefined || others["offset"] !== undefined;
    for (const { expression } of listOf(keys)) {
      const slot = this.#slot(expression);
      if (isCut) this.#read(slot, "ORDER BY with LIMIT", "order");
    }
    for (const each of Object.values(others)) this.#visit(each);
  }

  /** `?x`, `?x AS ?y` or a FILTER. */
  #column(node: Node): void {
    const slot = this.#slot(node["expression"] ?? node);
    if (isObject(node["variable"])) this.#unite(slot, this.#slot(node["variable"]));
  }

  #rows(rows: unknown): void {
    for (const row of listOf(rows))
      for (const [name, term] of Object.entries(row))
        if (isObject(term)) this.#unite(this.#variable(name.slice(1)), this.#slot(term));
  }

  #pattern({ subject, predicate, object }: Node): void {
    if (!isObject(predicate)) return;
    const [objects, subjects] = [this.#ends(predicate, true), this.#ends(predicate, false)];
    const isType = objects.length === 1 && objects[0] === rdf.type;
    if (isType && isObject(object) && object["termType"] === "NamedNode") this.schema.add(String(object["value"]));
    const [from, to] = [this.#slot(subject), isType ? "" : this.#slot(object)];
    if (subjects.length === 0) this.things.add(from);
    if (isType) return;
    for (const property of objects) this.#unite(to, property);
    for (const property of subjects) this.#unite(from, property);
  }

  /** Properties whose values stand at an end of a path. */
  #ends(path: Node, isForward: boolean): readonly string[] {
    if (path["termType"] === "NamedNode") {
      this.schema.add(String(path["value"]));
      return isForward ? [String(path["value"])] : [];
    }
    const items = listOf(path["items"]);
    if (path["termType"] === "Variable" || path["pathType"] === "!") this.open.add(this.#id);
    if (path["pathType"] === "^") return items.flatMap((item) => this.#ends(item, !isForward));
    const ends = items.map((item) => this.#ends(item, isForward));
    return (path["pathType"] === "/" ? ends.at(isForward ? -1 : 0) : ends.flat()) ?? [];
  }

  /** The slot of a term or expression; that of a computed value is a new one. */
  #slot(node: unknown): string {
    if (!isObject(node) || "termType" in node) return this.#termSlot(node);
    const { aggregation, operator = aggregation } = node;
    const name = typeof operator === "string" ? operator : "function";
    const args = argsOf(node);
    if (chosen.has(name)) {
      const slot = this.#slot(args[0]);
      this.#read(slot, name, name === "str" ? "equality" : "order");
      return slot;
    }
    if (logic.has(name)) for (const each of args) this.#visit(each);
    else if (equality.has(name) || order.has(name)) this.#compare(name, args);
    else if (!blind.has(name)) this.#inside(args, name);
    const computed = this.#newSlot();
    this.#read(computed, name, "inside");
    return computed;
  }

  #termSlot(node: unknown): string {
    const { termType, value }: Node = isObject(node) ? node : {};
    if (termType === "Variable") return this.#variable(String(value));
    const slot = this.#newSlot();
    if (isObject(node) && (termType === "Literal" || termType === "NamedNode")) this.#constants.push({ node, slot });
    return slot;
  }

  #compare(operator: string, args: readonly unknown[]): void {
    const [first = this.#newSlot(), ...others] = args.map((each) => this.#slot(each));
    for (const slot of others) this.#unite(first, slot);
    if (order.has(operator)) this.#read(first, operator, "order");
  }

  /** Every variable of the arguments is read inside; their literals stay. */
  #inside(args: readonly unknown[], by: string): void {
    for (const arg of args.filter(isObject)) {
      if (arg["termType"] === "Variable") this.#read(this.#slot(arg), by, "inside");
      else if (arg["type"] === "bgp" || arg["type"] === "group") this.#visit(arg);
      else this.#inside(argsOf(arg), by);
    }
  }

  #read(slot: string, by: string, level: Reading["level"]): void {
    this.readings.push({ slot, query: this.#id, by, level });
  }

  /** Variables of a query with the same name are taken for one, in subqueries too. */
  #variable(name: string): string {
    return `?${name} ${this.#id}`;
  }

  #newSlot(): string {
    return `" ${this.#fresh++}`;
  }
}

const isExpression = ({ type }: Node): boolean =>
  type === "operation" || type === "functionCall" || type === "aggregate";
const argsOf = ({ expression, args }: Node): readonly unknown[] => [expression ?? args ?? []].flat(2);
const listOf = (value: unknown): readonly Node[] => (Array.isArray(value) ? value.filter(isObject) : []);
