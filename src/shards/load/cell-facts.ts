import { FedwayError } from "../../errors/fedway-error.ts";
import { compareText } from "../../rdf/canonical.ts";
import type { Cell } from "../problem.ts";

/** More cells than this no solver can place. */
export const maxCells = 1_000_000;

/** The error of a dataset that has more. */
export const tooManyCells = (): FedwayError =>
  new FedwayError("DATASET_INVALID", `The dataset has more than ${maxCells} combinations of classes and predicates.`, {
    next: "Leave out predicates or classes that no query asks for.",
  });

/** The dataset as rules see it. A statement that the inputs repeat counts as often as it stands there. */
export interface LearnedCells {
  /** By classes, predicate and bucket. */
  readonly cells: readonly Cell[];
  /** Of each cell, the bytes of its statements as canonical lines. */
  readonly bytes: readonly number[];
  /** Of each query the cells, by their place in `cells`, with a triple that one of its patterns matches. */
  readonly touches: readonly (readonly number[])[];
}

/** The same as one reader saw it, of a part of the inputs; a JSON value. */
export interface CellFacts {
  /** By the reader's numbers. */
  readonly cells: readonly (Cell & { readonly bytes: number })[];
  /** Of each query the reader's numbers. */
  readonly touches: readonly (readonly number[])[];
}

/** What several readers saw together. */
export interface MergedCells {
  readonly learned: LearnedCells;
  /** Of each reader: where its cells have gone. */
  readonly places: readonly Uint32Array[];
}

interface Met {
  readonly types: string;
  readonly cell: CellFacts["cells"][number];
  triples: number;
  bytes: number;
  /** Reader and number. */
  readonly at: (readonly [number, number])[];
}

/** Puts together what readers of parts saw; the order of the parts makes no difference. */
export function mergeCells(parts: readonly CellFacts[]): MergedCells {
  const met = [...metIn(parts)].toSorted(
    (left, right) =>
      compareText(left.types, right.types) ||
      compareText(left.cell.predicate, right.cell.predicate) ||
      left.cell.bucket - right.cell.bucket,
  );
  const places = parts.map(({ cells }) => new Uint32Array(cells.length));
  met.forEach(({ at }, place) => {
    for (const [reader, number] of at) places[reader]![number] = place;
  });
  const learned = {
    cells: met.map(({ cell: { types, predicate, bucket }, triples }) => ({ types, predicate, bucket, triples })),
    bytes: met.map(({ bytes }) => bytes),
    touches: touchesOf(parts, places),
  };
  return { learned, places };
}

function metIn(parts: readonly CellFacts[]): Iterable<Met> {
  const met = new Map<string, Met>();
  parts.forEach(({ cells }, reader) =>
    cells.forEach((cell, number) => {
      const types = cell.types.join(" ");
      const key = `${types}\n${cell.predicate}\n${cell.bucket}`;
      const known = met.get(key) ?? { types, cell, triples: 0, bytes: 0, at: [] };
      known.triples += cell.triples;
      known.bytes += cell.bytes;
      known.at.push([reader, number]);
      met.set(key, known);
    }),
  );
  return met.values();
}

function touchesOf(parts: readonly CellFacts[], places: readonly Uint32Array[]): LearnedCells["touches"] {
  return (parts[0]?.touches ?? []).map((_, query) => {
    const found = new Set<number>();
    parts.forEach(({ touches }, reader) => {
      for (const number of touches[query] ?? []) found.add(places[reader]![number]!);
    });
    return [...found].toSorted((left, right) => left - right);
  });
}
