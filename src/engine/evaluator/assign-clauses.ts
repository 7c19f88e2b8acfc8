import type * as RDF from "../../rdf/term.ts";
import type { Demand } from "../demand.ts";
import type * as Algebra from "./algebra.ts";
import {
  bgpConjuncts,
  type Conjunct,
  connectedConjuncts,
  groupVariables,
  pathConjuncts,
  triplesIn,
  withTerm,
} from "./conjuncts.ts";
import { withFormOutside } from "./describe.ts";
import { type EquatedPartsOptions, equatedParts, type FixedTerms } from "./equality-join.ts";
import { createExistsNames } from "./existence.ts";
import { type LeafClause, leafOf } from "./leaf.ts";
import {
  existencesIn,
  inputsOf,
  inScopeVariables,
  mapOperation,
  valuesOf,
  withInputs,
  withPreparedInput,
} from "./operations.ts";
import type { Surroundings } from "../expressions/functions.ts";
import { patternVariable } from "../sources/triple-pattern.ts";
import type { GroupDemand } from "./group-plan.ts";
import { PatternClause, type PatternLeaves } from "./pattern-leaves.ts";
import { PushDown } from "./push-down.ts";
import type { QueryUse } from "./query-use.ts";

type Operation = Algebra.Operation;

/** What leaves stand for in one execution. */
export interface LeafSources {
  /** SERVICE clauses by the IRIs that stand for them in the skeleton; several are a UNION. */
  readonly clauses: ReadonlyMap<string, readonly LeafClause[]>;
  /** Makes the leaves of patterns outside the clauses; undefined when those have no data. */
  readonly patterns: PatternLeaves | undefined;
  /** Learns from the algebra how variables are used. */
  readonly use: QueryUse;
  readonly surroundings: Surroundings;
}

/** A query's algebra, ready to be evaluated. */
interface Assigned {
  readonly operation: Operation;
  /** Number of its solutions that are enough, in any order. */
  readonly wanted: number | undefined;
}

/**
 * Turns every SERVICE clause of a skeleton into a leaf, and patterns outside the clauses into leaves over the merged graph of
 * the plan's members. In plans without such members they become the empty multiset of solutions.
 */
export function assignLeaves(skeleton: Operation, sources: LeafSources): Assigned {
  const operation = withFormOutside(skeleton);
  return { operation: assign(operation, sources), wanted: wantedSolutions(operation) };
}

/** Number of solutions that are enough for a LIMIT without sorting or grouping below it, or for ASK. */
function wantedSolutions(operation: Operation): number | undefined {
  if (operation.type === "ask") return 1;
  if (operation.type === "construct") return wantedSolutions(operation.input);
  if (operation.type !== "slice" || isGathering(operation.input)) return undefined;
  return operation.length === undefined ? undefined : operation.start + operation.length;
}

function isGathering(operation: Operation): boolean {
  if (operation.type === "orderby" || operation.type === "group") return true;
  const [input, ...others] = inputsOf(operation);
  return input !== undefined && others.length === 0 && isGathering(input);
}

function assign(operation: Operation, { clauses, patterns: leaves, use, surroundings }: LeafSources): Operation {
  use.read(operation);
  for (const { correlated = [] } of [...clauses.values()].flat()) use.mention(correlated);
  const nameExists = createExistsNames();
  const patterns = new PatternAssigner(leaves);
  const pushDown = new PushDown({
    demanding: (part, demand) => patterns.demanding(part, demand) ?? demandingClause(part, demand, use),
    surroundings,
  });
  const parts: EquatedPartsOptions = {
    split: (part) => patterns.parts(part),
    fix: (part, terms) => patterns.fixed(part, terms),
  };
  const assigned = mapOperation(operation, {
    existence: (exists) => nameExists({ ...exists, input: pushDown.existing(exists.input) }),
    operation(one) {
      switch (one.type) {
        case "service":
          return united(clauses.get(one.name.value) ?? []);
        case "filter":
          return splitFilter(one, parts);
        case "slice":
          return one.length === undefined ? one : { ...one, input: limited(one.input, one.start + one.length) };
        case "bgp":
          return patterns.bgp(one);
        case "path":
          return patterns.path(one);
        case "join":
          return patterns.join(one);
        case "union":
          return patterns.union(one);
        // Its condition looks at solutions of both sides, and prepares itself.
        case "leftjoin":
          return one;
        default:
          return withPreparedInput(one);
      }
    },
  });
  return pushDown.query(assigned);
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

/** Turns groups of patterns into leaves over the merged graph, in one query. */
class PatternAssigner {
  readonly #leaves: PatternLeaves | undefined;

  /** @param leaves undefined: patterns have no data */
  constructor(leaves: PatternLeaves | undefined) {
    this.#leaves = leaves;
  }

  bgp(bgp: Algebra.Bgp): Operation {
    return bgp.patterns.length === 0 ? { type: "nop" } : this.#leafFor(bgp, bgpConjuncts(bgp));
  }

  path(path: Algebra.Path): Operation {
    const leaves = this.#leaves;
    return this.#leafFor(path, leaves && pathConjuncts(path, () => leaves.fresh()));
  }

  /** Neighbouring leaves are one leaf, so that OPTIONAL, EXISTS and joins ask them with their keys as a whole. */
  join(join: Algebra.Join): Operation {
    const groups = join.input.flatMap((input) => conjunctsOf(input) ?? []);
    const others = join.input.filter((input) => !conjunctsOf(input));
    if (!this.#leaves || join.input.length - others.length < 2) return join;
    const leaf = leafOf(this.#leaves.leaf(groups));
    return others.length === 0 ? leaf : { type: "join", input: [leaf, ...others] };
  }

  union(union: Algebra.Union): Operation {
    const branches = union.input.flatMap((input) => {
      const conjuncts = conjunctsOf(input);
      return conjuncts ? [conjuncts] : [];
    });
    if (!this.#leaves || branches.length < union.input.length) return union;
    return leafOf(this.#leaves.leaf([{ kind: "union", branches }]));
  }

  /** The leaves of a leaf's parts that share no variable; what is no leaf stays as it is. */
  parts(operation: Operation): readonly Operation[] {
    const leaves = this.#leaves;
    const parts = connectedConjuncts(conjunctsOf(operation) ?? []);
    return leaves && parts.length > 1 ? parts.map((part) => leafOf(leaves.leaf(part))) : [operation];
  }

  /** The operation with terms in place of a leaf's variables, which keep these values. */
  fixed(operation: Operation, terms: FixedTerms): Operation {
    const leaves = this.#leaves;
    let conjuncts = conjunctsOf(operation) ?? [];
    const fixed = new Map<string, RDF.Term>();
    for (const { name } of groupVariables(conjuncts)) {
      const term = terms.get(name);
      const replaced: readonly Conjunct[] | undefined = term && withTerm(conjuncts, name, term);
      if (!term || !replaced) continue;
      conjuncts = replaced;
      fixed.set(name, term);
    }
    if (!leaves || fixed.size === 0) return operation;
    const values = valuesOf([...fixed.keys()].map(patternVariable), [Object.fromEntries(fixed)]);
    return { type: "join", input: [values, leafOf(leaves.leaf(conjuncts))] };
  }

  /** The leaf, of which this is wanted; undefined for what is no leaf of patterns. */
  demanding(operation: Operation, demand: Demand): Operation | undefined {
    const leaves = this.#leaves;
    const group = leaves && this.#withOptionals(leaves, operation);
    if (!group) return undefined;
    const { conjuncts, optionals } = group;
    return leafOf(leaves.demanding(conjuncts, { ...demand, optionals }));
  }

  /** The conjuncts of a leaf, and the OPTIONALs on top of it that it takes along; undefined when one cannot. */
  #withOptionals(leaves: PatternLeaves, operation: Operation): GroupWithOptionals | undefined {
    const conjuncts = conjunctsOf(operation);
    if (conjuncts) return { conjuncts };
    if (operation.type !== "leftjoin") return undefined;
    const { input, expression } = operation;
    const left = input[0] && !expression && this.#withOptionals(leaves, input[0]);
    const patterns = triplesIn((input[1] && conjunctsOf(input[1])) ?? []);
    if (!left || !patterns || !leaves.takesAlong(left.conjuncts, patterns)) return undefined;
    return { ...left, optionals: [...(left.optionals ?? []), patterns] };
  }

  #leafFor(operation: Operation, conjuncts: readonly Conjunct[] | undefined): Operation {
    if (this.#leaves && conjuncts) return leafOf(this.#leaves.leaf(conjuncts));
    return valuesOf([...inScopeVariables(operation)].map(patternVariable), []);
  }
}

type GroupWithOptionals = Pick<GroupDemand, "optionals"> & { readonly conjuncts: readonly Conjunct[] };

/** The conjuncts behind a leaf of patterns. */
function conjunctsOf(operation: Operation): readonly Conjunct[] | undefined {
  if (operation.type !== "fedway:leaf") return undefined;
  return operation.clause instanceof PatternClause ? operation.clause.conjuncts : undefined;
}
