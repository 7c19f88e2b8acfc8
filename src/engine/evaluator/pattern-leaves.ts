import type * as RDF from "../../rdf/term.ts";
import type { Bindings } from "../../results/model.ts";
import type { KeyBlock } from "../clause-query.ts";
import type { ClauseVariable } from "../../plan/query-plan.ts";
import type { Counting } from "../demand.ts";
import { isTrace } from "../provenance.ts";
import { anyTriple, canBeEmpty } from "../sources/property-path.ts";
import type { LeafClause } from "./leaf.ts";
import { type Conjunct, groupSelectivity, groupVariables, patternsOf, placesIn } from "./conjuncts.ts";
import { patternVariable, placesOf, type TriplePattern, variablesOf } from "../sources/triple-pattern.ts";
import { canCount, type GroupDemand, planGroup, takesAlong, type PlannedGroup } from "./group-plan.ts";
import { type GroupContext, groupSolutions } from "./group-solutions.ts";
import type { QueryUse } from "./query-use.ts";

/** A group of patterns over the merged graph of an execution, as a leaf of the algebra. */
export class PatternClause implements LeafClause {
  readonly variables: readonly ClauseVariable[];
  readonly silent = false;
  readonly blankKeys = true;
  readonly selectivity: number;
  readonly blocksOf: string;
  readonly conjuncts: readonly Conjunct[];
  readonly #context: GroupContext;
  readonly #demand: Demand;
  #plan: PlannedGroup | undefined;

  constructor(conjuncts: readonly Conjunct[], context: GroupContext, { variables, ...demand }: Shown) {
    this.variables = variables;
    this.conjuncts = conjuncts;
    this.selectivity = groupSelectivity(conjuncts);
    this.blocksOf = context.blocksOf;
    this.#context = context;
    this.#demand = demand;
  }

  async *solutions(keys: KeyBlock | undefined): AsyncIterable<readonly Bindings[]> {
    const shown = new Set([...this.variables.map(({ name }) => name), ...(keys?.variables ?? [])]);
    const isShown = (name: string): boolean => shown.has(name) || isTrace(name);
    const shownOf = (row: Bindings): Bindings => {
      const hides = [...row.keys()].some((name) => !isShown(name));
      return hides ? new Map([...row].filter(([name]) => isShown(name))) : row;
    };
    for await (const rows of groupSolutions(this.#context, this.#planned(), keys)) yield rows.map(shownOf);
    this.#context.sizes.accepted(this.blocksOf, keys?.rows.length ?? 0);
  }

  counting({ by, counts }: Counting): PatternClause | undefined {
    const count = counts.size === 1 ? counts.get("*") : undefined;
    if (count === undefined || !canCount(this.#context.graph, this.conjuncts, by)) return undefined;
    const variables = [...by, count].map((name) => ({ name, certain: true }));
    return new PatternClause(this.conjuncts, this.#context, { variables, conditions: [], distinct: false, count });
  }

  #planned(): PlannedGroup {
    const variables = new Set(this.variables.map(({ name }) => name));
    this.#plan ??= planGroup(this.#context.graph, this.conjuncts, { ...this.#demand, variables });
    return this.#plan;
  }
}

type Demand = Omit<GroupDemand, "variables">;

interface Shown extends Demand {
  readonly variables: readonly ClauseVariable[];
}

/** Makes the leaves of one execution over its merged graph. */
export class PatternLeaves {
  readonly use: QueryUse;
  readonly #group: GroupContext;
  #variables = 0;

  constructor(use: QueryUse, group: GroupContext) {
    this.use = use;
    this.#group = group;
  }

  fresh(): RDF.Variable {
    return patternVariable(`fedway_${this.#variables++}`);
  }

  /** The leaf of a group of patterns. */
  leaf(conjuncts: readonly Conjunct[]): PatternClause {
    const { use } = this;
    for (const conjunct of conjuncts) {
      use.add(patternsOf(conjunct));
      if (rangesOverAll(conjunct, conjuncts)) use.add([anyTriple]);
    }
    return this.demanding(conjuncts, { conditions: [], distinct: false });
  }

  /** The leaf of a group of patterns of which this is wanted. */
  demanding(conjuncts: readonly Conjunct[], demand: Demand): PatternClause {
    const variables = groupVariables(conjuncts).filter(({ name }) =>
      this.use.isNeeded(name, placesIn(conjuncts, name)),
    );
    const optional: readonly Conjunct[] =
      demand.optionals?.flat().map((pattern) => ({ kind: "triple", pattern }) as const) ?? [];
    const others = groupVariables(optional).filter(
      ({ name }) =>
        !groupVariables(conjuncts).some((known) => known.name === name) &&
        this.use.isNeeded(name, placesIn(optional, name)),
    );
    const shown = [...variables, ...others.map(({ name }) => ({ name, certain: false }))];
    return new PatternClause(conjuncts, this.#group, { ...demand, variables: shown });
  }

  /** Whether OPTIONAL patterns can be asked along with a group; nothing else gives their variables values. */
  takesAlong(conjuncts: readonly Conjunct[], optional: readonly TriplePattern[]): boolean {
    const known = new Set(groupVariables(conjuncts).map(({ name }) => name));
    const own = optional.flatMap((pattern) => variablesOf(pattern)).filter((name) => !known.has(name));
    return (
      own.every((name) => this.use.isBoundIn(name, placesOf(name, optional))) &&
      takesAlong(this.#group.graph, conjuncts, optional)
    );
  }
}

/** A zero-length path between two variables that nothing beside it in the group binds: it ranges over all nodes. */
function rangesOverAll(conjunct: Conjunct, group: readonly Conjunct[]): boolean {
  if (conjunct.kind === "union") {
    return conjunct.branches.some((branch) => branch.some((part) => rangesOverAll(part, branch)));
  }
  if (conjunct.kind !== "path" || !canBeEmpty(conjunct.path)) return false;
  const names = [conjunct.subject, conjunct.object].flatMap((t) => (t.termType === "Variable" ? [t.value] : []));
  const others = groupVariables(group.filter((other) => other !== conjunct));
  return names.length === 2 && !others.some(({ name }) => names.includes(name));
}
