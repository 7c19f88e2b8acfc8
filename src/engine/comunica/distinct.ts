import type * as RDF from "@rdfjs/types";
import type { IActionContext, IQueryOperationResult } from "@comunica/types";
import type { Algebra } from "@comunica/utils-algebra";
import { termsText } from "../clause-query.ts";
import { type Holding, keyBytes } from "../held-bytes.ts";
import { batches, type OperatorArgs, SolutionOperator } from "./clause-operands.ts";
import { controlKey, passedOn } from "./execution.ts";

/** DISTINCT: each solution once, and what is remembered for that is counted. */
export class Distinct extends SolutionOperator<Algebra.Distinct> {
  constructor(args: OperatorArgs) {
    super(args, "distinct");
  }

  protected override async runOperation(
    { input }: Algebra.Distinct,
    context: IActionContext,
  ): Promise<IQueryOperationResult> {
    const { held } = context.getSafe(controlKey);
    const output = await this.operand(input, context);
    const variables = (await output.metadata()).variables.map(({ variable }) => variable);
    const key = (row: RDF.Bindings): string => keyText(row, variables);
    return {
      type: "bindings",
      metadata: output.metadata,
      bindingsStream: passedOn(context, () => once(batches(output), key, held.open())),
    };
  }
}

/** Items whose key did not come before. */
export async function* once<T>(
  items: AsyncIterable<readonly T[]>,
  keyOf: (item: T) => string,
  held: Holding,
): AsyncIterable<readonly T[]> {
  const seen = new Set<string>();
  const isNew = (item: T): boolean => {
    const key = keyOf(item);
    if (seen.has(key)) return false;
    held.add(keyBytes(key));
    seen.add(key);
    return true;
  };
  try {
    for await (const batch of items) yield batch.filter(isNew);
  } finally {
    held.release();
  }
}

/** A text that no other terms of these variables have, bound or not (SPARQL 1.1 Query, section 18.5.1). */
export function keyText(bindings: RDF.Bindings, variables: readonly RDF.Variable[]): string {
  return termsText(variables.map((variable) => bindings.get(variable)));
}
