import oxigraph from "oxigraph";
import { unitText, type Triple } from "../described-data.ts";

/** The data of a simulated engine: the whole, and what a query that was ended early may have seen. */
export interface SimulatedStore {
  /** SPARQL results as JSON; `share` is the part of the data, in load order, that is looked at. */
  answer(query: string, share?: number): string;
  /** Solutions of a group graph pattern over the whole data. */
  countSolutions(group: string): number;
}

const shares = [0.2, 0.4, 0.6, 0.8] as const;
const chunkLength = 32_768;
const maxCounts = 20_000;

/** Loads units whose blank nodes are their own. Parts of the data are kept only where they are asked for. */
export function createSimulatedStore(units: Iterable<readonly Triple[]>, withParts: boolean): SimulatedStore {
  const texts = [...chunks(units)];
  const whole = load(texts);
  const parts = withParts ? shares.map((share) => load(partOf(texts, share))) : [];
  const counts = new Map<string, number>();
  return {
    answer(query, share = 1) {
      const index = shares.findLastIndex((one) => one <= share);
      const store = share >= 1 ? whole : (parts[Math.max(0, index)] ?? whole);
      const text = store.query(query, { results_format: "json" });
      if (typeof text !== "string") throw new Error("Oxigraph gave no text");
      return text;
    },
    countSolutions(group) {
      const known = counts.get(group);
      if (known !== undefined) return known;
      const rows = whole.query(`SELECT (COUNT(*) AS ?solutions) WHERE ${group}`);
      const first = Array.isArray(rows) ? rows[0] : undefined;
      const count = first instanceof Map ? Number(first.get("solutions")?.value) : Number.NaN;
      if (counts.size < maxCounts) counts.set(group, count);
      return count;
    },
  };
}

/** Units are never cut: a blank node keeps its identity only within one document. */
function* chunks(units: Iterable<readonly Triple[]>): Generator<string> {
  let text = "";
  for (const unit of units) {
    text += unitText(unit);
    if (text.length < chunkLength) continue;
    yield text;
    text = "";
  }
  yield text;
}

function partOf(texts: readonly string[], share: number): readonly string[] {
  const total = texts.reduce((sum, { length }) => sum + length, 0);
  let size = 0;
  return texts.filter(({ length }) => (size += length) <= total * share);
}

function load(texts: readonly string[]): oxigraph.Store {
  const store = new oxigraph.Store();
  for (const text of texts) store.load(text, { format: "application/n-triples", no_transaction: true });
  return store;
}
