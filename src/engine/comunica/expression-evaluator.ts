import type {
  ActorExpressionEvaluatorFactory,
  IActionExpressionEvaluatorFactory,
  IActorExpressionEvaluatorFactoryOutput,
} from "@comunica/bus-expression-evaluator-factory";
import { ActionContextKey } from "@comunica/core";
import type { Algebra } from "@comunica/utils-algebra";
import { ExpressionError as ComunicaExpressionError } from "@comunica/utils-expression-evaluator";
import type * as RDF from "@rdfjs/types";
import { toFedwayError } from "../../errors/fedway-error.ts";
import { ExpressionError } from "../expressions/expression-error.ts";
import type { Surroundings } from "../expressions/functions.ts";
import { boolean, truthOf } from "../expressions/values.ts";
import { Awaited, compileExpression } from "./compile-expression.ts";
import { controlKey } from "./execution-keys.ts";
import type { Existence } from "./existence.ts";

/** What the functions of an execution know of their query. */
export const surroundingsKey = new ActionContextKey<Surroundings>("fedway:surroundings");

/**
 * Expressions are evaluated by our own functions (../expressions), which compute exactly and by the specification where
 * Comunica's do not. What looks beyond terms is not theirs: the pattern of EXISTS, and BNODE, which is left to Comunica.
 */
export function evaluateExpressions(factory: ActorExpressionEvaluatorFactory, existence: Existence): void {
  const run = factory.run.bind(factory);
  factory.run = async (action, sideData) =>
    createEvaluator(action, async (asked, row) => {
      if (asked.subType === "existence") {
        return boolean(await existence.value(asked as Algebra.ExistenceExpression, row, action.context));
      }
      return (await run({ ...action, algExpr: asked }, sideData)).evaluate(row);
    });
}

type BeyondTerms = (asked: Algebra.Expression, row: RDF.Bindings) => Promise<RDF.Term>;

// Made once: Comunica reads nothing of it but its kind.
const noValue = new ComunicaExpressionError("The expression has no value.");
const nothingKnown: ReadonlyMap<Algebra.Expression, RDF.Term> = new Map();

function createEvaluator(
  { algExpr, context }: IActionExpressionEvaluatorFactory,
  beyondTerms: BeyondTerms,
): IActorExpressionEvaluatorFactoryOutput {
  const compiled = compileExpression(algExpr, context.getSafe(surroundingsKey));
  const valueOf = async (row: RDF.Bindings): Promise<RDF.Term> => {
    for (let known = nothingKnown; ; ) {
      try {
        return compiled({ row, known });
      } catch (thrown) {
        if (thrown instanceof ExpressionError) throw noValue;
        if (!(thrown instanceof Awaited)) throw thrown;
        known = new Map(known).set(thrown.part, await awaited(thrown, row));
      }
    }
  };
  const awaited = async ({ asked }: Awaited, row: RDF.Bindings): Promise<RDF.Term> => {
    try {
      return await beyondTerms(asked, row);
    } catch (error) {
      // The pattern of EXISTS could not be evaluated: no error of the expression, but of the query.
      context.getSafe(controlKey).fail(toFedwayError(error));
      throw noValue;
    }
  };
  return {
    context,
    evaluate: valueOf,
    evaluateAsEBV: async (row) => truth(await valueOf(row)),
    evaluateAsEvaluatorExpression: unused,
    evaluatorExpressionEvaluation: unused,
  };
}

async function unused(): Promise<never> {
  throw new Error("Comunica's own expressions are not evaluated");
}

function truth(term: RDF.Term): boolean {
  try {
    return truthOf(term);
  } catch {
    throw noValue;
  }
}

/** What the functions of one execution are given. */
export const surroundingsIn = (base: string | undefined): Surroundings => ({ base, now: new Date().toISOString() });
