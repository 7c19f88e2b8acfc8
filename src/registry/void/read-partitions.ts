import type * as RDF from "@rdfjs/types";
import { compareText } from "../../rdf/canonical.ts";
import { voidExt, voidVocabulary as v } from "../../rdf/vocabularies.ts";
import {
  byCount,
  type ClassPartition,
  type Count,
  type ObjectPartition,
  type PropertyPartition,
} from "./void-description.ts";
import { agreedNumber, type NodeIndex, nodeKey, onlyIri } from "./values.ts";

/** Partition nodes that are looked at in one document, of all kinds together: shared nodes could multiply without end. */
const mostVisits = 100_000;

/** Which partitions are wanted: those below `through`, distinguished by the IRI under `key`. */
interface Kind {
  readonly through: readonly string[];
  readonly key: string;
}

const classKind: Kind = { through: [v.classPartition], key: v.class };
const propertyKind: Kind = { through: [v.propertyPartition], key: v.property };
const objectClassKind: Kind = { through: [v.classPartition, voidExt.objectClassPartition], key: v.class };
const datatypeKind: Kind = { through: [voidExt.datatypePartition], key: voidExt.datatype };

type CountName = "triples" | "distinctSubjects" | "distinctObjects";

/**
 * Reads the partitions of one document; what lies beyond its cap is left out. Depth is fixed (class, property, object),
 * so that cycles end by themselves.
 */
export class PartitionReader {
  readonly #source: VoidSource;
  /** Shared nodes are visited again and again. */
  readonly #iris = new Map<string, string | undefined>();
  #visitsLeft = mostVisits;

  constructor(source: VoidSource) {
    this.#source = source;
  }

  classes(parents: readonly RDF.Term[]): readonly ClassPartition[] {
    const partitions = this.#each(parents, classKind, (iri, nodes) => {
      const entities = this.#count(nodes, v.entities) ?? this.#count(nodes, v.distinctSubjects);
      return {
        class: iri,
        ...claimed(this.#source),
        entities,
        ...this.#counts(nodes, ["triples"]),
        properties: this.properties(nodes),
        propertiesComplete: false,
      };
    });
    return partitions.toSorted(
      (one, other) => byCount(one.entities, other.entities) || compareText(one.class, other.class),
    );
  }

  properties(parents: readonly RDF.Term[]): readonly PropertyPartition[] {
    const partitions = this.#each(parents, propertyKind, (property, nodes) => ({
      property,
      ...claimed(this.#source),
      ...this.#counts(nodes, ["triples", "distinctSubjects", "distinctObjects"]),
      objectClasses: this.#objects(nodes, objectClassKind),
      datatypes: this.#objects(nodes, datatypeKind),
      objectsComplete: false,
    }));
    return partitions.toSorted(
      (one, other) => byCount(one.triples, other.triples) || compareText(one.property, other.property),
    );
  }

  #objects(parents: readonly RDF.Term[], kind: Kind): readonly ObjectPartition[] {
    const partitions = this.#each(parents, kind, (iri, nodes) => ({
      iri,
      ...claimed(this.#source),
      ...this.#counts(nodes, ["triples"]),
    }));
    return partitions.toSorted((one, other) => byCount(one.triples, other.triples) || compareText(one.iri, other.iri));
  }

  /** One partition for every IRI below `parents`: several nodes may describe the same class or property. */
  #each<T>(
    parents: readonly RDF.Term[],
    kind: Kind,
    read: (iri: string, nodes: readonly RDF.Term[]) => T,
  ): readonly T[] {
    const { index } = this.#source;
    const groups = new Map<string, RDF.Term[]>();
    for (const parent of parents) {
      for (const node of kind.through.flatMap((predicate) => index.objects(parent, predicate))) {
        if (this.#visitsLeft-- <= 0) break;
        const iri = this.#iriOf(node, kind);
        if (iri === undefined) continue;
        const group = groups.get(iri);
        if (group === undefined) groups.set(iri, [node]);
        else group.push(node);
      }
    }
    return Array.from(groups, ([iri, nodes]) => read(iri, nodes));
  }

  #iriOf(node: RDF.Term, { key }: Kind): string | undefined {
    const name = `${key} ${nodeKey(node)}`;
    if (!this.#iris.has(name)) this.#iris.set(name, onlyIri(this.#source.index.objects(node, key)));
    return this.#iris.get(name);
  }

  #count(nodes: readonly RDF.Term[], predicate: string): Count | undefined {
    return readCount(this.#source, nodes, predicate);
  }

  #counts(nodes: readonly RDF.Term[], names: readonly CountName[]): Readonly<Partial<Record<CountName, Count>>> {
    const found: Partial<Record<CountName, Count>> = {};
    for (const name of names) {
      const count = this.#count(nodes, v[name]);
      if (count !== undefined) found[name] = count;
    }
    return found;
  }
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

/**
 * A count that some nodes have. Values that contradict each other are no knowledge, nor is a publisher's zero, which
 * many generators write for "not counted".
 */
export function readCount(source: VoidSource, nodes: readonly RDF.Term[], predicate: string): Count | undefined {
  const value = agreedNumber(nodes.flatMap((node) => source.index.objects(node, predicate)));
  return value === undefined || value === 0 ? undefined : { value, ...claimed(source) };
}
