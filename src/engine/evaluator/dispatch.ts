import type { Evaluate } from "./execution.ts";
import { operators } from "./operators.ts";

/** Evaluates an operation by the operator of its type: the dispatcher without a host. */
export const dispatch: Evaluate = async (operation, execution) => {
  const operator = operators.get(operation.type);
  if (!operator) throw new Error(`No operator evaluates ${operation.type}`);
  return operator(operation, execution);
};
