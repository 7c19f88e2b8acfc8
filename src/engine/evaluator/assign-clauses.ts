import type { Demand } from "../demand.ts";
import type * as Algebra from "./algebra.ts";
import { type EquatedPartsOptions, equatedParts } from "./equality-join.ts";
import { type LeafClause, leafOf } from "./leaf.ts";
import {
  existencesIn,
  inScopeVariables,
  mapOperation,
  reachedVariables,
  valuesOf,
  withInputs,
  withPreparedInput,
} from "./operations.ts";
import type { Surroundings } from "../expressions/functions.ts";
import { patternVariable } from "../sources/triple-pattern.ts";
import { PatternGroups } from "./pattern-groups.ts";
import type { GraphContext } from "./pattern-leaves.ts";
import { PushDown } from "./push-down.ts";
import type { QueryUse } from "./query-use.ts";
import { unitedBranches } from "./united-branches.ts";

type Operation = Algebra.Operation;

/** Sources of the leaves in one execution. */
export interface LeafSources {
  /** SERVICE clauses by the IRIs that stand for them in the skeleton; several are a UNION. */
  readonly clauses: ReadonlyMap<string, readonly LeafClause[]>;
  /** Context of patterns outside the clauses; undefined when those have no data. */
  readonly patterns: GraphContext | undefined;
  /** Learns from the algebra how variables are used. */
  readonly use: QueryUse;
  readonly surroundings: Surroundings;
}

/**
 * Turns every SERVICE clause of an algebra into a leaf, and patterns outside the clauses into leaves over the merged graph of
 * the plan's members. In plans without such members they become the empty multiset of solutions.
 */
export function assignLeaves(
  operation: Operation,
  { clauses, patterns: context, use, surroundings }: LeafSources,
): Operation {
  use.read(operation);
  for (const { correlated = [] } of [...clauses.values()].flat()) use.mention(correlated);
  const groups = context && new PatternGroups(use, context);
  const pushDown = new PushDown({
    demanding: (part, demand) => groups?.demanding(part, demand) ?? demandingClause(part, demand, use),
    surroundings,
  });
  const parts: EquatedPartsOptions = {
    split: (part) => groups?.parts(part) ?? [part],
    fix: (part, terms) => groups?.fixed(part, terms) ?? part,
  };
  let existences = 0;
  const assigned = mapOperation(operation, {
    existence(exists) {
      const input = pushDown.existing(exists.input);
      return { ...exists, input, pattern: { id: existences++, variables: [...reachedVariables(input)] } };
    },
    operation(one) {
      switch (one.type) {
        case "service":
          return united(clauses.get(one.name.value) ?? []);
        case "filter":
          return splitFilter(one, parts);
        case "slice":
          return one.length === undefined ? one : { ...one, input: limited(one.input, one.start + one.length) };
        case "bgp":
        case "path":
        case "join":
        case "union":
          return groups ? groups.gathered(one) : withoutData(one);
        // Its condition looks at solutions of both sides, and prepares itself.
        case "leftjoin":
          return one;
        default:
          return withPreparedInput(one);
      }
    },
  });
  const pushed = pushDown.query(assigned);
  if (!groups) return pushed;
  return mapOperation(pushed, {
    existence: (exists) => exists,
    operation: (one) => (one.type === "union" ? unitedBranches(one) : one),
  });
}

/** The operation in a plan without members, where patterns have no solutions. */
function withoutData(operation: Operation): Operation {
  if (operation.type !== "bgp" && operation.type !== "path") return operation;
  if (operation.type === "bgp" && operation.patterns.length === 0) return { type: "nop" };
  return valuesOf([...inScopeVariables(operation)].map(patternVariable), []);
}

/** The clauses that one place of a skeleton stands for. */
function united(clauses: readonly LeafClause[]): Operation {
  const [leaf, ...others] = clauses.map(leafOf);
  if (!leaf) throw new Error("No clause stands for a SERVICE of the skeleton");
  return others.length === 0 ? leaf : { type: "union", input: [leaf, ...others] };
}

/** The leaf of a SERVICE clause, asked for no more than this; undefined for other operations. */
function demandingClause(operation: Operation, demand: Demand, use: QueryUse): Operation | undefined {
  if (operation.type !== "fedway:leaf") return undefined;
  const { clause } = operation;
  const needed = clause.variables.flatMap(({ name }) => (use.isNeeded(name, 1) ? [name] : []));
  return leafOf(clause.demanding?.({ ...demand, variables: new Set(needed) }) ?? clause);
}

/** Hands the number of wanted rows to an ORDER BY below a LIMIT; a projection has as many rows as its input. */
function limited(operation: Operation, limit: number): Operation {
  if (operation.type === "orderby") return { ...operation, limit };
  return operation.type === "project" ? withInputs(operation, [limited(operation.input, limit)]) : operation;
}

/** `FILTER(a && b)` as two filters, so that EXISTS is asked only for what the other parts let through. */
function splitFilter({ input, expression }: Algebra.Filter, options: EquatedPartsOptions): Operation {
  const group = equatedParts({ input, conditions: conditionsOf(expression) }, options);
  const asking = group.conditions.filter((part) => existencesIn(part).length > 0);
  const ordered = [...group.conditions.filter((part) => !asking.includes(part)), ...asking];
  return ordered.reduce(
    (inner, part) => withPreparedInput({ type: "filter", input: inner, expression: part }),
    group.input,
  );
}

function conditionsOf(expression: Algebra.Expression): readonly Algebra.Expression[] {
  if (expression.subType !== "operator" || expression.operator !== "&&") return [expression];
  return expression.args.flatMap((arg) => conditionsOf(arg));
}
