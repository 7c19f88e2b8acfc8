import type * as RDF from "@rdfjs/types";
import { voidExt, voidVocabulary as v } from "../../rdf/vocabularies.ts";
import { countNames, FactList, type PartName } from "./facts.ts";
import { agreedNumber, type NodeIndex, onlyIri } from "./values.ts";
import { termKey } from "../../results/terms.ts";
import type { Count } from "./void-description.ts";

/** Partition nodes that are looked at in one document, of all kinds together: shared nodes could multiply without end. */
const mostVisits = 100_000;

/** The partitions of one kind: those below `through`, named by the IRI under `key`, and what each of them is divided by. */
interface Kind {
  readonly through: readonly string[];
  readonly key: string;
  readonly parts: readonly PartName[];
}

const kinds: Readonly<Record<"classes" | PartName, Kind>> = {
  classes: { through: [v.classPartition], key: v.class, parts: ["properties"] },
  properties: { through: [v.propertyPartition], key: v.property, parts: ["objectClasses", "datatypes"] },
  objectClasses: { through: [v.classPartition, voidExt.objectClassPartition], key: v.class, parts: [] },
  datatypes: { through: [voidExt.datatypePartition], key: voidExt.datatype, parts: [] },
};

/** The lists that a publisher gives of its dataset. */
export type PublishedLists = Readonly<Record<"classes" | "properties", FactList>>;

/**
 * Reads the partitions of one document; what lies beyond its cap is left out. Depth is fixed (class, property, object), so
 * that cycles end.
 */
export function readPartitions(source: VoidSource): PublishedLists {
  const { index } = source;
  let visitsLeft = mostVisits;
  /** Shared nodes are visited again and again. */
  const iris = new Map<string, string | undefined>();
  const iriOf = (node: RDF.Term, key: string): string | undefined => {
    const name = `${key} ${termKey(node)}`;
    if (!iris.has(name)) iris.set(name, onlyIri(index.objects(node, key)));
    return iris.get(name);
  };
  function* nodesBelow(parents: readonly RDF.Term[], { through }: Kind): Generator<RDF.Term> {
    for (const parent of parents)
      for (const node of through.flatMap((predicate) => index.objects(parent, predicate)))
        if (visitsLeft-- > 0) yield node;
        else return;
  }
  const read = (parents: readonly RDF.Term[], kind: Kind, facts = new FactList()): FactList => {
    // Several nodes may describe the same class or property.
    for (const [iri, nodes] of Map.groupBy(nodesBelow(parents, kind), (node) => iriOf(node, kind.key))) {
      if (iri === undefined) continue;
      const fact = facts.known(iri, claimed(source));
      for (const name of countNames) fact[name] = readCount(source, nodes, v[name]);
      if (kind === kinds.classes) fact.entities ??= fact.distinctSubjects;
      for (const part of kind.parts) read(nodes, kinds[part], fact[part]);
    }
    return facts;
  };
  return { classes: read(source.nodes, kinds.classes), properties: read(source.nodes, kinds.properties) };
}

/** Where the description of one dataset stands. */
export interface VoidSource {
  readonly index: NodeIndex;
  /** Nodes that describe the dataset together, e.g. a `sd:Dataset` and its default graph. */
  readonly nodes: readonly RDF.Term[];
  /** Position of the request that the document came by. */
  readonly record: number;
}

/** How a publisher's statements are known: all of them are claims, and no list is called complete. */
export const claimed = ({ record }: Pick<VoidSource, "record">) => ({ status: "claimed", record }) as const;

/** A count that some nodes have. */
export const readCount = (source: VoidSource, nodes: readonly RDF.Term[], predicate: string): Count | undefined =>
  claimedCount(
    source,
    nodes.flatMap((node) => source.index.objects(node, predicate)),
  );

/**
 * The count that some values are. Values that contradict each other are no knowledge, nor is a publisher's zero, which
 * many generators write for "not counted".
 */
export function claimedCount(source: Pick<VoidSource, "record">, values: readonly RDF.Term[]): Count | undefined {
  const value = agreedNumber(values);
  return value === undefined || value === 0 ? undefined : { value, ...claimed(source) };
}
