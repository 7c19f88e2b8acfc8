import type * as RDF from "@rdfjs/types";
import { Type } from "typebox";
import type { Asker, WholeAnswer } from "../outbound/whole-answer.ts";
import type { AskedEndpoint } from "../registry/catalog/catalog.ts";
import { termToText } from "../results/terms.ts";
import { type Collection, createCollection } from "../store/collection.ts";
import type { Store } from "../store/store.ts";
import type { SourceFacts, TripleTerms } from "./source-facts.ts";
import { termSpaceOf } from "./term-space.ts";
import { TripleCopy } from "./triple-copy.ts";

/** What reading all triples of an endpoint has shown. */
export interface EndpointKeys {
  /** `finishedAt` of the description that it was held against, and the URL that was read. */
  readonly describedAt: string;
  readonly url: string;
  /** The triples are not those of the description, which proves nothing any more; else its terms, by property and of all. */
  readonly found:
    | "other"
    | {
        readonly all: TripleTerms;
        readonly properties: ReadonlyMap<string, TripleTerms>;
        readonly copy: TripleCopy;
      };
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
  const expected = facts.triples;
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
  const properties = new Map([...triples].map(([property, pairs]) => [property, termsOf(pairs)] as const));
  return { all: termsOf([...triples.values()].flat()), properties, copy: TripleCopy.of(triples) };
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

const termsOf = (pairs: readonly Pair[]): TripleTerms => ({
  subjects: termSpaceOf(pairs.map(([subject]) => subject)),
  objects: termSpaceOf(pairs.map(([, object]) => object)),
});

/** Facts with the keys that were read for them. */
export function withKeys(facts: SourceFacts, { found, url }: EndpointKeys): SourceFacts | undefined {
  if (found === "other") return undefined;
  const { properties } = facts;
  if (facts.url !== url || properties === undefined) return facts;
  const keyed: SourceFacts["properties"] = {
    size: properties.size,
    has: (iri) => properties.has(iri),
    get(iri) {
      const counts = properties.get(iri);
      return counts && { ...counts, ...found.properties.get(iri) };
    },
  };
  return { ...facts, properties: keyed, all: found.all, copy: found.copy };
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
  /** Absent: the triples are not those of the description. */
  all: Type.Optional(termsSchema),
  properties: Type.Array(Type.Tuple([Type.String(), termsSchema]), { maxItems: 200_000 }),
  /** Base64. */
  copy: Type.String({ maxLength: 16 * 1024 * 1024 }),
});

/** What was read, by catalogue id. */
export function createKeyStore(store: Store): Collection<EndpointKeys> {
  return createCollection(
    { store, prefix: "keys/", schema, removesInvalid: true, onInvalid: () => undefined },
    {
      decode: ({ describedAt, url, all, properties, copy }): EndpointKeys => ({
        describedAt,
        url,
        found: all ? { all, properties: new Map(properties), copy: TripleCopy.from(copy) } : "other",
      }),
      encode({ describedAt, url, found }: EndpointKeys) {
        const { all, properties = [], copy } = found === "other" ? {} : found;
        const terms = { all, properties: [...properties], copy: copy?.toText() ?? "" };
        return JSON.stringify({ format: 2, describedAt, url, ...terms });
      },
    },
  );
}
