import type { PropertyPartition, VoidDescription } from "../void/void-description.ts";

const most = 50_000;

/** Every class, property and datatype of a description, as often as it occurs, as far as the first 50,000. */
export function* descriptionIris(description: VoidDescription): Generator<string> {
  let given = 0;
  for (const iri of all(description)) {
    yield iri;
    if (++given === most) return;
  }
}

function* all({ classPartitions, propertyPartitions, linksets }: VoidDescription): Generator<string> {
  for (const partition of classPartitions) {
    yield partition.class;
    yield* ofProperties(partition.properties);
  }
  yield* ofProperties(propertyPartitions);
  for (const { property } of linksets) yield property;
}

function* ofProperties(properties: readonly PropertyPartition[]): Generator<string> {
  for (const { property, objectClasses, datatypes } of properties) {
    yield property;
    for (const { iri } of objectClasses) yield iri;
    for (const { iri } of datatypes) yield iri;
  }
}
