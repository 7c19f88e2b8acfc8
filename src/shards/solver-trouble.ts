import { FedwayError } from "../errors/fedway-error.ts";

/**
 * The words of a solver that failed: what is known without it is used then. @throws any other error
 */
export function solverTrouble(error: unknown): string {
  if (error instanceof FedwayError && error.code === "SOLVER_FAILED") return error.message;
  throw error;
}
