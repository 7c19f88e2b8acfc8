import { toAlgebra } from "@traqula/algebra-sparql-1-2";
import { Parser } from "@traqula/parser-sparql-1-2";
import { DataFactory } from "rdf-data-factory";
import {
  type AlgebraHost,
  createAlgebraEngine,
  type EngineOptions,
} from "../../src/engine/evaluator/algebra-engine.ts";
import { createComunicaEngine } from "../../src/engine/comunica/comunica-engine.ts";
import { toParserText, withFreshVariables } from "../../src/engine/comunica/parser-text.ts";
import type { Operation } from "../../src/engine/evaluator/algebra.ts";
import type { Evaluate } from "../../src/engine/evaluator/execution.ts";
import { operators } from "../../src/engine/evaluator/operators.ts";
import type { FederationEngine } from "../../src/engine/executor.ts";

/** The parser that Comunica has, without Comunica, and the dispatcher that needs no host. */
function plainHost(): AlgebraHost {
  const parser = new Parser();
  return {
    async parse(skeleton) {
      const tree = parser.parse(toParserText(skeleton));
      const options = { quads: true, blankToVariable: true, dataFactory: withFreshVariables(new DataFactory()) };
      const base = "context" in tree ? tree.context.findLast(({ subType }) => subType === "base") : undefined;
      return {
        operation: toAlgebra(tree, options) as unknown as Operation,
        base: base && "value" in base ? base.value.value : undefined,
      };
    },
    evaluate: dispatch,
  };
}

/** Evaluates an operation by the operator of its type. */
const dispatch: Evaluate = async (operation, execution) => {
  const operator = operators.get(operation.type);
  if (!operator) throw new Error(`No operator evaluates ${operation.type}`);
  return operator(operation, execution);
};

/** The engine of the product, and its twin: the same operators without Comunica. */
export const engines = {
  comunica: createComunicaEngine,
  plain: (options: EngineOptions): FederationEngine => createAlgebraEngine(options, plainHost()),
} as const;

/** The engine that tests are run with: `FEDWAY_TEST_ENGINE=plain` makes it the twin. */
export const createTestedEngine = process.env["FEDWAY_TEST_ENGINE"] === "plain" ? engines.plain : engines.comunica;
