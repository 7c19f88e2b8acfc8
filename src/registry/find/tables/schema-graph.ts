import { LRUCache } from "lru-cache";
import type { CatalogEntry } from "../../catalog/catalog.ts";
import type { DescribedSchema } from "../../model/described-schema.ts";
import type { EndpointModel } from "../../model/endpoint-models.ts";
import type { KnownCount, KnownProperty, KnownTerm, TermKind } from "../../model/schema.ts";
import { publishedKey } from "../../catalog/published/published-facts.ts";
import { type PublishedShape, shapeTriples } from "../../catalog/published/shapes-file.ts";
import { iriParts, plainText } from "../../../rdf/display-text.ts";
import { rdf } from "../../../rdf/vocabularies.ts";
import { stemsOf } from "../words/question-words.ts";
import { nameText } from "../words/words.ts";
import { sizedByKey } from "../../../cache-size.ts";
import { itemAt } from "../../../values.ts";

/** A class or property of one endpoint. */
export interface SchemaTerm {
  readonly kind: TermKind;
  readonly iri: string;
  /** Instances or triples; -1 when unknown. */
  readonly count: number;
}

interface NamedTerm extends SchemaTerm {
  /** Stems of the local name; of the label too, where it is another. */
  readonly names: readonly (readonly string[])[];
}

/** A class or property, and its neighbours by their places in `SchemaGraph.nodes`. */
export interface SchemaNode extends NamedTerm {
  /** Of a property: classes whose instances have it, and classes of its values. */
  readonly domains: readonly number[];
  readonly ranges: readonly number[];
  /** Of a class: what its instances have. */
  readonly properties: readonly number[];
}

/** Classes and properties of an endpoint as a graph; without any when nothing is known of it. */
export interface SchemaGraph {
  readonly id: string;
  readonly nodes: readonly SchemaNode[];
}

/** Most frequent classes, and as many properties, of one endpoint. */
const mostOfKind = 1_000;
const mostNeighbours = 200;
const entryWeight = 0.7;
const propertyWeight = 0.8;
/** Of names that others published: they say less than the entry does, and least where no query uses them. */
const usedShare = 0.5;

/** Stores that describe themselves have classes and properties of the store, which no question is about. */
const isAboutStore = (iri: string): boolean => iri === rdf.type || iri.startsWith("http://www.openlinksw.com/schemas/");

/** Terms of an endpoint's description, else those that others published of it: classes first, most frequent first. */
function namedTerms({ described, published }: EndpointModel): readonly NamedTerm[] {
  const numbers = { class: 0, property: 0 };
  const terms = described === undefined ? publishedTerms(published) : [...described.terms()];
  return terms
    .filter(({ kind, iri }) => !isAboutStore(iri) && numbers[kind]++ < mostOfKind)
    .map(({ kind, iri, label, count }) => ({ kind, iri, count: count?.value ?? -1, names: namesOf(iri, label) }));
}

function publishedTerms(published: EndpointModel["published"]): readonly KnownTerm[] {
  const terms = [...(published?.terms.values() ?? [])];
  return terms
    .toSorted((one, other) => (one.kind === other.kind ? other.uses - one.uses : one.kind < other.kind ? -1 : 1))
    .map(({ kind, iri, count }) => ({ kind, iri, count: claimedCount(count) }));
}

const claimedCount = (value: number | undefined): KnownCount | undefined =>
  value === undefined ? undefined : { value, status: "claimed" };

interface Draft extends NamedTerm {
  readonly domains: Set<number>;
  readonly ranges: Set<number>;
  readonly properties: Set<number>;
}

/** Graph of an endpoint's terms; published ones are neighbours where they stand together in a published shape. */
export function schemaGraph(model: EndpointModel): SchemaGraph {
  const drafts = namedTerms(model).map(
    ({ kind, iri, count, names }): Draft => ({
      kind,
      iri,
      count,
      names,
      domains: new Set(),
      ranges: new Set(),
      properties: new Set(),
    }),
  );
  if (model.described !== undefined) addNeighbours(drafts, model.described);
  else addPublishedNeighbours(drafts, model.published?.shapes ?? []);
  const nodes = drafts.map(
    ({ kind, iri, count, names, domains, ranges, properties }): SchemaNode => ({
      kind,
      iri,
      count,
      names,
      domains: [...domains],
      ranges: [...ranges],
      properties: [...properties],
    }),
  );
  return { id: model.id, nodes };
}

function addNeighbours(drafts: readonly Draft[], { classPartitions, propertyPartitions }: DescribedSchema): void {
  const places = new Map(drafts.map(({ kind, iri }, at) => [`${kind} ${iri}`, at]));
  const addRanges = (at: number | undefined, { objectClasses }: KnownProperty): void => {
    for (const { iri } of objectClasses) join(drafts[at ?? -1]?.ranges, places.get(`class ${iri}`));
  };
  for (const property of propertyPartitions) addRanges(places.get(`property ${property.property}`), property);
  for (const { class: iri, properties } of classPartitions) {
    const owner = places.get(`class ${iri}`);
    for (const property of properties) {
      const at = places.get(`property ${property.property}`);
      addRanges(at, property);
      join(drafts[at ?? -1]?.domains, owner);
      join(drafts[owner ?? -1]?.properties, at);
    }
  }
}

function addPublishedNeighbours(drafts: readonly Draft[], shapes: readonly PublishedShape[]): void {
  const places = new Map(drafts.map(({ kind, iri }, at) => [`${kind} ${iri}`, at]));
  const placeOf = (kind: TermKind, iri: string | undefined): number | undefined => places.get(`${kind} ${iri ?? ""}`);
  for (const { from, property, to } of shapes.flatMap(shapeTriples)) {
    const [at, domain, range] = [
      placeOf("property", property),
      placeOf("class", from.class),
      placeOf("class", to.class),
    ];
    join(drafts[at ?? -1]?.domains, domain);
    join(drafts[domain ?? -1]?.properties, at);
    join(drafts[at ?? -1]?.ranges, range);
  }
}

function join(neighbours: Set<number> | undefined, at: number | undefined): void {
  if (neighbours !== undefined && at !== undefined && neighbours.size < mostNeighbours) neighbours.add(at);
}

/** Endpoints share vocabularies, and stems are slow to find. */
const knownNames = new LRUCache<string, SchemaNode["names"]>(sizedByKey(16, { perCharacter: 12 }));

function namesOf(iri: string, label: string | undefined): SchemaNode["names"] {
  const key = `${iri} ${label ?? ""}`;
  const known = knownNames.get(key);
  if (known !== undefined) return known;
  const local = stemsOf(iriParts(iri).local);
  const labelled = label === undefined ? [] : stemsOf(label);
  const names = labelled.join(" ") === local.join(" ") ? [local] : [local, labelled];
  const telling = names.filter((stems) => stems.length > 0);
  knownNames.set(key, telling);
  return telling;
}

const longestName = 80;
const longestComment = 120;

/** Texts for the embedding model: of the endpoint "city (name, population)", of each node "population of city". */
export function textsOf({ entry, described }: EndpointModel, { nodes }: SchemaGraph) {
  const names = nodes.map(({ kind, iri }) => {
    const label = described?.term(kind, iri)?.label;
    return plainText(label ?? nameText(iriParts(iri).local), longestName);
  });
  const nameOf = (place: number): string => itemAt(names, place);
  const ofNodes = nodes.map(({ kind, iri, domains, ranges }, at) => {
    const owners = domains.slice(0, 2).map(nameOf);
    const text = [nameOf(at), ...(owners.length > 0 ? ["of", ...owners] : []), ...ranges.slice(0, 1).map(nameOf)];
    const comment = described?.comment(kind, iri);
    return `${text.join(" ")}${comment === undefined ? "" : `: ${plainText(comment, longestComment)}`}`;
  });
  return { about: aboutText(entry, nodes, nameOf), nodes: ofNodes };
}

const mostShownClasses = 30;
const mostShownProperties = 8;
const longestText = 700;

/** Of an endpoint without classes what its entry says. */
function aboutText(
  { title = "", description, keywords = [] }: Partial<CatalogEntry> = {},
  nodes: readonly SchemaNode[],
  nameOf: (place: number) => string,
): string {
  const classes = nodes.flatMap(({ kind, properties }, at) => {
    const names = properties.slice(0, mostShownProperties).map(nameOf);
    if (kind !== "class") return [];
    return names.length === 0 ? nameOf(at) : `${nameOf(at)} (${names.join(", ")})`;
  });
  const said = [title, description ?? keywords.join(", ")].filter((text) => text !== "").join(". ");
  return (classes.length === 0 ? said : classes.slice(0, mostShownClasses).join("; ")).slice(0, longestText);
}

/** Stems that an endpoint is found by; names weigh 1, words of its entry less. */
export function wordsOf(model: EndpointModel): ReadonlyMap<string, number> {
  const { id, entry, described, published } = model;
  const words = new Map<string, number>();
  const add = (stems: readonly string[], weight: number): void => {
    for (const stem of stems) words.set(stem, Math.max(words.get(stem) ?? 0, weight));
  };
  add(stemsOf(id), 1);
  const { title = "", description = "", keywords = [] }: Partial<CatalogEntry> = entry ?? {};
  const texts = [title, description, ...keywords].join(" \n ").slice(0, 2_000);
  add(stemsOf(texts), entryWeight);
  const certaintyOf = ({ kind, iri }: SchemaTerm): number => {
    if (described !== undefined) return 1;
    const { uses = 0 } = published?.terms.get(publishedKey(kind, iri)) ?? {};
    return uses > 0 ? usedShare : usedShare / 2;
  };
  for (const term of namedTerms(model)) {
    const weight = (term.kind === "class" ? 1 : propertyWeight) * certaintyOf(term);
    for (const stems of term.names) add(stems.length > 1 ? [...stems, stems.join("")] : stems, weight);
  }
  return words;
}
