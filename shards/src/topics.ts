import { FedwayError } from "../../src/errors/fedway-error.ts";
import { compareText } from "../../src/rdf/canonical.ts";
import type { LearnedCells } from "./load/cells.ts";
import type { PlacementOf } from "./rules/placement.ts";

const rdfType = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
const mostClasses = 2;
const mostProperties = 4;
const longestName = 40;

/** Triples by the words of a class or property. */
type Weights = Map<string, number>;

/**
 * What each shard is about, by its key, in one sentence: "Ferry and company with name, capacity and 3 more properties".
 * Made of the classes of its subjects and of its properties, those with the most triples first, so it depends on the data
 * and the placement alone. A text of the operator's wins.
 * @throws FedwayError `REQUEST_INVALID` for a text of a shard that there is not
 */
export function topicsOf(
  { cells }: Pick<LearnedCells, "cells">,
  placement: PlacementOf,
  own: Readonly<Record<string, string>> = {},
): ReadonlyMap<string, string> {
  const shards = new Map<string, { readonly classes: Weights; readonly properties: Weights }>();
  for (const { types, predicate, bucket, triples } of cells) {
    const key = placement(types, predicate, bucket);
    const shard = shards.get(key) ?? { classes: new Map(), properties: new Map() };
    shards.set(key, shard);
    for (const iri of types) add(shard.classes, wordsOf(iri), triples);
    if (predicate !== rdfType) add(shard.properties, wordsOf(predicate), triples);
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
  return new Map([...shards].map(([key, shard]) => [key, own[key] ?? sentence(shard)]));
}

const add = (weights: Weights, name: string, triples: number): void => {
  weights.set(name, (weights.get(name) ?? 0) + triples);
};

/** The local name of an IRI as words: `singer_in_concert` and `SingerInConcert` are "singer in concert". */
function wordsOf(iri: string): string {
  const local = iri.split(/[/#:]/u).findLast((part) => part !== "") ?? iri;
  const words = local
    .replaceAll(/(?<=\p{Ll}|\d)(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/gu, " ")
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .trim()
    .toLowerCase();
  return words === "" ? local.slice(0, longestName) : words.slice(0, longestName);
}

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
