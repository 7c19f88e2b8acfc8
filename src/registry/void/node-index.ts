import type * as RDF from "@rdfjs/types";

/** Triples by subject and predicate; graph names are dropped. */
export interface NodeIndex {
  /** Every subject once, in the order of appearance. */
  readonly subjects: readonly RDF.Term[];
  /** Objects of one predicate, each once, in the order of appearance. */
  objects(subject: RDF.Term, predicate: string): readonly RDF.Term[];
  has(subject: RDF.Term, predicate: string): boolean;
}

/** A text that is the same for equal IRIs and blank nodes, and different for all others. */
export const nodeKey = (node: RDF.Term): string => `${node.termType === "BlankNode" ? "_" : "i"}${node.value}`;

interface Node {
  readonly term: RDF.Term;
  readonly objects: Map<string, RDF.Term[]>;
  readonly seen: Set<string>;
}

const none: readonly RDF.Term[] = [];

const objectKey = (object: RDF.Term): string =>
  object.termType === "Literal" ? `l${object.datatype.value} ${object.language} ${object.value}` : nodeKey(object);

/** Indexes a document that is in memory. Cycles, repetitions and nodes of any kind are harmless: nothing is followed. */
export function indexNodes(quads: Iterable<RDF.Quad>): NodeIndex {
  const nodes = new Map<string, Node>();
  for (const { subject, predicate, object } of quads) {
    const key = nodeKey(subject);
    let node = nodes.get(key);
    if (node === undefined) {
      node = { term: subject, objects: new Map(), seen: new Set() };
      nodes.set(key, node);
    }
    const statement = `${predicate.value} ${objectKey(object)}`;
    if (node.seen.has(statement)) continue;
    node.seen.add(statement);
    const objects = node.objects.get(predicate.value);
    if (objects === undefined) node.objects.set(predicate.value, [object]);
    else objects.push(object);
  }
  return {
    subjects: Array.from(nodes.values(), ({ term }) => term),
    objects: (subject, predicate) => nodes.get(nodeKey(subject))?.objects.get(predicate) ?? none,
    has: (subject, predicate) => nodes.get(nodeKey(subject))?.objects.has(predicate) === true,
  };
}
