import type * as RDF from "@rdfjs/types";
import { type Static, Type } from "typebox";
import type { Asker, WholeAnswer } from "../outbound/whole-answer.ts";
import type { AskedEndpoint } from "../registry/catalog/catalog.ts";
import { termToText } from "../results/terms.ts";
import { type Collection, createCollection } from "../store/collection.ts";
import type { Store } from "../store/store.ts";
import type { SourceFacts } from "./source-facts.ts";
import { TermFilter } from "./term-filter.ts";
import { type KeySpace, keySpaceOf } from "./term-space.ts";

/** The subjects and objects of some triples. */
export interface TripleKeys {
  readonly subjects: KeySpace;
  readonly objects: KeySpace;
}

/** What reading all triples of an endpoint told. */
export interface EndpointKeys {
  /** `finishedAt` of the description that it was held against, and the URL that was read. */
  readonly describedAt: string;
  readonly url: string;
  /** The triples are not those of the description, which proves nothing any more; else its keys, by property and of all. */
  readonly found: "other" | { readonly all: TripleKeys; readonly properties: ReadonlyMap<string, TripleKeys> };
}

const timeoutMs = 60_000;
const maxBytes = 64 * 1024 * 1024;

/**
 * Reads all triples of an endpoint once and holds them against its facts, property by property.
 * @returns undefined when the answer is not whole, so that nothing can be said
 * @throws FedwayError as `Asker.ask`
 */
export async function readKeys(
  endpoint: AskedEndpoint,
  facts: SourceFacts,
  { asker, signal }: { readonly asker: Pick<Asker, "ask">; readonly signal: AbortSignal },
): Promise<EndpointKeys["found"] | undefined> {
  const expected = triplesOf(facts);
  if (expected === undefined) return undefined;
  const query = `SELECT ?s ?p ?o WHERE { ?s ?p ?o } LIMIT ${expected + 1}`;
  const answer = await asker.ask({ endpoint, query, signal, timeoutMs, maxBytes, maxRows: expected + 1 });
  if (answer.partial !== undefined) return undefined;
  const triples = distinctTriples(answer);
  for (const [property, { length }] of triples) {
    if (length > (facts.properties?.get(property)?.triples ?? 0)) return "other";
  }
  const read = triples.values().reduce((sum, { length }) => sum + length, 0);
  if (read < expected) return undefined;
  const properties = new Map([...triples].map(([property, pairs]) => [property, keysOf(pairs)] as const));
  return { all: keysOf([...triples.values()].flat()), properties };
}

/** Number of an endpoint's triples; undefined when it is not certain. */
export function triplesOf({ properties }: SourceFacts): number | undefined {
  return properties?.values().reduce((sum, { triples }) => sum + triples, 0);
}

type Pair = readonly [subject: RDF.Term, object: RDF.Term];

/** Engines may give a triple of several graphs several times. */
function distinctTriples({ rows }: WholeAnswer): ReadonlyMap<string, Pair[]> {
  const found = new Map<string, Map<string, Pair>>();
  for (const row of rows) {
    const [subject, predicate, object] = [row.get("s"), row.get("p"), row.get("o")];
    if (!subject || !predicate || !object) continue;
    const pairs = found.get(predicate.value) ?? new Map<string, Pair>();
    pairs.set(`${termToText(subject)} ${termToText(object)}`, [subject, object]);
    found.set(predicate.value, pairs);
  }
  return new Map([...found].map(([property, pairs]) => [property, [...pairs.values()]]));
}

const keysOf = (pairs: readonly Pair[]): TripleKeys => ({
  subjects: keySpaceOf(pairs.map(([subject]) => subject)),
  objects: keySpaceOf(pairs.map(([, object]) => object)),
});

/** Facts with the keys that were read for them. */
export function withKeys(facts: SourceFacts, { found, url }: EndpointKeys): SourceFacts | undefined {
  if (found === "other") return undefined;
  if (facts.url !== url || facts.properties === undefined) return facts;
  const properties = [...facts.properties].map(
    ([property, counts]) => [property, Object.assign({}, counts, found.properties.get(property))] as const,
  );
  return { ...facts, properties: new Map(properties), all: found.all };
}

const longestIri = 2_048;
const spaceSchema = Type.Object({
  prefixes: Type.Optional(Type.Array(Type.String({ maxLength: longestIri }), { maxItems: 16 })),
  noLiterals: Type.Optional(Type.Literal(true)),
  noBlankNodes: Type.Optional(Type.Literal(true)),
  /** Base64. */
  filter: Type.String({ maxLength: 4 * 1024 * 1024 }),
});
const keysSchema = Type.Object({ subjects: spaceSchema, objects: spaceSchema });
const schema = Type.Object({
  format: Type.Literal(1),
  describedAt: Type.String(),
  url: Type.String({ maxLength: longestIri }),
  /** Absent: the triples are not those of the description. */
  all: Type.Optional(keysSchema),
  properties: Type.Array(Type.Tuple([Type.String(), keysSchema]), { maxItems: 200_000 }),
});

type StoredKeys = Static<typeof schema>;

/** What was read, by catalogue id. */
export function createKeyStore(store: Store): Collection<EndpointKeys> {
  return createCollection(
    { store, prefix: "keys/", schema, removesInvalid: true, onInvalid: () => undefined },
    {
      decode: ({ describedAt, url, all, properties }): EndpointKeys => ({
        describedAt,
        url,
        found:
          all === undefined
            ? "other"
            : { all: read(all), properties: new Map(properties.map(([property, keys]) => [property, read(keys)])) },
      }),
      encode({ describedAt, url, found }: EndpointKeys) {
        const properties =
          found === "other" ? [] : [...found.properties].map(([property, keys]) => [property, stored(keys)] as const);
        const all = found === "other" ? undefined : stored(found.all);
        return JSON.stringify({ format: 1, describedAt, url, all, properties });
      },
    },
  );
}

type StoredSpace = Static<typeof spaceSchema>;

const stored = ({ subjects, objects }: TripleKeys) => ({
  subjects: { ...subjects.space, filter: subjects.filter.toText() },
  objects: { ...objects.space, filter: objects.filter.toText() },
});

const read = ({ subjects, objects }: NonNullable<StoredKeys["all"]>): TripleKeys => ({
  subjects: readSpace(subjects),
  objects: readSpace(objects),
});

const readSpace = ({ filter, ...space }: StoredSpace): KeySpace => ({ space, filter: TermFilter.from(filter) });
