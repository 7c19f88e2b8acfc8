import type { Count, ObjectPartition, PropertyPartition } from "../../src/registry/descriptions/void-description.ts";
import type { DataTruth, PropertyTruth } from "./void-truth.ts";
import type { VoidDescription } from "../../src/registry/descriptions.ts";

const exact = (value: number): Count => ({ value, status: "exact", record: 0 });

/** The description that says everything there is to say, all of it exact and complete. */
export function truthfulDescription(truth: DataTruth): VoidDescription {
  return {
    endpoint: "http://127.0.0.1/sparql",
    dataset: "http://127.0.0.1/sparql#dataset",
    source: "computed",
    startedAt: "2026-01-01T00:00:00.000Z",
    finishedAt: "2026-01-01T00:00:00.000Z",
    unfinished: false,
    triples: exact(truth.triples),
    classes: exact(truth.classes),
    properties: exact(truth.properties),
    distinctSubjects: exact(truth.distinctSubjects),
    distinctObjects: exact(truth.distinctObjects),
    classPartitions: [...truth.classPartitions].map(([iri, one]) => ({
      class: iri,
      status: "exact",
      record: 0,
      entities: exact(one.entities),
      triples: exact(one.triples),
      properties: [...one.properties].map(propertyPartition),
      propertiesComplete: true,
    })),
    classesComplete: true,
    propertyPartitions: [...truth.propertyPartitions].map(propertyPartition),
    propertiesComplete: true,
    languages: [...truth.languages],
    namespaces: [],
    linksets: [],
    unknown: [],
    records: [],
    cost: { requests: 1, bytes: 0, ms: 0 },
  };
}

function propertyPartition([property, one]: readonly [string, PropertyTruth]): PropertyPartition {
  const objects = (counts: ReadonlyMap<string, number>): readonly ObjectPartition[] =>
    [...counts].map(([iri, triples]) => ({ iri, triples: exact(triples), status: "exact", record: 0 }));
  return {
    property,
    status: "exact",
    record: 0,
    triples: exact(one.triples),
    distinctSubjects: exact(one.distinctSubjects),
    distinctObjects: exact(one.distinctObjects),
    objectClasses: objects(one.objectClasses),
    datatypes: objects(one.datatypes),
    objectsComplete: true,
  };
}
