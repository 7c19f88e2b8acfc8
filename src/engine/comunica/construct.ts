import type * as RDF from "@rdfjs/types";
import { KeysInitQuery } from "@comunica/context-entries";
import type {
  IActionContext,
  IQueryOperationResult,
  IQueryOperationResultBindings,
  IQueryOperationResultQuads,
} from "@comunica/types";
import { type Algebra, AlgebraFactory } from "@comunica/utils-algebra";
import { blankNodeFromLabel, tripleFromParts } from "../../results/terms.ts";
import { termsText } from "../clause-query.ts";
import { batches, type OperatorArgs, SolutionOperator } from "./clause-operands.ts";
import { once } from "./distinct.ts";
import { controlKey, withoutCount, PulledStream } from "./execution.ts";

type Stream = IQueryOperationResultQuads["quadStream"];

/**
 * CONSTRUCT: the set of triples that the template makes of the solutions. One with an unbound variable, a literal as its
 * subject or anything but an IRI as its predicate is left out (SPARQL 1.1 Query, section 16.2).
 */
export class Construct extends SolutionOperator<Algebra.Construct> {
  constructor(args: OperatorArgs) {
    super(args, "construct");
  }

  protected override async runOperation(
    { input, template }: Algebra.Construct,
    context: IActionContext,
  ): Promise<IQueryOperationResult> {
    const dataFactory = context.getSafe(KeysInitQuery.dataFactory);
    // A projection gives the nodes that BNODE() makes their names.
    const operation = new AlgebraFactory(dataFactory).createProject(input, variablesOf(template));
    const output = await this.operand(operation, context);
    const { held } = context.getSafe(controlKey);
    return quadsOf(output, context, () => once(triplesOf(template, batches(output)), tripleKey, held.open()));
  }
}

/** Triples that are made of solutions, as a stream of the running execution. */
export function quadsOf(
  solutions: IQueryOperationResultBindings,
  context: IActionContext,
  open: () => AsyncIterable<readonly RDF.Quad[]>,
): IQueryOperationResultQuads {
  return {
    type: "quads",
    quadStream: new PulledStream(open, withoutCount(context)) as unknown as Stream,
    metadata: async () => {
      const { state, cardinality } = await solutions.metadata();
      return { state, cardinality };
    },
  };
}

function variablesOf(template: readonly Algebra.Pattern[]): RDF.Variable[] {
  const variables = new Map<string, RDF.Variable>();
  for (const { subject, predicate, object } of template) {
    for (const term of [subject, predicate, object]) if (term.termType === "Variable") variables.set(term.value, term);
  }
  return [...variables.values()];
}

async function* triplesOf(
  template: readonly Algebra.Pattern[],
  rows: AsyncIterable<readonly RDF.Bindings[]>,
): AsyncIterable<readonly RDF.Quad[]> {
  let solutions = 0;
  const instanceOf = (row: RDF.Bindings): RDF.Quad[] => {
    // Blank nodes of the template are other ones for each solution; no other label begins like this.
    const scope = `t${solutions++}_`;
    const instance = (term: RDF.Term): RDF.Term | undefined => {
      if (term.termType === "Variable") return row.get(term);
      return term.termType === "BlankNode" ? blankNodeFromLabel(scope + term.value) : term;
    };
    return template.flatMap((pattern) => {
      const [subject, predicate, object] = [pattern.subject, pattern.predicate, pattern.object].map(instance);
      return (subject && predicate && object && tripleFromParts(subject, predicate, object)) ?? [];
    });
  };
  for await (const batch of rows) yield batch.flatMap(instanceOf);
}

const tripleKey = ({ subject, predicate, object }: RDF.Quad): string => termsText([subject, predicate, object]);
