import type * as RDF from "@rdfjs/types";
import { AlgebraFactory, type Algebra } from "@comunica/utils-algebra";
import { MetadataValidationState } from "@comunica/utils-metadata";
import type {
  BindingsStream,
  ComunicaDataFactory,
  FragmentSelectorShape,
  IQuerySource,
  MetadataBindings,
} from "@comunica/types";
import type { ClauseVariable } from "../../plan/query-plan.ts";
import type { Bindings } from "../../results/model.ts";
import type { KeyBlock } from "../clause-query.ts";
import type { HeldBytes } from "../held-bytes.ts";
import { PulledStream, type RunControl } from "./execution.ts";
import { Row } from "./row.ts";

// For a clause that has not been asked before: one value for all keeps the textual order. Rather large, so that one that is
// known to have some thousand solutions comes before one that may have millions.
const UNKNOWN_CARDINALITY = 10_000;
const MOST_SELECTIVE = 6;

/** What a leaf of the algebra stands for: a SERVICE clause, or a group of patterns over a merged graph. */
export interface LeafClause extends LeafVariables {
  /** All variables may be left unbound by a failure. */
  readonly silent: boolean;
  /** Variable without a key for which it cannot be asked, and which all of its solutions bind (`SERVICE ?g`). */
  readonly targetVariable?: string | undefined;
  readonly selectivity: number;
  /** About how many solutions it has, where that is known. */
  readonly size?: number | undefined;
  /** Key of the learned block sizes. */
  readonly blocksOf: string;
  /** Keys may be blank nodes, whose labels stand for one node throughout the execution. */
  readonly blankKeys: boolean;
  /** Variables for which substituting a value is not the same as joining it. */
  readonly correlated?: readonly string[] | undefined;
  /** The same clause with the keys for these variables substituted. */
  substituting?(variables: readonly string[]): LeafClause;
  /** Those of a clause that was made so. */
  readonly substituted?: readonly string[] | undefined;
  /** Says that an operation around it is evaluated for several blocks of keys. */
  askedInBlocks?(): void;
  /** Its solutions as they come, compatible with one of the keys when given, whose variables they bind. */
  solutions(keys: KeyBlock | undefined): AsyncIterable<readonly Bindings[]>;
}

/** What the sources of one execution share. */
export interface SourceContext {
  readonly control: RunControl;
  readonly dataFactory: ComunicaDataFactory;
}

/** One leaf as a Comunica query source. It takes its own leaf and nothing else, so no operator is pushed into it. */
export class ClauseSource implements IQuerySource {
  readonly referenceValue: string;
  readonly clause: LeafClause;
  readonly #context: SourceContext;

  constructor(clause: LeafClause, context: SourceContext) {
    this.clause = clause;
    this.referenceValue = clause.iri;
    this.#context = context;
  }

  /** What the execution holds. */
  get held(): HeldBytes {
    return this.#context.control.held;
  }

  async getFilterFactor(): Promise<number> {
    return 0;
  }

  async getSelectorShape(): Promise<FragmentSelectorShape> {
    const { dataFactory } = this.#context;
    const variable = (name: string) => dataFactory.variable(name);
    const pattern = new AlgebraFactory(dataFactory).createPattern(variable("s"), variable("p"), variable("o"));
    return { type: "operation", operation: { operationType: "pattern", pattern } };
  }

  /** Solutions of the leaf; the request goes out when the first one is read. */
  queryBindings(): BindingsStream {
    const stream = this.stream(() => this.solutions(undefined));
    stream.setProperty("metadata", this.metadata());
    return stream;
  }

  /** The source of the same clause with the keys for these variables substituted. */
  substituting(variables: readonly string[]): ClauseSource {
    return new ClauseSource(this.clause.substituting?.(variables) ?? this.clause, this.#context);
  }

  /** Bindings as a stream of this execution, which they end with. */
  stream(open: () => AsyncIterable<readonly RDF.Bindings[]>): BindingsStream {
    return new PulledStream(open, this.#context.control) as unknown as BindingsStream;
  }

  /** The clause's solutions as Comunica bindings. */
  async *solutions(keys: KeyBlock | undefined): AsyncIterable<readonly RDF.Bindings[]> {
    // A blank node is not known under any name at an endpoint: no solution can be compatible with it.
    if (!this.clause.blankKeys && keys?.rows.every((row) => hasBlankNode(row))) return;
    for await (const rows of this.clause.solutions(keys)) yield rows.map((row) => new Row(row));
  }

  /** The clause's variables; those of a SILENT clause may all be left unbound by its failure. */
  variables(): readonly ClauseVariable[] {
    const { variables, silent, targetVariable } = this.clause;
    return silent ? variables.map(({ name }) => ({ name, certain: name === targetVariable })) : variables;
  }

  metadata(): MetadataBindings {
    return {
      state: new MetadataValidationState(),
      cardinality: { type: "estimate", value: this.#size() },
      variables: this.variables().map(({ name, certain }) => ({
        variable: this.#context.dataFactory.variable(name),
        canBeUndef: !certain,
      })),
    };
  }

  #size(): number {
    const { size, selectivity } = this.clause;
    return size ?? UNKNOWN_CARDINALITY / 10 ** Math.min(selectivity, MOST_SELECTIVE);
  }

  queryQuads(): never {
    throw new Error("A leaf gives solutions, not quads");
  }

  queryBoolean(): never {
    throw new Error("A leaf gives solutions, not a boolean");
  }

  queryVoid(): never {
    throw new Error("A leaf is read only");
  }

  toString(): string {
    return `ClauseSource(${this.clause.iri})`;
  }
}

const hasBlankNode = (row: readonly RDF.Term[]): boolean => row.some(({ termType }) => termType === "BlankNode");

const CONS = "urn:fedway:cons";
const NIL = "urn:fedway:nil";

/** What a leaf shows of what it stands for. */
interface LeafVariables {
  readonly iri: string;
  readonly variables: readonly ClauseVariable[];
}

/**
 * A SERVICE clause or a group of patterns as a leaf of Comunica's algebra: one quad pattern whose subject is a list of the clause's variables,
 * as nested quoted triples. All of Comunica's visitors see the variables, none sees the body.
 */
export function toLeaf(clause: LeafVariables, dataFactory: ComunicaDataFactory): Algebra.Pattern {
  const nil = dataFactory.namedNode(NIL);
  const cons = dataFactory.namedNode(CONS);
  const list = clause.variables.reduceRight<RDF.Quad_Subject>(
    (rest, variable) => dataFactory.quad(dataFactory.variable(variable.name), cons, rest),
    nil,
  );
  return new AlgebraFactory(dataFactory).createPattern(list, dataFactory.namedNode(clause.iri), nil);
}
