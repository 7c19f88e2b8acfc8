import type { Count } from "../../src/registry/descriptions/void-description.ts";
import type { VoidDescription } from "../../src/registry/descriptions.ts";

const claim = (value: number): Count => ({ value, status: "claimed", record: 0 });

/** The class and the property that `withGoneTerms` adds. */
export const goneTerms = { class: "http://gone.example/Class", property: "http://gone.example/property" } as const;

/** As many publishers write it: the lists of classes and properties alone. */
export const listsOnly = (whole: VoidDescription): VoidDescription => ({
  ...whole,
  classPartitions: whole.classPartitions.map((partition) => ({ ...partition, properties: [] })),
  propertyPartitions: whole.propertyPartitions.map((partition) => ({ ...partition, objectClasses: [], datatypes: [] })),
});

/** With a class and a property that the data have no more. */
export const withGoneTerms = (whole: VoidDescription): VoidDescription => ({
  ...whole,
  classPartitions: [
    ...whole.classPartitions,
    {
      class: goneTerms.class,
      status: "claimed",
      record: 0,
      entities: claim(3),
      properties: whole.classPartitions[0]?.properties ?? [],
      propertiesComplete: false,
    },
  ],
  propertyPartitions: [
    ...whole.propertyPartitions,
    {
      property: goneTerms.property,
      status: "claimed",
      record: 0,
      triples: claim(3),
      objectClasses: [],
      datatypes: [],
      objectsComplete: false,
    },
  ],
});

/** With all counts wrong by the same factor. */
export const scaled = (whole: VoidDescription, factor: number): VoidDescription =>
  JSON.parse(JSON.stringify(whole), (_key, value: unknown) =>
    typeof value === "object" && value !== null && "value" in value && typeof value.value === "number"
      ? { ...value, value: Math.ceil(value.value * factor) }
      : value,
  ) as VoidDescription;

/** A description as if it had been retrieved, and had passed. */
export const asRetrieved = (description: VoidDescription): VoidDescription => ({
  ...(JSON.parse(JSON.stringify(description), (key, value: unknown) =>
    key === "status" ? "claimed" : key.endsWith("Complete") ? false : value,
  ) as VoidDescription),
  source: "retrieved",
  unfinished: true,
  cost: { requests: 0, bytes: 0, ms: 0 },
  records: [{ rung: 0, query: "http://void.example/", durationMs: 1, at: "2026-01-01T00:00:00.000Z", outcome: "ok" }],
});
