import type * as RDF from "@rdfjs/types";
import { KeysInitQuery } from "@comunica/context-entries";
import type { ComunicaDataFactory, IActionContext, IQueryOperationResult } from "@comunica/types";
import type { Algebra } from "@comunica/utils-algebra";
import { batches, type OperatorArgs, SolutionOperator } from "./clause-operands.ts";
import { controlKey, createTurns, passedOn, type Turns } from "./execution.ts";
import type { ValueOf } from "./expression-evaluator.ts";
import { isTrace } from "../provenance.ts";
import { Row, termsOf } from "./row.ts";

// Operators that look at one solution at a time. Those of Comunica take a turn of the event loop's queue for each.

type Rows = AsyncIterable<readonly RDF.Bindings[]>;

/** FILTER: the solutions for which a condition is true. */
export class Filter extends SolutionOperator<Algebra.Filter> {
  constructor(args: OperatorArgs) {
    super(args, "filter");
  }

  protected override async runOperation(
    { input, expression }: Algebra.Filter,
    context: IActionContext,
  ): Promise<IQueryOperationResult> {
    const output = await this.operand(input, context);
    const isTrue = this.args.expressions.condition(expression, context);
    const turns = createTurns(context.getSafe(controlKey).signal);
    const bindingsStream = passedOn(context, () => filtered(batches(output), isTrue, turns));
    return { type: "bindings", bindingsStream, metadata: output.metadata };
  }
}

async function* filtered(
  rows: Rows,
  isTrue: (row: RDF.Bindings) => boolean | Promise<boolean>,
  turns: Turns,
): AsyncIterable<readonly RDF.Bindings[]> {
  for await (const batch of rows) {
    const kept: RDF.Bindings[] = [];
    for (const row of batch) {
      const pause = turns();
      if (pause) await pause;
      const verdict = isTrue(row);
      if (verdict instanceof Promise ? await verdict : verdict) kept.push(row);
    }
    yield kept;
  }
}

/** BIND, and expressions of SELECT: solutions with one more variable, where the expression has a value. */
export class Extend extends SolutionOperator<Algebra.Extend> {
  constructor(args: OperatorArgs) {
    super(args, "extend");
  }

  protected override async runOperation(
    { input, expression, variable }: Algebra.Extend,
    context: IActionContext,
  ): Promise<IQueryOperationResult> {
    const output = await this.operand(input, context);
    const extension = {
      name: variable.value,
      valueOf: this.args.expressions.compile(expression, context),
      turns: createTurns(context.getSafe(controlKey).signal),
    };
    return {
      type: "bindings",
      bindingsStream: passedOn(context, () => extended(batches(output), extension)),
      metadata: async () => {
        const known = await output.metadata();
        return { ...known, variables: [...known.variables, { variable, canBeUndef: true }] };
      },
    };
  }
}

interface Extension {
  readonly name: string;
  readonly valueOf: ValueOf;
  readonly turns: Turns;
}

// Computed texts may be long: more of them than this do not wait in one batch.
const LONGEST_BATCH = 64 * 1024;

async function* extended(rows: Rows, { name, valueOf, turns }: Extension): AsyncIterable<readonly RDF.Bindings[]> {
  for await (const batch of rows) {
    let made: RDF.Bindings[] = [];
    let length = 0;
    for (const row of batch) {
      const pause = turns();
      if (pause) await pause;
      const found = valueOf(row);
      const term = found instanceof Promise ? await found : found;
      made.push(term ? new Row(new Map(termsOf(row)).set(name, term)) : row);
      length += term?.value.length ?? 0;
      if (length <= LONGEST_BATCH) continue;
      yield made;
      made = [];
      length = 0;
    }
    yield made;
  }
}

/** SELECT: solutions with some of their variables. */
export class Project extends SolutionOperator<Algebra.Project> {
  constructor(args: OperatorArgs) {
    super(args, "project");
  }

  protected override async runOperation(
    { input, variables }: Algebra.Project,
    context: IActionContext,
  ): Promise<IQueryOperationResult> {
    const output = await this.operand(input, context);
    const metadata = await output.metadata();
    const known = new Map(metadata.variables.map((entry) => [entry.variable.value, entry]));
    const names = variables.map(({ value }) => value);
    const hides = [...known.keys()].some((name) => !names.includes(name));
    const ownNodes = nodesOfSolutions(context.getSafe(KeysInitQuery.dataFactory));
    const { traced } = context.getSafe(controlKey);
    const projected = (row: RDF.Bindings): RDF.Bindings => ownNodes(hides ? only(row, names, traced) : row);
    const shown = variables.map((variable) => ({
      variable,
      canBeUndef: known.get(variable.value)?.canBeUndef ?? true,
    }));
    return {
      type: "bindings",
      bindingsStream: passedOn(context, () => mapped(batches(output), projected)),
      metadata: async () => ({ ...metadata, variables: shown }),
    };
  }
}

/** LIMIT and OFFSET: stops reading with the last solution, where Comunica's takes in some more. */
export class Slice extends SolutionOperator<Algebra.Slice> {
  constructor(args: OperatorArgs) {
    super(args, "slice");
  }

  protected override async runOperation(
    { input, start, length = Number.POSITIVE_INFINITY }: Algebra.Slice,
    context: IActionContext,
  ): Promise<IQueryOperationResult> {
    const rows = await this.operand(input, context);
    return {
      type: "bindings",
      bindingsStream: passedOn(context, () => sliced(batches(rows), start, length)),
      metadata: async () => {
        const metadata = await rows.metadata();
        const value = Math.max(0, Math.min(metadata.cardinality.value - start, length));
        return { ...metadata, cardinality: { ...metadata.cardinality, value } };
      },
    };
  }
}

async function* sliced(rows: Rows, start: number, length: number): AsyncIterable<readonly RDF.Bindings[]> {
  let [skipped, left] = [start, length];
  if (left <= 0) return;
  for await (const batch of rows) {
    const kept = batch.slice(skipped, skipped + left);
    skipped = Math.max(0, skipped - batch.length);
    left -= kept.length;
    yield kept;
    if (left <= 0) return;
  }
}

async function* mapped(
  rows: Rows,
  change: (row: RDF.Bindings) => RDF.Bindings,
): AsyncIterable<readonly RDF.Bindings[]> {
  for await (const batch of rows) yield batch.map(change);
}

function only(row: RDF.Bindings, names: readonly string[], traced: boolean): Row {
  const terms = new Map(traced ? [...termsOf(row)].filter(([name]) => isTrace(name)) : []);
  for (const name of names) {
    const term = row.get(name);
    if (term) terms.set(name, term);
  }
  return new Row(terms);
}

/** Nodes that BNODE() made are other ones in each solution; Comunica gives them one label until here. */
function nodesOfSolutions(dataFactory: ComunicaDataFactory): (row: RDF.Bindings) => RDF.Bindings {
  let solutions = 0;
  return (row) => {
    solutions++;
    const terms = termsOf(row);
    let own: Map<string, RDF.Term> | undefined;
    for (const [name, term] of terms) {
      if (!isScoped(term)) continue;
      own ??= new Map(terms);
      own.set(name, dataFactory.blankNode(`${term.value}${solutions}`));
    }
    return own ? new Row(own) : row;
  };
}

/** Comunica's nodes of BNODE(). */
const isScoped = (term: RDF.Term): boolean => term.termType === "BlankNode" && "singleBindingsScope" in term;
