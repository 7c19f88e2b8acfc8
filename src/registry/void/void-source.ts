import type * as RDF from "@rdfjs/types";
import type { NodeIndex } from "./node-index.ts";
import { agreedNumber } from "./read-values.ts";
import type { Count, FactStatus } from "./void-description.ts";

/** How a statement is known. */
export interface Known {
  readonly status: FactStatus;
  readonly record: number;
}

/** What a document says about how well its statements are known. */
export interface Annotations {
  /** How a statement of a node is known. */
  known(node: RDF.Term, predicate: string): Known;
  /** Whether a list of a node is said to be complete (`fedway:classesComplete` and the like). */
  complete(node: RDF.Term, predicate: string): boolean;
  /** Fedway's own words count: zero counts, catalogue ids of linksets. */
  readonly own: boolean;
}

/** Statements of a publisher: all claimed, none complete, zeros not counted as knowledge. */
export const claimed = (record: number): Annotations => ({
  known: () => ({ status: "claimed", record }),
  complete: () => false,
  own: false,
});

/** Where the description of one dataset stands. */
export interface VoidSource {
  readonly index: NodeIndex;
  /** Nodes that describe the dataset together, e.g. a `sd:Dataset` and its default graph. */
  readonly nodes: readonly RDF.Term[];
  readonly annotations: Annotations;
}

/**
 * A count that some nodes have. Values that contradict each other are no knowledge, nor is a publisher's zero, which
 * many generators write for "not counted".
 */
export function readCount(source: VoidSource, nodes: readonly RDF.Term[], predicate: string): Count | undefined {
  const { index, annotations } = source;
  const holder = nodes.find((node) => index.has(node, predicate));
  if (holder === undefined) return undefined;
  const value = agreedNumber(nodes.flatMap((node) => index.objects(node, predicate)));
  if (value === undefined || (value === 0 && !annotations.own)) return undefined;
  return { value, ...annotations.known(holder, predicate) };
}
