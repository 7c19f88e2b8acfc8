import type { Query } from "../parse/query.ts";
import type {
  BlockPattern,
  Expression,
  GraphPattern,
  OperationExpression,
  Pattern,
  SelectQuery,
  Term,
  Triple,
  ValuePatternRow,
  VariableTerm,
} from "sparqljs";
import type { TokenRange } from "../parse/outline.ts";
import { isPath, type PatternTerm, patternTerm } from "./query-patterns.ts";

/** A term, and its tokens; those of brackets and of steps of paths have none. */
interface PlacedTerm {
  readonly term: PatternTerm;
  readonly range?: TokenRange | undefined;
}

/** How a group is joined: "optional" takes no row from the group around it; "apart": a branch of a UNION, or what rows must not match. */
type Joining = "optional" | "apart" | undefined;

/** The group of a constraint. */
class Scope {
  /** The IRI that the SERVICE around it names. */
  readonly service: string | undefined;
  /** Outermost first, with itself. */
  readonly #chain: readonly Scope[];
  readonly #how: Joining;
  /** Variables of a subquery that are the same around it; absent: all. */
  readonly #shown: ReadonlySet<string> | undefined;

  constructor(
    around: { readonly parent?: Scope; readonly service?: string | undefined } = {},
    how?: Joining,
    shown?: ReadonlySet<string>,
  ) {
    const { parent, service = parent?.service } = around;
    this.service = service;
    this.#how = how;
    this.#shown = shown;
    this.#chain = [...(parent ? parent.#chain : []), this];
  }

  inner(how?: Joining, shown?: ReadonlySet<string>): Scope {
    return new Scope({ parent: this }, how, shown);
  }

  /** True if rows of the whole query must match its constraints. */
  get isRequired(): boolean {
    return this.#chain.every((scope) => scope.#how === undefined);
  }

  /**
   * Join of a constraint with one of another scope: "required" if a variable has one value in each row that both match; "optional" if
   * the other takes no row from this one.
   */
  joinWith(other: Scope, name: string): "required" | "optional" | undefined {
    const [mine, its] = [this.#chain, other.#chain];
    const common = mine.findIndex((scope, at) => scope !== its[at]);
    const from = common === -1 ? mine.length : common;
    const [up, down] = [mine.slice(from), its.slice(from)];
    if ([...up, ...down].some((scope) => scope.#how === "apart" || scope.#shown?.has(name) === false)) return undefined;
    const isOptional = (scopes: readonly Scope[]): boolean => scopes.some((scope) => scope.#how === "optional");
    // The variable of one OPTIONAL may be bound by another one.
    if (isOptional(up) && isOptional(down)) return undefined;
    return isOptional(down) ? "optional" : "required";
  }
}

/** A pattern that matches triples: a step of a path, where that is a sequence. */
export interface JoinedPattern {
  readonly kind: "pattern";
  readonly subject: PlacedTerm;
  readonly predicate: PlacedTerm;
  readonly object: PlacedTerm;
  readonly scope: Scope;
}

/** A variable and a constant that its value is compared with. One of several is optional: rows may match another. */
interface Comparison {
  readonly kind: "comparison";
  readonly name: string;
  readonly operator: string;
  readonly constant: PlacedTerm;
  readonly scope: Scope;
}

export type Constraint = JoinedPattern | Comparison;

/**
 * Constraints on each row of a query's groups: patterns of default graphs, comparisons with constants, VALUES. Omits parts that
 * constrain no term alone: alternatives of paths and of `||`, GRAPH, SERVICE with a variable.
 */
export function constraintsOf({ ast, places }: Query): readonly Constraint[] {
  const collector = new Collector(places);
  // Descriptions are of default graphs.
  if (!("from" in ast) || ast.from === undefined) collector.addGroup(ast.where ?? [], ast.values ?? [], new Scope());
  return collector.found;
}

class Collector {
  readonly found: Constraint[] = [];
  readonly #places: Query["places"];
  #steps = 0;

  constructor(places: Query["places"]) {
    this.#places = places;
  }

  addGroup(patterns: readonly Pattern[], rows: readonly ValuePatternRow[], scope: Scope): void {
    for (const pattern of patterns) this.#add(pattern, scope);
    for (const name of Object.keys(rows[0] ?? {})) {
      const terms = rows.flatMap((row) => row[name] ?? []);
      // IRIs may be those of several endpoints.
      const constants = terms.filter(
        ({ termType }) => termType === "Literal" || (termType === "NamedNode" && !rows[1]),
      );
      if (terms.length === rows.length) this.#compare({ name: name.slice(1), constants }, "VALUES", scope);
    }
  }

  #add(pattern: Pattern, scope: Scope): void {
    if (pattern.type === "bgp") {
      for (const { subject, predicate, object } of pattern.triples)
        this.#addPath([this.#placed(subject), this.#placed(object)], predicate, scope);
    } else if (pattern.type === "filter") this.#addFilter(pattern.expression, scope);
    else if (pattern.type === "values") this.addGroup([], pattern.values, scope);
    else if (pattern.type === "query") this.#addQuery(pattern, scope);
    else if (pattern.type !== "graph" && pattern.type !== "bind") this.#addInner(pattern, scope);
  }

  #addInner(pattern: Exclude<BlockPattern, GraphPattern>, parent: Scope): void {
    if (pattern.type === "union") {
      for (const branch of pattern.patterns) this.#add(branch, parent.inner("apart"));
    } else if (pattern.type === "service") {
      const { name, patterns } = pattern;
      if (name.termType === "NamedNode") this.addGroup(patterns, [], new Scope({ parent, service: name.value }));
    } else {
      const how = pattern.type === "group" ? undefined : pattern.type === "optional" ? "optional" : "apart";
      this.addGroup(pattern.patterns, [], parent.inner(how));
    }
  }

  #addQuery({ variables, where = [], values = [] }: SelectQuery, parent: Scope): void {
    const plain = variables.flatMap((each) => ("termType" in each ? [each] : []));
    const isAll = plain.some(({ termType }) => termType === "Wildcard");
    const shown = isAll ? undefined : new Set(plain.map(({ value }) => value));
    this.addGroup(where, values, parent.inner(undefined, shown));
  }

  #addFilter(expression: Expression | Pattern, scope: Scope): void {
    if (!isOperation(expression)) return;
    const { operator, args } = expression;
    const compared = comparedIn(expression);
    if (compared !== undefined) this.#compare(compared, operator, scope);
    if (operator === "&&") for (const each of args) this.#addFilter(each, scope);
    if (operator === "||") for (const each of args) this.#addFilter(each, scope.inner("optional"));
    const how = operator === "exists" ? undefined : "apart";
    for (const each of args) if (isGroup(each)) this.#add(each, scope.inner(how));
  }

  #compare({ name, constants }: Compared, operator: string, scope: Scope): void {
    for (const constant of constants) {
      const own = constants.length > 1 ? scope.inner("optional") : scope;
      this.found.push({ kind: "comparison", name, operator, constant: this.#placed(constant), scope: own });
    }
  }

  #addPath([subject, object]: readonly [PlacedTerm, PlacedTerm], path: Triple["predicate"], scope: Scope): void {
    if (!isPath(path)) {
      this.found.push({ kind: "pattern", subject, predicate: this.#placed(path), object, scope });
    } else if (path.pathType === "^") {
      for (const item of path.items) this.#addPath([object, subject], item, scope);
    } else if (path.pathType === "/") {
      let from = subject;
      for (const [at, item] of path.items.entries()) {
        const to = at === path.items.length - 1 ? object : this.#step();
        this.#addPath([from, to], item, scope);
        from = to;
      }
    } else if (path.pathType === "+") {
      for (const item of path.items) {
        this.#addPath([subject, this.#step()], item, scope);
        this.#addPath([this.#step(), object], item, scope);
      }
    }
  }

  #placed(term: Term): PlacedTerm {
    return { term: patternTerm(term), range: this.#places.get(term) };
  }

  #step(): PlacedTerm {
    return { term: { kind: "variable", name: `_:step${this.#steps++}` } };
  }
}

const isGroup = (arg: Expression | Pattern): arg is Pattern =>
  "type" in arg && !["operation", "functionCall", "aggregate"].includes(arg.type ?? "");

const isOperation = (arg: Expression | Pattern): arg is OperationExpression =>
  "type" in arg && arg.type === "operation";

/** A variable, and the constants of which it is compared with one or another. */
interface Compared {
  readonly name: string;
  readonly constants: readonly Term[];
}

function comparedIn({ operator, args }: OperationExpression): Compared | undefined {
  if (!comparing.has(operator)) return undefined;
  const [variable, compared] = isVariable(args[0]) ? args : args.toReversed();
  const constants: readonly unknown[] = Array.isArray(compared) ? compared : [compared];
  const terms = constants.filter(isTerm).filter(({ termType }) => termType === "NamedNode" || termType === "Literal");
  const isWhole = isVariable(variable) && terms.length === constants.length;
  return isWhole ? { name: variable.value, constants: terms } : undefined;
}

const comparing: ReadonlySet<string> = new Set(["=", "!=", "<", ">", "<=", ">=", "in", "notin"]);
const isVariable = (arg: unknown): arg is VariableTerm => isTerm(arg) && arg.termType === "Variable";
const isTerm = (value: unknown): value is Term => typeof value === "object" && value !== null && "termType" in value;
