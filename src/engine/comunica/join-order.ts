import type { IJoinEntry } from "@comunica/types";

/**
 * The order in which clauses are asked: the most selective first, then always one that shares a variable with what is
 * bound already, so that keys can be sent along and no product of unrelated solutions is made; ties keep the order of
 * the query's text.
 */
export async function joinOrder(entries: readonly IJoinEntry[], bound: readonly string[]): Promise<IJoinEntry[]> {
  const known = new Set(bound);
  const rest = await Promise.all(
    entries.map(async (entry) => {
      const { cardinality, variables } = await entry.output.metadata();
      return { entry, size: cardinality.value, variables: variables.map(({ variable }) => variable.value) };
    }),
  );
  const ordered: IJoinEntry[] = [];
  while (rest.length > 0) {
    const connected = rest.filter(({ variables }) => variables.some((name) => known.has(name)));
    const candidates = connected.length > 0 ? connected : rest;
    const best = candidates.reduce((least, candidate) => (candidate.size < least.size ? candidate : least));
    rest.splice(rest.indexOf(best), 1);
    for (const name of best.variables) known.add(name);
    ordered.push(best.entry);
  }
  return ordered;
}
