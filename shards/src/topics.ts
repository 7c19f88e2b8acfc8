import { FedwayError } from "../../src/errors/fedway-error.ts";
import { valueFor } from "../../src/values.ts";
import { compareText } from "../../src/rdf/canonical.ts";
import type { LearnedCells } from "./load/cells.ts";
import type { PlacementOf } from "./rules/placement.ts";
import { wordsOf } from "./rules/shard-names.ts";

const rdfType = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
const mostClasses = 2;
const mostProperties = 4;

/** Triples by the words of a class or property. */
type Weights = Map<string, number>;

/**
 * Topic of each shard, by its key, in one sentence: "Ferry and company with name, capacity and 3 more properties".
 * Made of the classes of its subjects and of its properties, those with the most triples first, so it depends on the data
 * and the placement alone. Shards with the same sentence, such as the buckets of a class, say which part they are: "..., part 1 of 2".
 * A text of the operator's wins.
 * @throws FedwayError `REQUEST_INVALID` for a text of a shard that there is not
 */
export function topicsOf(
  { cells }: Pick<LearnedCells, "cells">,
  placement: PlacementOf,
  own: Readonly<Record<string, string>> = {},
): ReadonlyMap<string, string> {
  const subjects = new Map<string, { readonly classes: Weights; readonly properties: Weights }>();
  const shards = new Map<string, ReturnType<typeof partOf>>();
  for (const { types, predicate, bucket, triples } of cells) {
    const key = placement(types, predicate, bucket);
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
  if (!key.startsWith("h/")) return { whole: key, bucket: 0 };
  const end = key.lastIndexOf("/");
  return { whole: key.slice(0, end), bucket: Number(key.slice(end + 1)) };
}

const add = (weights: Weights, name: string, triples: number): void => {
  weights.set(name, (weights.get(name) ?? 0) + triples);
};

function sentence({ classes, properties }: { readonly classes: Weights; readonly properties: Weights }): string {
  const about = listed(heaviest(classes), mostClasses, ["class", "classes"]);
  const facts = listed(heaviest(properties), mostProperties, ["property", "properties"]);
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
