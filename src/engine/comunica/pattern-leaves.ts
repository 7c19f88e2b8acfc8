import type { Bindings } from "../../results/model.ts";
import type { KeyBlock } from "../clause-query.ts";
import type { ClauseVariable } from "../../plan/federated-clause.ts";
import type { ComunicaDataFactory } from "@comunica/types";
import type * as RDF from "@rdfjs/types";
import { anyTriple, canBeEmpty } from "../sources/property-path.ts";
import { ClauseSource, type LeafClause, type SourceContext } from "./clause-source.ts";
import { type Conjunct, groupSelectivity, groupVariables, patternsOf } from "./conjuncts.ts";
import { type GroupContext, groupSolutions } from "./pattern-group.ts";
import type { QueryUse } from "./query-use.ts";

/** A group of patterns over the merged graph of an execution, as a leaf of the algebra. */
export class PatternClause implements LeafClause {
  readonly iri: string;
  readonly variables: readonly ClauseVariable[];
  readonly silent = false;
  readonly blankKeys = true;
  readonly selectivity: number;
  readonly blocksOf: string;
  readonly conjuncts: readonly Conjunct[];
  readonly #context: GroupContext;

  constructor(conjuncts: readonly Conjunct[], context: GroupContext, { iri, variables }: Shown) {
    this.iri = iri;
    this.variables = variables;
    this.conjuncts = conjuncts;
    this.selectivity = groupSelectivity(conjuncts);
    this.blocksOf = context.blocksOf;
    this.#context = context;
  }

  async *solutions(keys: KeyBlock | undefined): AsyncIterable<Bindings> {
    const shown = new Set([...this.variables.map(({ name }) => name), ...(keys?.variables ?? [])]);
    for await (const row of groupSolutions(this.#context, this.conjuncts, keys)) {
      const hides = [...row.keys()].some((name) => !shown.has(name));
      yield hides ? new Map([...row].filter(([name]) => shown.has(name))) : row;
    }
  }
}

interface Shown {
  readonly iri: string;
  readonly variables: readonly ClauseVariable[];
}

/** Makes the leaves of one execution. */
export interface PatternLeaves {
  readonly use: QueryUse;
  fresh(): RDF.Variable;
  variable(name: string): RDF.Variable;
  /** The leaf of a group of patterns. */
  leaf(conjuncts: readonly Conjunct[]): ClauseSource;
}

/** Creates the maker of leaves over one merged graph. */
export function createPatternLeaves(use: QueryUse, group: GroupContext, source: SourceContext): PatternLeaves {
  const { dataFactory }: { dataFactory: ComunicaDataFactory } = group;
  let variables = 0;
  let leaves = 0;
  return {
    use,
    fresh: () => dataFactory.variable(`fedway_${variables++}`),
    variable: (name) => dataFactory.variable(name),
    leaf(conjuncts) {
      for (const conjunct of conjuncts) {
        use.add(patternsOf(conjunct));
        if (rangesOverAll(conjunct, conjuncts)) use.add([anyTriple]);
      }
      const shown = {
        iri: `urn:fedway:patterns:${leaves++}`,
        variables: groupVariables(conjuncts).filter(({ name }) => use.isVisible(name)),
      };
      return new ClauseSource(new PatternClause(conjuncts, group, shown), source);
    },
  };
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
