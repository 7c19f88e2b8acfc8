import { FedwayError } from "../../src/errors/fedway-error.ts";
import { itemAt, valueFor } from "../../src/values.ts";
import { compareText } from "../../src/rdf/canonical.ts";
import type { Cell } from "./rules/problem.ts";
import { wordsOf } from "./rules/shard-names.ts";
import type { ManifestShard } from "./materialise/manifest.ts";

const rdfType = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
const mostNamedClasses = 2;
const mostNamedProperties = 4;

/** Triples by the words of a class or property. */
type Weights = Map<string, number>;

/**
 * Topic of each shard, by its key, in one sentence: "Ferry and company with name, capacity and 3 more properties".
 * Made of the classes of its subjects and of its properties, those with the most triples first, so it depends on the data
 * and the placement alone. Shards with the same sentence, such as the buckets of a class, say which part they are: "..., part 1 of 2".
 * A text of the operator's wins.
 * @param keys of each cell that of its shard
 * @throws FedwayError `REQUEST_INVALID` for a text of a shard that there is not
 */
export function topicsOf(
  cells: readonly Cell[],
  keys: readonly string[],
  own: Readonly<Record<string, string>> = {},
): ReadonlyMap<string, string> {
  const subjects = new Map<string, { readonly classes: Weights; readonly properties: Weights }>();
  const shards = new Map<string, ReturnType<typeof partOf>>();
  for (const [at, { types, predicate, triples }] of cells.entries()) {
    const key = itemAt(keys, at);
    const part = shards.get(key) ?? partOf(key);
    shards.set(key, part);
    const about = subjects.get(part.whole) ?? { classes: new Map(), properties: new Map() };
    subjects.set(part.whole, about);
    for (const iri of types) add(about.classes, wordsOf(iri), triples);
    if (predicate !== rdfType) add(about.properties, wordsOf(predicate), triples);
  }
  const unknown = Object.keys(own).find((key) => !shards.has(key));
  if (unknown !== undefined) {
    throw new FedwayError(
      "REQUEST_INVALID",
      `topics has a text for the shard ${JSON.stringify(unknown)}, which does not exist.`,
      {
        next: `The shards are ${[...shards.keys()].toSorted(compareText).join(", ")}.`.slice(0, 500),
      },
    );
  }
  const sentences = new Map([...subjects].map(([whole, about]) => [whole, sentence(about)]));
  const topics = new Map([...shards].map(([key, { whole }]) => [key, valueFor(sentences, whole)]));
  for (const [topic, twins] of Map.groupBy([...shards], ([key]) => valueFor(topics, key))) {
    const ordered = twins.toSorted(
      ([, left], [, right]) => compareText(left.whole, right.whole) || left.bucket - right.bucket,
    );
    if (twins.length === 1) continue;
    for (const [at, [key]] of ordered.entries()) topics.set(key, `${topic}, part ${at + 1} of ${twins.length}`);
  }
  return new Map([...topics].map(([key, topic]) => [key, own[key] ?? topic]));
}

/** The buckets of a class are one whole. */
function partOf(key: string) {
  if (!key.startsWith("h/") && !key.startsWith("base/")) return { whole: key, bucket: 0 };
  const end = key.lastIndexOf("/");
  return { whole: key.slice(0, end), bucket: Number(key.slice(end + 1)) };
}

const add = (weights: Weights, name: string, triples: number): void => {
  weights.set(name, (weights.get(name) ?? 0) + triples);
};

function sentence({ classes, properties }: { readonly classes: Weights; readonly properties: Weights }): string {
  const about = listed(heaviest(classes), mostNamedClasses, ["class", "classes"]);
  const facts = listed(heaviest(properties), mostNamedProperties, ["property", "properties"]);
  if (about === "") return capitalised(facts);
  return capitalised(facts === "" ? `which things are ${about}` : `${about} with ${facts}`);
}

const heaviest = (weights: Weights): readonly string[] =>
  [...weights].toSorted(([left, a], [right, b]) => b - a || compareText(left, right)).map(([name]) => name);

function listed(names: readonly string[], most: number, [one, several]: readonly [string, string]): string {
  const rest = names.length - most;
  const parts = rest > 0 ? [...names.slice(0, most), `${rest} more ${rest === 1 ? one : several}`] : names;
  return parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;
}

const capitalised = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;

const mostProperties = 1_000;
const mostClasses = 50;
const longestIri = 2_000;

/** A property of a shard, with the classes that its subjects and objects have in the whole dataset. */
type ShardProperty = NonNullable<ManifestShard["properties"]>[number];

interface Seen {
  triples: number;
  readonly subjectClasses: Set<string>;
  readonly objectClasses: Set<string>;
}

/**
 * Each shard's properties by its key, with the classes at both ends, wherever the triples lie that say so. Those with the most
 * triples first; of more than 1,000 properties, or 50 classes at an end, the rest is left out.
 */
export function propertiesOfShards(
  cells: readonly Cell[],
  keys: readonly string[],
): ReadonlyMap<string, readonly ShardProperty[]> {
  const shards = new Map<string, Map<string, Seen>>();
  for (const [at, { types, predicate, triples, objectClasses = [] }] of cells.entries()) {
    if (predicate.length > longestIri) continue;
    const key = itemAt(keys, at);
    const shard = shards.get(key) ?? new Map<string, Seen>();
    shards.set(key, shard);
    const seen = shard.get(predicate) ?? { triples: 0, subjectClasses: new Set(), objectClasses: new Set() };
    shard.set(predicate, seen);
    seen.triples += triples;
    for (const iri of types) seen.subjectClasses.add(iri);
    for (const iri of objectClasses) seen.objectClasses.add(iri);
  }
  return new Map([...shards].map(([key, properties]) => [key, byTriples(properties)]));
}

const byTriples = (properties: ReadonlyMap<string, Seen>): readonly ShardProperty[] =>
  [...properties]
    .toSorted(([left, one], [right, other]) => other.triples - one.triples || compareText(left, right))
    .slice(0, mostProperties)
    .map(([property, { subjectClasses, objectClasses }]) => ({
      property,
      subjectClasses: sorted(subjectClasses),
      objectClasses: sorted(objectClasses),
    }));

const sorted = (classes: ReadonlySet<string>): readonly string[] =>
  [...classes]
    .filter((iri) => iri.length <= longestIri)
    .toSorted(compareText)
    .slice(0, mostClasses);
