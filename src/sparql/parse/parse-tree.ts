import type * as Traqula from "@traqula/rules-sparql-1-2";
import sparqljs, {
  type AggregateExpression,
  type Expression,
  type Grouping,
  type GroupPattern,
  type IriTerm,
  type Ordering,
  type Pattern,
  type Query,
  type SelectQuery,
  type Term,
  type Triple,
  type ValuePatternRow,
  type Variable,
  type VariableTerm,
} from "sparqljs";
import { rdf } from "../../rdf/vocabularies.ts";
import { itemAt } from "../../values.ts";
import type { GrammarTree, Source } from "./grammar.ts";
import {
  type Element,
  type Group,
  type QueryOutline,
  queryForms,
  type SelectOutline,
  type TokenRange,
  type TriplesElement,
  type ValuesElement,
} from "./outline.ts";
import { factory, type Located, type Places, stringValue, TermReader } from "./term-reader.ts";
import { isWord } from "./tokens.ts";

interface ParsedTree {
  readonly ast: Query;
  readonly places: Places;
  readonly outline: QueryOutline;
  /** A SELECT names a variable twice. */
  readonly repeatsColumns: boolean;
}

/**
 * The tree of a query in the shape of sparqljs, with names as absolute IRIs, and the tokens of its parts. It has no prefixes: walks over
 * all nodes would take those for nodes, with keys such as "predicate".
 */
export function treeOf(source: Source, { query, starts }: GrammarTree): ParsedTree {
  const terms = new TermReader(source, starts);
  const builder = new TreeBuilder(terms, source.prologue);
  const outline = builder.query(query);
  return { ast: outline.tree, places: terms.places, outline, repeatsColumns: builder.repeatsColumns };
}

/** A node of a triple, and the triples of the brackets or the collection that it stands for. */
interface GraphNode {
  readonly entity: Term;
  readonly triples: readonly Triple[];
}

/** An element of a group, and the same in sparqljs' tree. */
interface Part {
  readonly element: Element;
  readonly pattern: Pattern;
}

class TreeBuilder {
  repeatsColumns = false;
  readonly #terms: TermReader;
  readonly #prologue: Source["prologue"];
  /** Groups of EXISTS in what is being read. */
  #exists: readonly Group[] = [];

  constructor(terms: TermReader, prologue: Source["prologue"]) {
    this.#terms = terms;
    this.#prologue = prologue;
  }

  query(node: Traqula.Query): QueryOutline {
    const from = this.#prologue.length;
    const form = queryForms.find((word) => isWord(this.#terms.tokens[from], word)) ?? "SELECT";
    const select = this.#select(node, { from, to: this.#terms.tokens.length });
    const datasets = node.datasets.clauses.map(({ clauseType, value }) => {
      const at = this.#terms.range(value).from;
      return { from: at - (clauseType === "named" ? 2 : 1), to: at + 1 };
    });
    const tree = datasets.length === 0 ? select.tree : Object.assign(select.tree, this.#dataset(node));
    const head = { from, to: datasets[0]?.from ?? select.head.to };
    const outline = { ...select, tree, form, datasets, head };
    if (form !== "CONSTRUCT" || select.where) return { ...outline, shortConstruct: false };
    const open = (datasets.at(-1)?.to ?? from + 1) + 1;
    const where = this.#shortWhere(tree, open);
    const tail = { from: where.to, to: select.tail.to };
    const short = { shortConstruct: true, head: { from, to: datasets[0]?.from ?? open - 1 }, where, tail };
    return { ...outline, ...short, groups: [...outline.exists, where] };
  }

  /** FROM and FROM NAMED. */
  #dataset({ datasets: { clauses } }: Traqula.Query): Pick<SelectQuery, "from"> {
    const graphs = (type: "default" | "named"): IriTerm[] =>
      clauses.filter(({ clauseType }) => clauseType === type).map(({ value }) => this.#terms.iri(value));
    return { from: { default: graphs("default"), named: graphs("named") } };
  }

  /** `CONSTRUCT WHERE { ... }`: its group is the template. */
  #shortWhere({ where = [] }: Query, from: number): Group {
    const to = this.#terms.closingOf(from) + 1;
    const triples = where.flatMap((pattern) => (pattern.type === "bgp" ? pattern.triples : []));
    const block: TriplesElement = { kind: "triples", from: from + 1, to: to - 1, triples, groups: [] };
    return { kind: "group", from, to, elements: triples.length > 0 ? [block] : [], patterns: where };
  }

  #select(node: Traqula.Query, { from, to }: TokenRange): SelectOutline {
    const form = this.#form(node);
    const inHead = this.#foundExists();
    // Of CONSTRUCT WHERE it has no place.
    const group =
      node.where && hasPlace(node.where) ? this.#group(this.#terms.range(node.where), node.where.patterns) : undefined;
    const modifiers = this.#modifiers(node.solutionModifiers);
    const inTail = this.#foundExists();
    const values = node.values && this.#values(node.values);
    const end = values?.from ?? to;
    const tailFrom = group?.to ?? Math.min(end, ...this.#modifierStarts(node.solutionModifiers));
    const where = group && { where: group.patterns };
    const rows = values && { values: [...values.rows] };
    const tree: Query = Object.assign(form, where, modifiers, rows);
    const exists = [...inHead, ...inTail];
    return {
      kind: "select",
      tree,
      from,
      to,
      head: { from, to: group ? this.#whereFrom(group) : tailFrom },
      tail: { from: tailFrom, to: end },
      exists,
      where: group,
      groups: group ? [...exists, group] : exists,
      projectsAll: hasWildcard(tree),
      values,
    };
  }

  /** The word WHERE may be left out. */
  #whereFrom({ from }: Group): number {
    return isWord(this.#terms.tokens[from - 1], "WHERE") ? from - 1 : from;
  }

  /** A query without its WHERE and what follows it; the template of CONSTRUCT WHERE is its WHERE, too. */
  #form(node: Traqula.Query): Query {
    switch (node.subType) {
      case "select":
        return {
          type: "query",
          queryType: "SELECT",
          ...(node.distinct && { distinct: true }),
          ...(node.reduced && { reduced: true }),
          variables: this.#columns(node.variables),
          prefixes: {},
        };
      case "construct": {
        const template = this.#triples(node.template.triples);
        const where: Pattern[] = [{ type: "bgp", triples: [...template] }];
        return {
          type: "query",
          queryType: "CONSTRUCT",
          template,
          prefixes: {},
          ...(!hasPlace(node.where) && { where }),
        };
      }
      case "describe": {
        const terms = node.variables.flatMap((each) => (each.type === "term" ? [this.#terms.name(each)] : []));
        const variables: [sparqljs.Wildcard] | (VariableTerm | IriTerm)[] =
          terms.length > 0 ? terms : [new sparqljs.Wildcard()];
        return { type: "query", queryType: "DESCRIBE", variables, prefixes: {} };
      }
      default:
        return { type: "query", queryType: "ASK", prefixes: {} };
    }
  }

  #columns(columns: Traqula.QuerySelect["variables"]): SelectQuery["variables"] {
    const read: Variable[] = [];
    const names = new Set<string>();
    for (const column of columns) {
      if (column.type === "term") {
        const variable = this.#terms.variable(column);
        this.repeatsColumns ||= names.has(variable.value);
        names.add(variable.value);
        read.push(variable);
      } else if (column.type === "pattern") {
        const expression = this.#expression(column.expression);
        read.push({ expression, variable: this.#terms.variable(column.variable) });
      }
    }
    return read.length > 0 ? read : [new sparqljs.Wildcard()];
  }

  #modifiers({ group, having, order, limitOffset }: Traqula.SolutionModifiers) {
    return {
      ...(group && { group: group.groupings.map((grouping) => this.#grouping(grouping)) }),
      ...(having && { having: having.having.map((condition) => this.#expression(condition)) }),
      ...(order && { order: order.orderDefs.map((ordering) => this.#ordering(ordering)) }),
      ...(limitOffset && this.#limits(this.#terms.range(limitOffset))),
    };
  }

  #grouping(grouping: Traqula.SolutionModifierGroup["groupings"][number]): Grouping {
    if (!("variable" in grouping)) return { expression: this.#expression(grouping) };
    const expression = this.#expression(grouping.value);
    return { expression, variable: this.#terms.variable(grouping.variable) };
  }

  #ordering(ordering: Traqula.Ordering): Ordering {
    if (!("descending" in ordering)) return { expression: this.#expression(ordering) };
    return { expression: this.#expression(ordering.expression), ...(ordering.descending && { descending: true }) };
  }

  #limits({ from, to }: TokenRange): { limit?: number; offset?: number } {
    const numberAt = (word: string): number | undefined => {
      for (let at = from; at < to; at++) {
        if (isWord(this.#terms.tokens[at], word)) return Number.parseInt(itemAt(this.#terms.tokens, at + 1).text, 10);
      }
      return undefined;
    };
    const [limit, offset] = [numberAt("LIMIT"), numberAt("OFFSET")];
    return { ...(limit !== undefined && { limit }), ...(offset !== undefined && { offset }) };
  }

  #modifierStarts(modifiers: Traqula.SolutionModifiers): readonly number[] {
    return Object.values(modifiers).flatMap((modifier) => (modifier ? [this.#terms.range(modifier).from] : []));
  }

  #group({ from, to }: TokenRange, patterns: readonly Traqula.Pattern[]): Group {
    const [first] = patterns;
    if (first?.type === "query") {
      const select = this.#select(first, { from: from + 1, to: to - 1 });
      return { kind: "group", from, to, select, elements: [], patterns: [asSelect(select.tree)] };
    }
    const starts = [...patterns.map((pattern) => this.#terms.range(pattern).from), to - 1];
    const parts = patterns.map((pattern, at) => this.#part(pattern, starts[at + 1] ?? to));
    return {
      kind: "group",
      from,
      to,
      elements: parts.map(({ element }) => element),
      patterns: parts.map(({ pattern }) => pattern),
    };
  }

  /** @param end index of the next element, or of the brace behind the last one */
  #part(node: Traqula.Pattern, end: number): Part {
    const { from, to } = this.#terms.range(node);
    if (node.type === "query") throw new Error("a subquery beside other elements");
    switch (node.subType) {
      case "bgp": {
        const triples = this.#triples(node.triples);
        return { element: { kind: "triples", from, to: end, triples, groups: [] }, pattern: { type: "bgp", triples } };
      }
      case "filter": {
        const expression = this.#expression(node.expression);
        const groups = this.#foundExists();
        return { element: { kind: "filter", from, to, groups }, pattern: { type: "filter", expression } };
      }
      case "bind": {
        const expression = this.#expression(node.expression);
        const groups = this.#foundExists();
        const variable = this.#terms.variable(node.variable);
        return {
          element: { kind: "bind", from, to, groups, variable: variable.value },
          pattern: { type: "bind", variable, expression },
        };
      }
      case "values": {
        const element = this.#values(node);
        return { element, pattern: { type: "values", values: [...element.rows] } };
      }
      case "union":
        return this.#union({ from, to }, node.patterns);
      case "group":
        return this.#union({ from, to }, [node]);
      default:
        return this.#block(node, { from, to });
    }
  }

  /** A group, or several joined by UNION. */
  #union(range: TokenRange, nodes: readonly Traqula.PatternGroup[]): Part {
    const groups = nodes.map((node) => this.#group(this.#terms.range(node), node.patterns));
    const [first] = groups;
    const pattern: Pattern =
      first !== undefined && groups.length === 1
        ? groupPattern(first)
        : { type: "union", patterns: groups.map(single) };
    return { element: { kind: "union", ...range, groups }, pattern };
  }

  #block(
    node: Traqula.PatternOptional | Traqula.PatternMinus | Traqula.PatternGraph | Traqula.PatternService,
    { from, to }: TokenRange,
  ): Part {
    if (node.subType === "optional" || node.subType === "minus") {
      const group = this.#group({ from: from + 1, to }, node.patterns);
      return {
        element: { kind: node.subType, from, to, group, groups: [group] },
        pattern: { type: node.subType, patterns: group.patterns },
      };
    }
    const place = this.#terms.range(node.name).from;
    const name = this.#terms.name(node.name);
    const group = this.#group({ from: place + 1, to }, node.patterns);
    const { patterns } = group;
    const groups = [group];
    if (node.subType === "graph") {
      return {
        element: { kind: "graph", from, to, name: place, group, groups },
        pattern: { type: "graph", name, patterns },
      };
    }
    const { silent } = node;
    return {
      element: { kind: "service", from, to, name: place, silent, group, groups },
      pattern: { type: "service", name, silent, patterns },
    };
  }

  #values(node: Traqula.PatternValues): ValuesElement {
    const { from, to } = this.#terms.range(node);
    const variables = this.#terms.tokens
      .slice(from, to)
      .flatMap(({ kind, text }) => (kind === "var" ? text.slice(1) : []));
    const rows = node.values.map((row): ValuePatternRow => {
      const terms = Object.entries(row).map(
        ([name, term]) => [`?${name}`, term && this.#terms.constant(term)] as const,
      );
      return Object.fromEntries(terms);
    });
    return { kind: "values", from, to, variables, rows, groups: [] };
  }

  /** Triples in the order of sparqljs: those of a subject, then those of brackets and collections in them. */
  #triples(nodes: readonly (Traqula.TripleNesting | Traqula.TripleCollection)[]): Triple[] {
    const found: Triple[] = [];
    for (let at = 0; at < nodes.length; ) {
      const first = nodes[at];
      if (first === undefined) break;
      if (first.type === "tripleCollection") {
        found.push(...this.#node(first).triples);
        at++;
        continue;
      }
      const end = nodes.findIndex((node, index) => index > at && !continues(node));
      const run = nodes.slice(at, end === -1 ? nodes.length : end).filter((node) => node.type === "triple");
      const { entity, triples } = this.#node(first.subject);
      found.push(...this.#properties(entity, run), ...triples);
      at += run.length;
    }
    return found;
  }

  /** The triples of a subject: of its first predicate, of the others, then those inside the objects of the first. */
  #properties(subject: GraphNode["entity"], run: readonly Traqula.TripleNesting[]): Triple[] {
    const starts = run.flatMap(({ predicate }, at) => (predicate === run[at - 1]?.predicate ? [] : [at]));
    const [first, ...others] = starts.map((start, at) => this.#objects(subject, run.slice(start, starts[at + 1])));
    if (first === undefined) return [];
    return first.own.concat(
      others.flatMap(({ own, inner }) => own.concat(inner)),
      first.inner,
    );
  }

  #objects(subject: GraphNode["entity"], run: readonly Traqula.TripleNesting[]): { own: Triple[]; inner: Triple[] } {
    const [first] = run;
    if (first === undefined) return { own: [], inner: [] };
    const predicate =
      first.predicate.type === "path" ? this.#terms.path(first.predicate) : this.#terms.name(first.predicate);
    const objects = run.map(({ object }) => this.#node(object));
    return {
      own: isSubject(subject) ? objects.map(({ entity }) => ({ subject, predicate, object: entity })) : [],
      inner: objects.flatMap(({ triples }) => triples),
    };
  }

  #node(node: Traqula.GraphNode): GraphNode {
    if (node.type === "term") return { entity: this.#terms.term(node), triples: [] };
    if (node.subType === "blankNodeProperties") {
      const entity = this.#terms.blank();
      return { entity, triples: this.#properties(entity, node.triples) };
    }
    // Each second triple leads to the rest of the list.
    const items = node.triples.filter((_, at) => at % 2 === 0).map(({ object }) => this.#node(object));
    const heads = items.map(() => this.#terms.blank());
    const cells = items.flatMap(({ entity }, at): Triple[] => {
      const subject = heads[at] ?? factory.namedNode(rdf.nil);
      const rest = heads[at + 1] ?? factory.namedNode(rdf.nil);
      return [
        { subject, predicate: factory.namedNode(rdf.first), object: entity },
        { subject, predicate: factory.namedNode(rdf.rest), object: rest },
      ];
    });
    return {
      entity: heads[0] ?? factory.namedNode(rdf.nil),
      triples: [...cells, ...items.flatMap(({ triples }) => triples)],
    };
  }

  #expression(node: Traqula.Expression): Expression {
    if (node.type === "term") return this.#terms.operand(node);
    switch (node.subType) {
      case "aggregate":
        return this.#aggregate(node);
      case "functionCall": {
        const name = this.#terms.iri(node.function);
        const args = node.args.map((arg) => this.#expression(arg));
        return { type: "functionCall", args, ...(args.length > 0 && { distinct: node.distinct }), function: name };
      }
      case "patternOperation": {
        const before = this.#exists;
        this.#exists = [];
        const group = this.#group(this.#terms.range(node.args), node.args.patterns);
        this.#exists = [...before, group];
        return { type: "operation", operator: operatorOf(node), args: [single(group)] };
      }
      default:
        return this.#operation(this.#operator(node), node.args);
    }
  }

  /** Functions with any number of arguments have one sample. */
  #operator(node: Traqula.ExpressionOperation): string {
    const operator = operatorOf(node);
    if (operator !== "concat") return operator;
    return itemAt(this.#terms.tokens, this.#terms.behindBrackets(node)).text.toLowerCase();
  }

  #operation(operator: string, nodes: readonly Traqula.Expression[]): Expression {
    const args = nodes.map((arg) => this.#expression(arg));
    const [first, ...list] = args;
    const isList = (operator === "in" || operator === "notin") && first !== undefined;
    return { type: "operation", operator, args: isList ? [first, list] : args };
  }

  #aggregate(node: Traqula.ExpressionAggregate): Expression {
    const from = this.#terms.behindBrackets(node);
    const to = this.#terms.closingOf(from + 1) + 1;
    const [inner] = node.expression;
    const expression = inner.type === "wildcard" ? new sparqljs.Wildcard() : this.#expression(inner);
    const aggregate: AggregateExpression = {
      expression,
      type: "aggregate",
      aggregation: node.aggregation.toLowerCase(),
      distinct: node.distinct,
      ...("separator" in node && { separator: this.#separator(to) }),
    };
    this.#terms.places.set(aggregate, { from, to });
    return aggregate;
  }

  #separator(to: number): string {
    const isGiven = isWord(this.#terms.tokens[to - 4], "SEPARATOR") && this.#terms.tokens[to - 3]?.text === "=";
    return isGiven ? stringValue(itemAt(this.#terms.tokens, to - 2).text) : " ";
  }

  /** The groups of EXISTS in what was read since the last call. */
  #foundExists(): readonly Group[] {
    const found = this.#exists;
    this.#exists = [];
    return found;
  }
}

const hasPlace = ({ loc }: Located): boolean => loc.sourceLocationType === "source";

const hasWildcard = (tree: Query): boolean =>
  "variables" in tree && tree.variables.some((column) => "termType" in column && column.termType === "Wildcard");

/** True for any term: the grammar lets literals be subjects, which sparqljs' types leave out. */
const isSubject = (term: object): term is Triple["subject"] => "termType" in term;

/** True for a triple with the subject of the one before it. */
const continues = (node: Traqula.TripleNesting | Traqula.TripleCollection): boolean =>
  node.type === "triple" && node.subject.type === "term" && !hasPlace(node.subject);

const groupPattern = ({ patterns }: Group): GroupPattern => ({ type: "group", patterns });

/** A group with one pattern is that pattern. */
function single(group: Group): Pattern {
  const [first, second] = group.patterns;
  return first !== undefined && second === undefined ? first : groupPattern(group);
}

function asSelect(query: Query): SelectQuery {
  if (query.queryType !== "SELECT") throw new Error(`a subquery of ${query.queryType}`);
  return query;
}

/** `NOT IN` is `notin`; signs are UPLUS and UMINUS. */
function operatorOf({ operator }: { readonly operator: string }): string {
  const name = operator.toLowerCase().replaceAll(/\s/g, "");
  return name === "uplus" || name === "uminus" ? name.toUpperCase() : name;
}
