import type * as RDF from "@rdfjs/types";
import type { IActionContext, IQueryOperationResult } from "@comunica/types";
import type { Algebra } from "@comunica/utils-algebra";
import { type Holding, keyBytes } from "../held-bytes.ts";
import { type OperatorArgs, SolutionOperator } from "./clause-operands.ts";
import { controlKey, passedOn } from "./execution.ts";
import { termToText } from "../../results/terms.ts";

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
    const { bindingsStream, metadata } = await this.operand(input, context);
    const variables = (await metadata()).variables.map(({ variable }) => variable);
    const key = (row: RDF.Bindings): string => keyText(row, variables);
    return {
      type: "bindings",
      metadata,
      bindingsStream: passedOn(context, () => once(bindingsStream, key, held.open())),
    };
  }
}

/** Items whose key did not come before. */
export async function* once<T>(items: AsyncIterable<T>, keyOf: (item: T) => string, held: Holding): AsyncIterable<T> {
  const seen = new Set<string>();
  try {
    for await (const item of items) {
      const key = keyOf(item);
      if (seen.has(key)) continue;
      held.add(keyBytes(key));
      seen.add(key);
      yield item;
    }
  } finally {
    held.release();
  }
}

/** A text that no other terms of these variables have, bound or not (SPARQL 1.1 Query, section 18.5.1). */
export function keyText(bindings: RDF.Bindings, variables: readonly RDF.Variable[]): string {
  let text = "";
  for (const variable of variables) {
    const term = bindings.get(variable);
    const part = term ? termToText(term) : "";
    text += term ? `${part.length}:${part}` : "-";
  }
  return text;
}
