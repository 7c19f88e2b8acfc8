import type { BlockPattern, Expression, Pattern, Query, ServicePattern, Wildcard } from "sparqljs";
import { hasAggregate } from "../structure/expression-parts.ts";

/**
 * Effect on the answer when a part of the query has fewer solutions: "monotone", it loses rows at most; "antitone", it
 * gains rows at most; "neither", it can do both.
 */
type Effect = "monotone" | "antitone" | "neither";

/** Words of which a query has one, whatever it stands for there, where missing solutions can add rows to its answer. */
export const nonMonotoneWords: readonly string[] =
  "ASK AVG COUNT EXISTS GROUP GROUP_CONCAT HAVING LIMIT MAX MIN MINUS OFFSET OPTIONAL SAMPLE SUM".split(" ");

/** The parts of a query that it is not monotone in. */
interface NonMonotone {
  /** SERVICE clauses; their bodies are not looked into. */
  readonly services: ReadonlySet<ServicePattern>;
  /** A triple pattern or path outside of every SERVICE. */
  readonly patterns: boolean;
}

/**
 * The parts of a query whose missing solutions can add rows that are not in the true answer. Rows are taken for a set. A
 * LIMIT without ORDER BY may choose any rows, so fewer solutions leave rows that it could have chosen.
 * @param how bodies of SERVICE clauses are patterns, too
 */
export function nonMonotoneParts(ast: Query, how?: "into services"): NonMonotone {
  const effects = new Effects(how);
  effects.query(ast, ast.queryType === "ASK" ? "neither" : "monotone");
  return effects;
}

/** True if missing triples can only take solutions from a group; SERVICE bodies count. */
export function isMonotoneGroup(patterns: readonly Pattern[]): boolean {
  const effects = new Effects("into services");
  effects.group(patterns, "monotone");
  return !effects.patterns;
}

class Effects implements NonMonotone {
  readonly services = new Set<ServicePattern>();
  patterns = false;
  readonly #intoServices: boolean;

  constructor(how: "into services" | undefined) {
    this.#intoServices = how !== undefined;
  }

  query(query: Query, effect: Effect): void {
    const computed = expressionsOf(query);
    for (const expression of computed) this.#expression(expression, "neither");
    this.group(query.where ?? [], isTop(query) || computed.some(hasAggregate) ? "neither" : effect);
  }

  group(patterns: readonly Pattern[], effect: Effect): void {
    for (const pattern of patterns) this.#pattern(pattern, effect);
  }

  #pattern(pattern: Pattern, effect: Effect): void {
    switch (pattern.type) {
      case "bgp":
        this.patterns ||= effect !== "monotone" && pattern.triples.length > 0;
        return;
      case "values":
        return;
      case "filter":
        return this.#expression(pattern.expression, effect);
      case "bind":
        return this.#expression(pattern.expression, "neither");
      case "service":
        return this.#service(pattern, effect);
      case "query":
        return this.query(pattern, effect);
      default:
        return this.group(pattern.patterns, effectInside(pattern, effect));
    }
  }

  #service(service: ServicePattern, effect: Effect): void {
    if (this.#intoServices) return this.group(service.patterns, effect);
    if (effect !== "monotone") this.services.add(service);
  }

  /** Only EXISTS sees solutions; FILTER keeps a row where its truth is not lost. */
  #expression(expression: Expression | Pattern | Wildcard, effect: Effect): void {
    if (Array.isArray(expression)) for (const each of expression) this.#expression(each, "neither");
    if (!("type" in expression)) return;
    switch (expression.type) {
      case "operation":
        for (const argument of expression.args) this.#argument(expression.operator, argument, effect);
        return;
      case "functionCall":
        for (const argument of expression.args) this.#expression(argument, "neither");
        return;
      case "aggregate":
        return this.#expression(expression.expression, "neither");
      default:
        this.#pattern(expression, effect);
    }
  }

  #argument(operator: string, argument: Expression | Pattern, effect: Effect): void {
    switch (operator) {
      case "notexists":
      case "!":
        return this.#expression(argument, opposite(effect));
      case "exists":
      case "&&":
      case "||":
        return this.#expression(argument, effect);
      default:
        this.#expression(argument, "neither");
    }
  }
}

function effectInside({ type }: BlockPattern, effect: Effect): Effect {
  // A row that an OPTIONAL would extend comes without it.
  if (type === "optional") return "neither";
  return type === "minus" ? opposite(effect) : effect;
}

/** Expressions over the solutions of a query's WHERE; a CONSTRUCT may group them as well. */
function expressionsOf(query: Query): readonly Expression[] {
  const group = "group" in query && query.group ? query.group : [];
  const having = "having" in query && query.having ? query.having : [];
  const order = "order" in query && query.order ? query.order : [];
  const projected = query.queryType === "SELECT" ? query.variables : [];
  return [
    ...projected.flatMap((each) => ("expression" in each ? [each.expression] : [])),
    ...group.map(({ expression }) => expression),
    ...having,
    ...order.map(({ expression }) => expression),
  ];
}

/** The first rows in an order; the parser leaves out what the query has not. */
const isTop = (query: Query): boolean =>
  "order" in query && query.order !== undefined && "limit" in query && query.limit !== undefined;

function opposite(effect: Effect): Effect {
  if (effect === "neither") return effect;
  return effect === "monotone" ? "antitone" : "monotone";
}
