import { describe, expect, test, vi } from "vitest";
import { createClingoSolver } from "../../../shards/src/solver/clingo-solver.ts";
import { answerSetSolverSuite } from "./answer-set-solver-suite.ts";

describe("clingo", () => {
  answerSetSolverSuite(createClingoSolver, () => createClingoSolver({ memoryBytes: 48 * 2 ** 20 }));

  test("nothing is printed", async () => {
    const written: string[] = [];
    const write = vi.spyOn(process.stdout, "write").mockImplementation((chunk) => written.push(String(chunk)) > 0);
    const solver = createClingoSolver();
    await solver.solve("solver_speaks(1..3).");
    await solver.solve("a :- b(").catch(() => undefined);
    await solver.close();
    write.mockRestore();
    expect(written.filter((text) => /solver_speaks|clingo|error/u.test(text))).toEqual([]);
  });
});
