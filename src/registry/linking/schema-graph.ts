import type { CatalogEntry } from "../catalog/catalog.ts";
import { iriParts, nameWords, plainText } from "../schema/text.ts";
import type { PropertyPartition, VoidDescription } from "../void/void-description.ts";
import { rdf } from "../../rdf/vocabularies.ts";
import { stemsOf } from "./question-words.ts";

/** A class or property of one endpoint, and its neighbours by their places in `SchemaGraph.nodes`. */
export interface SchemaNode {
  readonly kind: "class" | "property";
  readonly iri: string;
  /** Stems of the local name; of the label too, where it is another. */
  readonly names: readonly (readonly string[])[];
  /** Instances or triples; -1 when unknown. */
  readonly count: number;
  /** Of a property: classes whose instances have it, and classes of its values. */
  readonly domains: readonly number[];
  readonly ranges: readonly number[];
  /** Of a class: what its instances have. */
  readonly properties: readonly number[];
  /** What a model of meaning reads: "population of city". */
  readonly text: string;
}

/** Classes and properties of an endpoint as a graph; without any when it has not been described. */
export interface SchemaGraph {
  readonly id: string;
  readonly nodes: readonly SchemaNode[];
  /** Stems that the endpoint is found by; names weigh 1, words of its entry less. */
  readonly words: ReadonlyMap<string, number>;
  /** What the endpoint is about, for a model of meaning. */
  readonly text: string;
}

/** Most frequent classes, and as many properties, of one endpoint. */
const mostOfKind = 1_000;
const mostNeighbours = 200;
const entryWeight = 0.7;
const propertyWeight = 0.8;

/** Stores that describe themselves have classes and properties of the store, which no question is about. */
const isAboutStore = (iri: string): boolean => iri === rdf.type || iri.startsWith("http://www.openlinksw.com/schemas/");

interface Draft {
  readonly kind: SchemaNode["kind"];
  readonly iri: string;
  count: number;
  readonly domains: Set<number>;
  readonly ranges: Set<number>;
  readonly properties: Set<number>;
}

/** The graph of an endpoint, from its entry and, where there is one, its description. */
export function schemaGraph(entry: CatalogEntry, description: VoidDescription | undefined): SchemaGraph {
  const drafts = description === undefined ? [] : draftsOf(description);
  const known = new Map(description?.terms?.map((term) => [term.iri, term]));
  const labels = drafts.map(({ iri }) => known.get(iri)?.label);
  const nodes = drafts.map(
    (draft, at): SchemaNode => ({
      kind: draft.kind,
      iri: draft.iri,
      names: namesOf(draft.iri, labels[at]),
      count: draft.count,
      domains: [...draft.domains],
      ranges: [...draft.ranges],
      properties: [...draft.properties],
      text: withComment(nodeText(at, drafts, labels), known.get(draft.iri)?.description),
    }),
  );
  return { id: entry.id, nodes, words: wordsOf(entry, nodes), text: graphText(entry, drafts, labels) };
}

function draftsOf({ classPartitions, propertyPartitions }: VoidDescription): readonly Draft[] {
  const places = new Map<string, number>();
  const drafts: Draft[] = [];
  const numbers = { class: 0, property: 0 };
  const place = (kind: SchemaNode["kind"], iri: string, count = -1): number | undefined => {
    const key = `${kind} ${iri}`;
    const known = places.get(key);
    if (known !== undefined || isAboutStore(iri) || numbers[kind] >= mostOfKind) return known;
    numbers[kind]++;
    places.set(key, drafts.length);
    return drafts.push({ kind, iri, count, domains: new Set(), ranges: new Set(), properties: new Set() }) - 1;
  };
  for (const { class: iri, entities } of classPartitions) place("class", iri, entities?.value);
  for (const { property, triples } of propertyPartitions) place("property", property, triples?.value);
  const addRanges = (at: number | undefined, { objectClasses }: PropertyPartition): void => {
    for (const { iri } of objectClasses) join(drafts[at ?? -1]?.ranges, places.get(`class ${iri}`));
  };
  for (const property of propertyPartitions) addRanges(places.get(`property ${property.property}`), property);
  for (const { class: iri, properties } of classPartitions) {
    const owner = places.get(`class ${iri}`);
    for (const property of properties) {
      const at = place("property", property.property);
      addRanges(at, property);
      join(drafts[at ?? -1]?.domains, owner);
      join(drafts[owner ?? -1]?.properties, at);
    }
  }
  return drafts;
}

function join(neighbours: Set<number> | undefined, at: number | undefined): void {
  if (neighbours !== undefined && at !== undefined && neighbours.size < mostNeighbours) neighbours.add(at);
}

function namesOf(iri: string, label: string | undefined): readonly (readonly string[])[] {
  const local = stemsOf(iriParts(iri).local);
  const labelled = label === undefined ? [] : stemsOf(label);
  const names = labelled.join(" ") === local.join(" ") ? [local] : [local, labelled];
  return names.filter((stems) => stems.length > 0);
}

const longestName = 80;

const readableName = (iri: string, label?: string): string =>
  plainText(label ?? nameWords(iriParts(iri).local).join(" ").toLowerCase(), longestName);

function nodeText(at: number, drafts: readonly Draft[], labels: readonly (string | undefined)[]): string {
  const nameOf = (place: number): string => readableName(drafts[place]?.iri ?? "", labels[place]);
  const draft = drafts[at];
  if (draft === undefined || draft.kind === "class") return nameOf(at);
  const domains = [...draft.domains].slice(0, 2).map(nameOf);
  const ranges = [...draft.ranges].slice(0, 1).map(nameOf);
  return [nameOf(at), ...(domains.length > 0 ? ["of", ...domains] : []), ...ranges].join(" ");
}

const longestComment = 120;

const withComment = (text: string, comment: string | undefined): string =>
  comment === undefined ? text : `${text}: ${plainText(comment, longestComment)}`;

const mostShownClasses = 30;
const mostShownProperties = 8;
const longestText = 700;

/** "city (name, population); country (...)"; of an endpoint without classes what its entry says. */
function graphText(
  { title, description, keywords }: CatalogEntry,
  drafts: readonly Draft[],
  labels: readonly (string | undefined)[],
): string {
  const nameOf = (place: number): string => readableName(drafts[place]?.iri ?? "", labels[place]);
  const classes = [...drafts.keys()]
    .filter((place) => drafts[place]?.kind === "class")
    .slice(0, mostShownClasses)
    .map((place) => {
      const names = [...(drafts[place]?.properties ?? [])].slice(0, mostShownProperties).map(nameOf);
      return names.length === 0 ? nameOf(place) : `${nameOf(place)} (${names.join(", ")})`;
    });
  const said = [title, description ?? keywords.join(", ")].filter((text) => text !== "").join(". ");
  return (classes.length === 0 ? said : classes.join("; ")).slice(0, longestText);
}

function wordsOf(entry: CatalogEntry, nodes: readonly SchemaNode[]): ReadonlyMap<string, number> {
  const words = new Map<string, number>();
  const add = (stems: readonly string[], weight: number): void => {
    for (const stem of stems) words.set(stem, Math.max(words.get(stem) ?? 0, weight));
  };
  add(stemsOf(entry.id), 1);
  const texts = [entry.title, entry.description ?? "", ...entry.keywords].join(" \n ").slice(0, 2_000);
  add(stemsOf(texts), entryWeight);
  for (const { kind, names } of nodes) {
    const weight = kind === "class" ? 1 : propertyWeight;
    for (const stems of names) add(stems.length > 1 ? [...stems, stems.join("")] : stems, weight);
  }
  return words;
}
