import type { TermSpace } from "../plan/source-selection.ts";
import type { EndpointModel, TermKind } from "../registry/model.ts";
import { literalSpaces } from "./term-space.ts";
import type { TripleCopy } from "./triple-copy.ts";

type DescribedSchema = NonNullable<EndpointModel["described"]>;

/** The terms of some triples, where they were read. */
export interface TripleTerms {
  readonly subjects: TermSpace;
  readonly objects: TermSpace;
}

/** Facts about one property at one endpoint. */
export interface PropertyFacts {
  readonly triples: number;
  readonly distinctSubjects?: number | undefined;
  readonly distinctObjects?: number | undefined;
  readonly subjects?: TermSpace | undefined;
  readonly objects?: TermSpace | undefined;
}

/** A complete list whose counts are exact: the endpoint has nothing that it lacks. */
interface FactList<T> {
  readonly size: number;
  has(iri: string): boolean;
  get(iri: string): T | undefined;
}

/** Certain facts about the default graph of one endpoint. */
export interface SourceFacts {
  /** URL that the facts are about. */
  readonly url: string;
  /** Milliseconds since the epoch: when the first of the facts was seen, and until when they are relied upon. */
  readonly seenAt: number;
  readonly until: number;
  /** The data that they were found in, where these cannot change. */
  readonly build?: string | undefined;
  /** `rdf:type` is one of them. */
  readonly properties?: FactList<PropertyFacts> | undefined;
  /** Of all properties. */
  readonly triples?: number | undefined;
  /** Instances of each class. */
  readonly classes?: FactList<number> | undefined;
  /** No two endpoints with the same one have a subject in common: shards that this registry placed so. */
  readonly partition?: string | undefined;
  /** Of all triples. */
  readonly all?: TripleTerms | undefined;
  /** Of the instances of each class. */
  readonly instances?: ReadonlyMap<string, TermSpace> | undefined;
  /** All triples, where they were read. */
  readonly copy?: TripleCopy | undefined;
}

/**
 * The facts that an endpoint's description proves, as a view of it: it is of the default graph, not contradicted, and younger
 * than `maxAgeMs`, counted from when work on it began. While it is not finished, its complete lists do without exact counts.
 * @returns undefined when nothing is certain
 */
export function factsOf(described: DescribedSchema | undefined, maxAgeMs: number): SourceFacts | undefined {
  if (described === undefined || !described.isConsistent) return undefined;
  const triples = exactSum(described, "property");
  const properties = triples === undefined ? undefined : propertiesOf(described);
  const classes = exactSum(described, "class") === undefined ? undefined : classesOf(described);
  if (properties === undefined && classes === undefined) return undefined;
  const { endpoint: url, build } = described;
  const seenAt = Date.parse(described.startedAt);
  return { url, seenAt, until: seenAt + maxAgeMs, build, properties, triples, classes };
}

/** The sum of a complete list of counts; undefined when it is none, or they are not as certain as they can be by now. */
function exactSum(described: DescribedSchema, kind: TermKind): number | undefined {
  if (!(kind === "class" ? described.classesComplete : described.propertiesComplete)) return undefined;
  let sum = 0;
  for (const { count } of described.terms(kind)) {
    if (count?.status !== "exact" && !(described.unfinished && count?.status === "lowerBound")) return undefined;
    sum += count.value;
  }
  return sum;
}

function propertiesOf(described: DescribedSchema): FactList<PropertyFacts> {
  return {
    size: described.counts().property,
    has: (iri) => described.countsOf(iri) !== undefined,
    get(iri) {
      const counts = described.countsOf(iri);
      return (
        counts && {
          triples: counts.triples?.value ?? 0,
          distinctSubjects: exactly(counts.distinctSubjects),
          distinctObjects: exactly(counts.distinctObjects),
          objects: literalSpaces.get(counts.datatype ?? ""),
        }
      );
    },
  };
}

const classesOf = (described: DescribedSchema): FactList<number> => ({
  size: described.counts().class,
  has: (iri) => described.term("class", iri) !== undefined,
  get: (iri) => described.term("class", iri)?.count?.value,
});

const exactly = (count: DescribedSchema["triples"]): number | undefined =>
  count?.status === "exact" ? count.value : undefined;
