import type { RegistryOptions } from "../registry/registry.ts";
import type * as RDF from "@rdfjs/types";
import { Type } from "typebox";
import type { PropertyTerms, VoidDescription } from "../registry/descriptions.ts";
import type { TermSpace } from "../plan/source-selection.ts";
import { rdf } from "../rdf/vocabularies.ts";
import { termToText } from "../results/terms.ts";
import { type Collection, createCollection } from "../store/collection.ts";
import type { Store } from "../store/store.ts";
import type { SourceFacts, TripleTerms } from "./source-facts.ts";
import { countedSpace, joinedSpace, termSpaceOf } from "./term-space.ts";
import { TripleCopy } from "./triple-copy.ts";

/** The terms of all triples of an endpoint, and a copy of these where they were read. */
export interface EndpointKeys {
  /** `finishedAt` of the description for which they were read, and the URL that was read. */
  readonly describedAt: string;
  readonly url: string;
  readonly all: TripleTerms;
  readonly properties: ReadonlyMap<string, TripleTerms>;
  /** Of the instances of each class. */
  readonly instances?: ReadonlyMap<string, TermSpace> | undefined;
  readonly copy?: TripleCopy | undefined;
}

/** Keeps the triples or terms that were found for descriptions, to be found by `FactFollower`. */
export function createTermKeeper(store: Store) {
  const keys = createKeyStore(store);
  return {
    /** @throws FedwayError `STORE_FAILED` */
    keepTriples: async (id: string, described: DescribedBy, triples: readonly ReadTriple[]): Promise<void> => {
      const { finishedAt: describedAt, endpoint: url } = described;
      const pairs = distinctPairs(triples);
      const properties = new Map([...pairs].map(([property, own]) => [property, termsOf(own)] as const));
      const all = termsOf([...pairs.values()].flat());
      const instances = instancesOf(pairs.get(rdf.type) ?? []);
      await keys.put(id, { describedAt, url, all, properties, instances, copy: TripleCopy.of(pairs) });
    },
    /** @throws FedwayError `STORE_FAILED` */
    keepTerms: async (id: string, described: DescribedBy, terms: ReadonlyMap<string, PropertyTerms>): Promise<void> => {
      const { finishedAt: describedAt, endpoint: url } = described;
      const properties = new Map(
        [...terms].map(([property, { subjects, objects }]): [string, TripleTerms] => [
          property,
          { subjects: countedSpace(subjects), objects: countedSpace(objects) },
        ]),
      );
      const own = [...properties.values()];
      const all = {
        subjects: joinedSpace(own.map(({ subjects }) => subjects)),
        objects: joinedSpace(own.map(({ objects }) => objects)),
      };
      await keys.put(id, { describedAt, url, all, properties });
    },
  };
}

type ReadTriple = Parameters<NonNullable<RegistryOptions["keepTriples"]>>[2][number];
type DescribedBy = Pick<VoidDescription, "finishedAt" | "endpoint">;
type Pair = readonly [subject: RDF.Term, object: RDF.Term];

/** By property. Engines may give a triple of several graphs several times. */
function distinctPairs(triples: readonly ReadTriple[]): ReadonlyMap<string, Pair[]> {
  const found = new Map<string, Map<string, Pair>>();
  for (const { subject, property, object } of triples) {
    const pairs = found.get(property) ?? new Map<string, Pair>();
    pairs.set(`${termToText(subject)} ${termToText(object)}`, [subject, object]);
    found.set(property, pairs);
  }
  return new Map([...found].map(([property, pairs]) => [property, [...pairs.values()]]));
}

const termsOf = (pairs: readonly Pair[]): TripleTerms => ({
  subjects: termSpaceOf(pairs.map(([subject]) => subject)),
  objects: termSpaceOf(pairs.map(([, object]) => object)),
});

function instancesOf(types: readonly Pair[]): ReadonlyMap<string, TermSpace> {
  const byClass = Map.groupBy(types, ([, { value }]) => value);
  return new Map([...byClass].map(([iri, pairs]) => [iri, termSpaceOf(pairs.map(([subject]) => subject))]));
}

/** Facts with the keys that were read for them. */
export function withKeys(facts: SourceFacts, keys: EndpointKeys): SourceFacts {
  const { properties } = facts;
  if (facts.url !== keys.url || properties === undefined) return facts;
  const keyed: SourceFacts["properties"] = {
    size: properties.size,
    has: (iri) => properties.has(iri),
    get(iri) {
      const counts = properties.get(iri);
      const terms = keys.properties.get(iri);
      // Counted terms are no more than literals where the description knows their datatype.
      return counts && { ...counts, ...terms, objects: counts.objects ?? terms?.objects };
    },
  };
  return { ...facts, properties: keyed, all: keys.all, instances: keys.instances, copy: keys.copy };
}

const longestIri = 2_048;
const spaceSchema = Type.Object({
  kind: Type.Optional(Type.Enum(["iri", "string", "integer", "decimal"])),
  prefixes: Type.Optional(Type.Array(Type.String({ maxLength: longestIri }), { maxItems: 16 })),
  noLiterals: Type.Optional(Type.Literal(true)),
  noBlankNodes: Type.Optional(Type.Literal(true)),
});
const termsSchema = Type.Object({ subjects: spaceSchema, objects: spaceSchema });
const schema = Type.Object({
  format: Type.Literal(2),
  describedAt: Type.String(),
  url: Type.String({ maxLength: longestIri }),
  all: termsSchema,
  properties: Type.Array(Type.Tuple([Type.String(), termsSchema]), { maxItems: 200_000 }),
  instances: Type.Optional(Type.Array(Type.Tuple([Type.String(), spaceSchema]), { maxItems: 200_000 })),
  /** Base64. */
  copy: Type.Optional(Type.String({ maxLength: 16 * 1024 * 1024 })),
});

/** By catalogue id. */
export function createKeyStore(store: Store): Collection<EndpointKeys> {
  return createCollection(
    {
      store,
      prefix: "keys/",
      schema,
      removesInvalid: true,
      lost: "Keys of the endpoint are read again with its next description.",
    },
    {
      decode: ({ describedAt, url, all, properties, instances, copy }): EndpointKeys => ({
        describedAt,
        url,
        all,
        properties: new Map(properties),
        instances: instances && new Map(instances),
        copy: copy === undefined ? undefined : TripleCopy.from(copy),
      }),
      encode: ({ properties, instances, copy, ...terms }: EndpointKeys) =>
        JSON.stringify({
          format: 2,
          ...terms,
          properties: [...properties],
          instances: instances && [...instances],
          copy: copy?.toText(),
        }),
    },
  );
}
