import type { FederatedClause } from "../plan/query-plan.ts";
import type { Bindings } from "../results/model.ts";
import { hasBlankNode } from "../results/terms.ts";
import type { ClauseExecutor } from "./clause-executor.ts";
import type { KeyBlock } from "./clause-query.ts";
import { type HeldBytes, takenIn } from "./held-bytes.ts";
import { KeyedRows } from "./evaluated-clause.ts";

/** Options of asking a clause. */
export interface LabelledRowsOptions {
  readonly executor: ClauseExecutor;
  /** Variables whose blank nodes the query compares or distinguishes. */
  readonly identified: (variable: string) => boolean;
  /** Memory account of the evaluation. */
  readonly held: HeldBytes;
  /** The clause is asked more often than its keys say: it stands in an operation that is evaluated for several blocks. */
  readonly inBlocks?: (() => boolean) | undefined;
}

/**
 * A clause's solutions, asked block by block, with one label for each blank node that the query distinguishes.
 * An endpoint labels them anew in each answer, so as soon as such a node turns up in one of several answers, all solutions
 * with one are taken in with one request, and from then on they come from there. Nodes that are only handed on, to a row or
 * a CONSTRUCT template, keep the label of their answer: the same is said of each of them.
 * @returns the solutions for keys, or those of the clause with further conditions
 */
export function createLabelledRows(
  clause: FederatedClause,
  { executor, identified, held, inBlocks }: LabelledRowsOptions,
): (keys: KeyBlock | undefined, narrowed?: FederatedClause) => AsyncIterable<readonly Bindings[]> {
  // EXISTS: its solutions are not visible outside.
  if (clause.substituted) return (keys) => executor.solutions(clause, keys);
  let whole: Promise<KeyedRows> | undefined;
  let asked = false;

  async function takeWhole(names: readonly string[]): Promise<KeyedRows> {
    // Held until the execution ends.
    const rows = await takenIn(executor.solutions(onlyBlank(clause, names)), held.open());
    return new KeyedRows(rows.filter((row) => hasBlank(row, names)));
  }

  /** True if one request gives all solutions; its answer labels their nodes once. */
  const isAlone = (keys: KeyBlock | undefined): boolean =>
    inBlocks?.() !== true && (keys ? keys.only === true : !asked);

  return async function* solutions(keys, narrowed = clause) {
    let isOnly = isAlone(keys);
    const onDivided = (): void => {
      isOnly = false;
    };
    asked = true;
    let names: readonly string[] | undefined;
    let isPutAside = false;
    for await (const rows of executor.solutions(narrowed, keys, onDivided)) {
      if (isOnly || !rows.some((row) => hasBlank(row))) {
        yield rows;
        continue;
      }
      const told = (names ??= clause.variables.flatMap(({ name }) => (identified(name) ? [name] : [])));
      const passed = rows.filter((row) => !hasBlank(row, told));
      isPutAside ||= passed.length < rows.length;
      yield passed;
    }
    if (!isPutAside || !names) return;
    whole ??= takeWhole(names);
    const taken = await whole;
    yield keys ? [...taken.joined(keys)] : taken.rows;
  };
}

/** The clause's solutions with a blank node for one of the variables. */
function onlyBlank(clause: FederatedClause, names: readonly string[]): FederatedClause {
  const tests = names.map((name) => `isBlank(?${name})`).join(" || ");
  return { ...clause, limit: undefined, pattern: `{ ${clause.pattern} FILTER(${tests}) }` };
}

function hasBlank(row: Bindings, names: Iterable<string> = row.keys()): boolean {
  for (const name of names) if (hasBlankNode(row.get(name))) return true;
  return false;
}
