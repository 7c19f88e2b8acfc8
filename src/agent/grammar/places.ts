import { PrefixTable } from "../../registry/schema.ts";
import { plainText } from "../../rdf/display-text.ts";
import { isWritableIri } from "../../rdf/term-text.ts";
import type { EndpointModels, KnownSchema } from "../../registry/model.ts";
import { publishedSchema } from "../../registry/catalog.ts";

type KnownProperty = KnownSchema["propertyPartitions"][number];

/** An endpoint whose terms a grammar is made of. */
export interface GrammarSource {
  /** Catalogue id: the target of SERVICE in a federation. */
  readonly id: string;
  readonly description: KnownSchema & {
    readonly endpoint: string;
    readonly title?: string | undefined;
    readonly namedGraphs?: object | undefined;
  };
  /** When and from where the terms were published, where the endpoint itself has not been described. */
  readonly published?: string | undefined;
}

/** Those of some endpoints that are described, or of which terms are published. */
export const sourcesOf = (ids: readonly string[], models: Pick<EndpointModels, "get">): readonly GrammarSource[] =>
  ids.flatMap((id) => {
    const { described, published } = models.get(id) ?? {};
    if (described !== undefined) return { id, description: described };
    if (published === undefined || published.terms.size === 0) return [];
    return { id, description: publishedSchema(published), published: published.provenance };
  });

/** A class at an endpoint, or all that an endpoint has without one, with the terms that follow it. Terms are as written. */
export interface Place extends Kinds {
  /** Position of the source. */
  readonly source: number;
  /** Absent: properties that no class of the grammar has. */
  readonly class?: string;
  /** Properties that lead to another place; `back`: they lead from there to here. */
  readonly links: readonly { readonly property: string; readonly to: Place; readonly back: boolean }[];
}

/** Properties by what a FILTER can compare. */
interface Kinds {
  readonly numbers: readonly string[];
  readonly dates: readonly string[];
  readonly texts: readonly string[];
  /** Their values are of no kind that a FILTER is offered for. */
  readonly others: readonly string[];
}

/** A class, or a property of one, with how much there is of it; the largest are taken first. */
interface Item {
  readonly source: number;
  /** Absent: a property of the whole dataset. */
  readonly class?: string;
  readonly property?: KnownProperty;
  readonly weight: number;
}

/** The terms of the sources, largest first, of which a grammar takes as many as fit. */
export interface Terms {
  readonly items: readonly Item[];
  readonly table: PrefixTable;
  /** Terms that cannot be written in a query: no IRIs, or longer than 500 characters. */
  readonly unusable: number;
}

const longestIri = 500;
const isUsable = (iri: string): boolean => iri.length <= longestIri && isWritableIri(iri) && !/\p{Cf}/u.test(iri);

/** All terms of the sources. The prefixes are those of a source's schema views, where there is one source. */
export function termsOf(sources: readonly GrammarSource[]): Terms {
  const items = sources.flatMap(({ description }, source) => [...itemsOf(description, source)]);
  const usable = items.filter(
    (item) => isUsable(item.property?.property ?? item.class ?? "") && isUsable(item.class ?? "a:"),
  );
  return {
    items: usable.toSorted((one, other) => other.weight - one.weight),
    table: PrefixTable.of(...sources.map(({ description }) => description)),
    unusable: items.length - usable.length,
  };
}

function* itemsOf(description: KnownSchema, source: number): Generator<Item> {
  for (const { class: iri, entities, properties } of description.classPartitions) {
    const size = entities?.value ?? 0;
    yield { source, class: iri, weight: size };
    // A property comes after its class.
    for (const property of properties) {
      if (property.property === rdfType) continue;
      yield { source, class: iri, property, weight: Math.min(size, property.triples?.value ?? 0) };
    }
  }
  // Those that a class has are left out once the class is known to be in.
  for (const property of description.propertyPartitions) {
    if (property.property !== rdfType) yield { source, property, weight: -1 / (1 + (property.triples?.value ?? 0)) };
  }
}

const rdfType = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
const xsd = "http://www.w3.org/2001/XMLSchema#";
const numeric = new Set(
  "integer decimal float double int long short byte nonNegativeInteger positiveInteger nonPositiveInteger negativeInteger unsignedLong unsignedInt unsignedShort unsignedByte"
    .split(" ")
    .map((name) => xsd + name),
);
const temporal = new Set(["date", "dateTime", "gYear", "gYearMonth"].map((name) => xsd + name));

/** Places under construction. */
interface Building {
  readonly source: number;
  readonly class?: string;
  readonly properties: KnownProperty[];
}

/**
 * The places of these items. Properties that lead to a place become links, also between sources: the endpoint of one
 * has the class of its values, another one has that class, or a linkset says so.
 */
export function placesOf(
  sources: readonly GrammarSource[],
  items: readonly Item[],
  write: (iri: string) => string,
): readonly Place[] {
  const building = gather(items);
  const places = building.map((each) => ({
    ...kindsOf(each.properties, write),
    source: each.source,
    links: [] as Place["links"][number][],
    ...(each.class !== undefined && { class: write(each.class) }),
  }));
  const byClass = Map.groupBy(building.keys(), (at) => building[at]?.class ?? "");
  for (const [at, { source, class: from, properties }] of building.entries()) {
    const here = places[at];
    if (here === undefined || from === undefined) continue;
    for (const partition of properties) {
      for (const target of targetsOf(partition, { description: sources[source]?.description, from })) {
        for (const there of byClass.get(target) ?? []) {
          const to = places[there];
          if (to === undefined) continue;
          const property = write(partition.property);
          here.links.push({ property, to, back: false });
          to.links.push({ property, to: here, back: true });
        }
      }
    }
  }
  return places;
}

function gather(items: readonly Item[]): readonly Building[] {
  const places = new Map<string, Building>();
  const within = new Set<string>();
  for (const { source, class: iri, property } of items) {
    if (property && within.has(`${source} ${property.property}`) && iri === undefined) continue;
    const key = `${source} ${iri ?? ""}`;
    const place = places.get(key) ?? { source, properties: [], ...(iri !== undefined && { class: iri }) };
    places.set(key, place);
    if (property) place.properties.push(property);
    if (property && iri !== undefined) within.add(`${source} ${property.property}`);
  }
  return [...places.values()];
}

/** The classes that a property's values have, also those that only a linkset knows. */
function targetsOf(
  { property, objectClasses }: KnownProperty,
  { description, from }: { description: KnownSchema | undefined; from: string },
): ReadonlySet<string> {
  const linked = (description?.linksets ?? []).filter(
    (linkset) => linkset.property === property && (linkset.subjectClass ?? from) === from,
  );
  return new Set([...objectClasses.map(({ iri }) => iri), ...linked.flatMap(({ objectClass }) => objectClass ?? [])]);
}

function kindsOf(properties: readonly KnownProperty[], write: (iri: string) => string): Kinds {
  const kinds = Map.groupBy(properties, ({ datatypes, objectClasses }): keyof Kinds => {
    const types = datatypes.map(({ iri }) => iri);
    if (types.length === 0) return "others";
    if (types.every((type) => numeric.has(type))) return "numbers";
    if (types.every((type) => temporal.has(type))) return "dates";
    return objectClasses.length > 0 ? "others" : "texts";
  });
  const of = (kind: keyof Kinds): readonly string[] => (kinds.get(kind) ?? []).map(({ property }) => write(property));
  return { numbers: of("numbers"), dates: of("dates"), texts: of("texts"), others: of("others") };
}

/** Name of a source in comments. */
export const titleOf = ({ id, description, published }: GrammarSource): string => {
  const title = description.title === undefined ? "" : `, ${description.title}`;
  const source = published === undefined ? "" : ` (not described; ${published}; there may be more)`;
  return plainText(`${id}${title}, ${description.endpoint}${source}`, 300);
};
