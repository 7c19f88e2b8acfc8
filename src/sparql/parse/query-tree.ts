import type { Query } from "sparqljs";
import { type PlacedPattern, queryPatterns, termsOf } from "../patterns/query-patterns.ts";
import { constructsOf, type ConstructUse } from "../patterns/used-constructs.ts";
import { isAggregateOfAll } from "../structure/expression-parts.ts";
import type { Group } from "./outline.ts";

/** A node of a syntax tree, of whatever kind. */
export type TreeNode = Readonly<Record<string, unknown>>;

const isTreeNode = (value: unknown): value is TreeNode => typeof value === "object" && value !== null;

/** The syntax of a query, or of the body of a clause as a query of its own, and what it asks for. */
export class QueryTree {
  /** In the shape of sparqljs, with absolute IRIs. */
  readonly ast: Query;
  #patterns: readonly PlacedPattern[] | undefined;
  #allPatterns: readonly PlacedPattern[] | undefined;
  #constructs: ConstructUse | undefined;

  constructor(ast: Query) {
    this.ast = ast;
  }

  /** A group as the WHERE of a SELECT. */
  static ofGroup({ patterns }: Group): QueryTree {
    return new QueryTree({ type: "query", queryType: "SELECT", variables: [], where: patterns, prefixes: {} });
  }

  /** The same query with a group in the place of its WHERE. */
  withWhere({ patterns }: Group): QueryTree {
    return new QueryTree({ ...this.ast, where: patterns });
  }

  /** Most rows of the answer to a SELECT, from its outermost LIMIT. */
  get limit(): number | undefined {
    return this.ast.queryType === "SELECT" ? this.ast.limit : undefined;
  }

  /**
   * The triple patterns outside of every SERVICE in order of appearance, wherever they stand: groups, OPTIONAL, UNION, MINUS, GRAPH,
   * subqueries, EXISTS, but for the template of CONSTRUCT. One that dataset clauses have matched in several graphs is given once for
   * each. Property paths become the patterns that they may ask for (SPARQL 1.1 Query, section 18.2.2.4).
   */
  get patterns(): readonly PlacedPattern[] {
    return (this.#patterns ??= queryPatterns(this.ast));
  }

  /** The same, with those of SERVICE clauses that name an IRI. */
  get allPatterns(): readonly PlacedPattern[] {
    return (this.#allPatterns ??= queryPatterns(this.ast, { services: true }));
  }

  /**
   * The classes and properties that the patterns name, by the endpoint that they are for: the IRI that SERVICE names, undefined
   * outside of every SERVICE. Leaves out those of negated paths, which data need not have.
   */
  get usedTerms() {
    const byService = Map.groupBy(this.allPatterns, ({ service }) => service);
    return [...byService].map(([service, patterns]) => ({ service, terms: termsOf(patterns) }));
  }

  /**
   * Its nodes, lists among them; terms have nothing inside.
   * @param isEntered false for those that nothing inside of is wanted
   */
  *nodes(isEntered: (node: TreeNode) => boolean = () => true): Generator<TreeNode> {
    const pending: unknown[] = [this.ast];
    while (pending.length > 0) {
      const node = pending.pop();
      if (!isTreeNode(node) || "termType" in node) continue;
      yield node;
      if (isEntered(node)) pending.push(...Object.values(node));
    }
  }

  /** The constructs that endpoints differ in, those of subqueries and SERVICE bodies included. */
  get constructs(): ConstructUse {
    return (this.#constructs ??= constructsOf(this));
  }

  /** A SELECT that has one solution at most, also over nothing: an aggregate without GROUP BY. */
  get isAggregateOfAll(): boolean {
    return this.ast.queryType === "SELECT" && isAggregateOfAll(this.ast);
  }

  /** It may have numbers of groups, or the first rows of an order, that depend on the kinds of values. */
  get isSummary(): boolean {
    const text = JSON.stringify(this.ast);
    const isOrdered = text.includes('"order":') && text.includes('"limit":');
    return isOrdered || /"aggregation":"(?:sum|avg|min|max)"|"group":/iu.test(text);
  }
}
