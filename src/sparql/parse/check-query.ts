import { itemAt } from "../../values.ts";
import type { Query } from "./query.ts";
import type { AggregateExpression, Expression, Pattern, SelectQuery, VariableTerm } from "sparqljs";
import type { FedwayError } from "../../errors/fedway-error.ts";
import { isAggregated, partsOfExpression } from "../structure/expression-parts.ts";
import type { Group, SelectOutline } from "./outline.ts";
import { groupsWithin, whereVariables } from "../structure/scope.ts";
import { type Placed, placeIn } from "./term-reader.ts";
import { syntaxError, type Token } from "./tokens.ts";

/**
 * First violation of a rule that the parser does not check; undefined: none.
 * - A blank-node label belongs to one basic graph pattern (SPARQL 1.1 Query, section 4.1.4), BIND and AS need a variable
 *   that is not in scope (section 18.2.1).
 * - A query with GROUP BY or an aggregate may project plain variables only if they are grouped, and not `*`; aggregates
 *   stand in SELECT, HAVING and ORDER BY only (sections 11 and 19.8).
 */
export function illegalUse(query: Query): FedwayError | undefined {
  const groups = [...groupsWithin(query.outline.groups)];
  const selects = query.selects;
  const labels = new Map<string, object>();
  return (
    firstOf(selects, (select) => sameColumns(query, select) ?? illegalAlias(query, select)) ??
    firstOf(groups, (group) => illegalLabel(query, group, labels) ?? illegalBind(query, group)) ??
    firstOf(selects, (select) => nestedAggregate(query, select) ?? illegalProjection(query, select)) ??
    misplacedAggregate(
      query,
      groups.flatMap(({ patterns }) => patterns.flatMap(testedIn)),
    )
  );
}

function firstOf<T, U>(items: readonly T[], find: (item: T) => U | undefined): U | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

const testedIn = (pattern: Pattern): readonly Expression[] =>
  pattern.type === "filter" || pattern.type === "bind" ? [pattern.expression] : [];

function illegalLabel(query: Query, group: Group, labels: Map<string, object>): FedwayError | undefined {
  let pattern = {};
  for (const element of group.elements) {
    // FILTER does not end a basic graph pattern, everything else does.
    if (element.kind === "filter") continue;
    if (element.kind !== "triples") {
      pattern = {};
      continue;
    }
    for (let at = element.from; at < element.to; at++) {
      const token = itemAt(query.tokens, at);
      if (token.kind !== "blank") continue;
      const owner = labels.get(token.text) ?? pattern;
      labels.set(token.text, owner);
      if (owner === pattern) continue;
      return syntaxError(query.text, token.start, {
        message: `The blank node label ${token.text.slice(0, 60)} is used in two different graph patterns.`,
        next: "Use a variable where the same node is meant, else another label.",
      });
    }
  }
  return undefined;
}

function illegalBind(query: Query, group: Group): FedwayError | undefined {
  if (!group.elements.some((element) => element.kind === "bind")) return undefined;
  const visible = new Set<string>();
  for (const element of group.elements) {
    if (element.kind === "bind" && visible.has(element.variable)) {
      const variable = itemAt(query.tokens, element.to - 2);
      return syntaxError(query.text, variable.start, {
        message: `BIND assigns ?${element.variable.slice(0, 60)}, which is in scope already.`,
        next: "Assign to a new variable, or write the condition as a FILTER.",
      });
    }
    for (const name of query.visibleIn(element)) visible.add(name);
  }
  return undefined;
}

function sameColumns(query: Query, { tree }: SelectOutline): FedwayError | undefined {
  if (tree.queryType !== "SELECT") return undefined;
  const names = new Set<string>();
  for (const column of tree.variables) {
    const variable = "expression" in column ? column.variable : column;
    if (isVariable(variable) && names.has(variable.value)) {
      return syntaxError(query.text, tokenOf(query, variable).start, {
        message: `Two columns have the same name (?${variable.value.slice(0, 60)}).`,
        next: "Give each column its own name.",
      });
    }
    names.add(variable.value);
  }
  return undefined;
}

function illegalAlias(query: Query, select: SelectOutline): FedwayError | undefined {
  if (select.tree.queryType !== "SELECT") return undefined;
  const aliases = select.tree.variables.flatMap((column) => ("expression" in column ? [column.variable] : []));
  const where = aliases.length > 0 ? whereVariables(query.tokens, select) : new Set<string>();
  const known = aliases.find(({ value }) => where.has(value));
  if (known === undefined) return undefined;
  const token = tokenOf(query, known);
  return syntaxError(query.text, token.start, {
    message: `AS assigns ${token.text.slice(0, 60)}, which is in scope already.`,
    next: "Give the column a name that WHERE does not use.",
  });
}

const tokenOf = ({ places, tokens }: Query, node: Placed): Token => itemAt(tokens, placeIn(places, node).from);

function illegalProjection(query: Query, { tree, head }: SelectOutline): FedwayError | undefined {
  const group = "group" in tree ? tree.group : undefined;
  const misplaced = misplacedAggregate(query, group?.map(({ expression }) => expression) ?? []);
  if (misplaced || tree.queryType !== "SELECT") return misplaced;
  if (group === undefined && !isAggregated(tree)) return undefined;
  const free = ungrouped(tree);
  if (!free) return undefined;
  const all = free === "*";
  const { start, text } = all ? itemAt(query.tokens, head.to - 1) : tokenOf(query, free);
  return syntaxError(query.text, start, {
    message: all
      ? "SELECT * cannot be combined with GROUP BY or aggregates."
      : `Projection of ungrouped variable (${text.slice(0, 60)}).`,
    next: all ? "Name the columns." : "Add the variable to GROUP BY or put it into an aggregate such as SAMPLE.",
  });
}

/** The first variable of the projection, or `*`, that is neither grouped, aggregated nor an earlier column. */
function ungrouped({ variables, group = [] }: SelectQuery): VariableTerm | "*" | undefined {
  const keys = group.flatMap(({ expression, variable = expression }) => (isVariable(variable) ? variable.value : []));
  const known = new Set(keys);
  // `GROUP BY STR(?x)`: columns may repeat the expression, which some engines accept.
  const isLenient = group.some(
    ({ expression, variable }) => variable !== undefined || partsOfExpression(expression).some(isCallOrConstant),
  );
  for (const column of variables) {
    if ("termType" in column) {
      if (!isVariable(column)) return "*";
      if (!known.has(column.value)) return column;
      continue;
    }
    const parts = [...partsOfExpression(column.expression)];
    // What EXISTS means in a grouped query is left to the endpoint.
    if (parts.some(isExists)) return undefined;
    const free = parts.filter(isVariable).find(({ value }) => !known.has(value));
    if (free && !isLenient) return free;
    known.add(column.variable.value);
  }
  return undefined;
}

const isVariable = (part: object): part is VariableTerm => "termType" in part && part.termType === "Variable";
const isCallOrConstant = (part: object): boolean =>
  !isVariable(part) && !("operator" in part && /^(?:\W+|UPLUS|UMINUS)$/.test(String(part.operator)));
const isExists = (part: object): boolean => "operator" in part && String(part.operator).endsWith("exists");

/** `MAX(COUNT(?x))` has no groups to be the largest of. */
function nestedAggregate(query: Query, { tree }: SelectOutline): FedwayError | undefined {
  if (tree.queryType !== "SELECT") return undefined;
  const computed = [...tree.variables, ...(tree.order ?? [])].flatMap((each) =>
    "expression" in each ? [each.expression] : [],
  );
  const found = firstOf([...computed, ...(tree.having ?? [])], (expression) => {
    const inner = aggregateIn(expression)?.expression;
    return inner && "type" in inner ? aggregateIn(inner) : undefined;
  });
  if (found === undefined) return undefined;
  const { start, text } = tokenOf(query, found);
  return syntaxError(query.text, start, {
    message: `${text} stands inside an aggregate.`,
    next: "Aggregate in a subquery, and aggregate its result here.",
  });
}

/** Aggregates stand in SELECT, HAVING and ORDER BY only. */
function misplacedAggregate(query: Query, expressions: readonly Expression[]): FedwayError | undefined {
  const found = firstOf(expressions, aggregateIn);
  if (found === undefined) return undefined;
  const { start, text } = tokenOf(query, found);
  return syntaxError(query.text, start, {
    message: `${text} stands outside of SELECT, HAVING and ORDER BY.`,
    next: "Aggregate in a subquery, and use its result here.",
  });
}

const aggregateIn = (expression: Expression): AggregateExpression | undefined =>
  partsOfExpression(expression).find((part) => "type" in part && part.type === "aggregate");
