import type * as RDF from "../../rdf/term.ts";
import type { Demand, UnitDemand } from "../demand.ts";
import { anyTripleOf, canBeEmpty } from "../sources/property-path.ts";
import { type Graphs, patternVariable, placesOf, type TriplePattern, variablesOf } from "../sources/triple-pattern.ts";
import type * as Algebra from "./algebra.ts";
import {
  bgpConjuncts,
  type Conjunct,
  connectedConjuncts,
  groupVariables,
  pathConjuncts,
  patternsOf,
  placesIn,
  triplesIn,
  withTerm,
} from "./conjuncts.ts";
import type { FixedTerms } from "./equality-join.ts";
import { planGroup, takesAlong } from "./group-plan.ts";
import { joinOf, valuesOf } from "./operations.ts";
import type { GraphContext } from "./pattern-leaves.ts";
import type { QueryUse } from "./query-use.ts";

type Operation = Algebra.Operation;

/**
 * The groups of patterns of one query over its merged graph: neighbours are gathered into one, and planned as soon as it is
 * known what is wanted of them.
 */
export class PatternGroups {
  readonly #use: QueryUse;
  readonly #context: GraphContext;
  #variables = 0;

  constructor(use: QueryUse, context: GraphContext) {
    this.#use = use;
    this.#context = context;
  }

  /** An operation of patterns as a group, or over groups that are gathered. */
  gathered(operation: Algebra.Bgp | Algebra.Path | Algebra.Join | Algebra.Union): Operation {
    switch (operation.type) {
      case "bgp":
        return operation.patterns.length === 0 ? { type: "nop" } : this.#group(bgpConjuncts(operation));
      case "path":
        return this.#group(pathConjuncts(operation, () => patternVariable(`fedway_${this.#variables++}`)));
      case "join":
        return this.#join(operation);
      default:
        return this.#union(operation);
    }
  }

  /** Neighbouring groups are one, so that shared terms decide which patterns are asked as one. */
  #join(join: Algebra.Join): Operation {
    const groups = join.input.flatMap((input) => conjunctsOf(input) ?? []);
    const others = join.input.filter((input) => !conjunctsOf(input));
    if (join.input.length - others.length < 2) return join;
    return joinOf([this.#group(groups), ...others]);
  }

  #union(union: Algebra.Union): Operation {
    const branches = union.input.flatMap((input) => {
      const conjuncts = conjunctsOf(input);
      return conjuncts ? [conjuncts] : [];
    });
    return branches.length < union.input.length ? union : this.#group([{ kind: "union", branches }]);
  }

  /** The parts of a group that share no variable; other operations stay as they are. */
  parts(operation: Operation): readonly Operation[] {
    const parts = connectedConjuncts(conjunctsOf(operation) ?? []);
    return parts.length > 1 ? parts.map((part) => this.#group(part)) : [operation];
  }

  /** The operation with terms in place of a group's variables, which keep these values. */
  fixed(operation: Operation, terms: FixedTerms): Operation {
    let conjuncts = conjunctsOf(operation) ?? [];
    const fixed = new Map<string, RDF.Term>();
    for (const { name } of groupVariables(conjuncts)) {
      const term = terms.get(name);
      const replaced: readonly Conjunct[] | undefined = term && withTerm(conjuncts, name, term);
      if (!term || !replaced) continue;
      conjuncts = replaced;
      fixed.set(name, term);
    }
    if (fixed.size === 0) return operation;
    const values = valuesOf([...fixed.keys()].map(patternVariable), [Object.fromEntries(fixed)]);
    return { type: "join", input: [values, this.#group(conjuncts)] };
  }

  /** The plan of a group, of which this is wanted; undefined for other operations. */
  demanding(operation: Operation, demand: Demand): Operation | undefined {
    const group = this.#withOptionals(operation);
    if (!group) return undefined;
    const { conjuncts, optionals = [] } = group;
    const added: readonly Conjunct[] = optionals.flat().map((pattern) => ({ kind: "triple", pattern }));
    const isNeeded = (name: string): boolean => {
      const own = placesIn(conjuncts, name);
      return this.#use.isNeeded(name, own > 0 ? own : placesIn(added, name));
    };
    const names = groupVariables([...conjuncts, ...added]).map(({ name }) => name);
    return planGroup(this.#context, conjuncts, { ...demand, optionals, variables: new Set(names.filter(isNeeded)) });
  }

  /** The conjuncts of a group, and the OPTIONALs on top of it that it takes along; undefined when one cannot. */
  #withOptionals(operation: Operation): GroupWithOptionals | undefined {
    const conjuncts = conjunctsOf(operation);
    if (conjuncts) return { conjuncts };
    if (operation.type !== "leftjoin") return undefined;
    const { input, expression } = operation;
    const left = input[0] && !expression && this.#withOptionals(input[0]);
    const patterns = triplesIn((input[1] && conjunctsOf(input[1])) ?? []);
    if (!left || !patterns || !this.#takesAlong(left.conjuncts, patterns)) return undefined;
    return { ...left, optionals: [...(left.optionals ?? []), patterns] };
  }

  /** True if OPTIONAL patterns can be asked along with a group; nothing else gives their variables values. */
  #takesAlong(conjuncts: readonly Conjunct[], optional: readonly TriplePattern[]): boolean {
    const known = new Set(groupVariables(conjuncts).map(({ name }) => name));
    const own = optional.flatMap((pattern) => variablesOf(pattern)).filter((name) => !known.has(name));
    const areBound = own.every((name) => this.#use.isBoundIn(name, placesOf(name, optional)));
    return areBound && takesAlong(this.#context.graph, conjuncts, optional);
  }

  #group(conjuncts: readonly Conjunct[]): Operation {
    for (const conjunct of conjuncts) {
      this.#use.add(patternsOf(conjunct));
      for (const graphs of rangingOverAll(conjunct, conjuncts)) this.#use.add([anyTripleOf(graphs)]);
    }
    return { type: "fedway:patterns", conjuncts };
  }
}

type GroupWithOptionals = Pick<UnitDemand, "optionals"> & Pick<Algebra.Patterns, "conjuncts">;

const conjunctsOf = (operation: Operation): readonly Conjunct[] | undefined =>
  operation.type === "fedway:patterns" ? operation.conjuncts : undefined;

/**
 * The graphs of zero-length paths between two variables that nothing beside them in the group binds: they range over all
 * nodes.
 */
function rangingOverAll(conjunct: Conjunct, group: readonly Conjunct[]): readonly (Graphs | undefined)[] {
  if (conjunct.kind === "union") {
    return conjunct.branches.flatMap((branch) => branch.flatMap((part) => rangingOverAll(part, branch)));
  }
  if (conjunct.kind !== "path" || !canBeEmpty(conjunct.path)) return [];
  const names = [conjunct.subject, conjunct.object].flatMap((t) => (t.termType === "Variable" ? [t.value] : []));
  const others = groupVariables(group.filter((other) => other !== conjunct));
  return names.length === 2 && !others.some(({ name }) => names.includes(name)) ? [conjunct.graphs] : [];
}
