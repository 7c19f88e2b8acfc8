import type * as RDF from "@rdfjs/types";
import { rdf, voidExt, voidVocabulary as v } from "../../rdf/vocabularies.ts";
import { type NodeIndex, nodeKey } from "./node-index.ts";

/** Predicates whose objects are parts of a dataset, not datasets of their own. */
export const partPredicates: readonly string[] = [
  v.classPartition,
  v.propertyPartition,
  v.subset,
  voidExt.objectClassPartition,
  voidExt.datatypePartition,
  voidExt.languagePartition,
];

/** The node has one of these types. */
export const hasType = (index: NodeIndex, node: RDF.Term, ...types: readonly string[]): boolean =>
  index.objects(node, rdf.type).some((type) => type.termType === "NamedNode" && types.includes(type.value));

/** The keys of all nodes that are part of something. */
export function partsOf(index: NodeIndex): ReadonlySet<string> {
  const parts = new Set<string>();
  for (const subject of index.subjects) {
    for (const predicate of partPredicates) {
      for (const part of index.objects(subject, predicate)) {
        // A dataset that is its own subset would otherwise vanish.
        if (nodeKey(part) !== nodeKey(subject)) parts.add(nodeKey(part));
      }
    }
  }
  return parts;
}
