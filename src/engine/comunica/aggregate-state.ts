import type { IActorBindingsAggregatorFactoryOutput } from "@comunica/bus-bindings-aggregator-factory";
import type * as RDF from "@rdfjs/types";
import { type Holding, keyBytes, termBytes } from "../held-bytes.ts";
import { keyText } from "./group-keys.ts";
import { longestComputed, tooLong } from "./guarded-expressions.ts";

/** What Comunica's aggregators keep to themselves. */
interface Inside {
  /** A text, a term, a number or a sum. */
  state?: unknown;
  /** Values that a DISTINCT aggregate has seen. */
  variableValues?: Set<string>;
  /** Of COUNT(DISTINCT *): whether a row was seen before. */
  handleDistinct?: (row: RDF.Bindings) => boolean;
  /** Of GROUP_CONCAT. */
  readonly separator?: string;
  putTerm: (term: RDF.Term) => void;
  readonly distinct: boolean;
}

const AGGREGATOR_BYTES = 400;

/**
 * Watches what an aggregator holds, and ends GROUP_CONCAT as an error before its text is too long. Call what is returned
 * after every row: it counts what was added, and throws when the evaluation holds too much.
 */
export function watchState(aggregator: IActorBindingsAggregatorFactoryOutput, holding: Holding): () => void {
  const inside = aggregator as unknown as Inside;
  const seen = new CountedSet();
  if (inside.variableValues) inside.variableValues = seen;
  if (inside.handleDistinct) inside.handleDistinct = (row) => inside.distinct && !seen.isNew(wholeRow(row));
  if (inside.separator !== undefined) boundText(inside, inside.separator);
  let counted = 0;
  holding.add(AGGREGATOR_BYTES);
  return () => {
    const bytes = stateBytes(inside.state) + seen.bytes;
    if (bytes !== counted) holding.add(bytes - counted);
    counted = bytes;
  };
}

class CountedSet extends Set<string> {
  bytes = 0;

  override add(value: string): this {
    if (!this.has(value)) this.bytes += keyBytes(value);
    return super.add(value);
  }

  isNew(value: string): boolean {
    const known = this.has(value);
    this.add(value);
    return !known;
  }
}

function wholeRow(row: RDF.Bindings): string {
  const variables = [...row.keys()].toSorted((a, b) => (a.value < b.value ? -1 : 1));
  return `${variables.map(({ value }) => value).join(" ")} ${keyText(row, variables)}`;
}

function boundText(inside: Inside, separator: string): void {
  const putTerm = inside.putTerm.bind(inside);
  inside.putTerm = (term) => {
    const { state } = inside;
    const length = typeof state === "string" ? state.length + separator.length : 0;
    if (length + term.value.length > longestComputed) {
      inside.state = undefined;
      throw tooLong();
    }
    putTerm(term);
  };
}

function stateBytes(state: unknown): number {
  if (typeof state === "string") return 2 * state.length;
  const term = state as Partial<RDF.Term> | undefined;
  return typeof term?.value === "string" ? termBytes(state as RDF.Term) : 0;
}
