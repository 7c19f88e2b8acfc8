import {
  type Check,
  checkList,
  checkObject,
  either,
  flag,
  instant,
  limited,
  optional,
  quantity,
} from "./check-values.ts";
import type { VoidDescription } from "./void-description.ts";

const longestIri = 2048;
const longestText = 8192;
const longestQuery = 1_000_000;
const mostPartitions = 200_000;
const mostNames = 10_000;
const mostRecords = 100_000;

const iri = limited(longestIri);
const text = limited(longestText);
const status = either("exact", "lowerBound", "exists", "sampled", "claimed");

/** A position of the records. */
const recordOf =
  (records: number): Check =>
  (value) =>
    typeof value === "number" && Number.isInteger(value) && value >= 0 && value < records
      ? undefined
      : "points to no record";

const endings = either("ok", "partial", "timeout", "refused", "failed");
const reasons = either("timeout", "refused", "budget", "partial", "failed", "contradicted");

const record = checkObject({
  rung: either(0, 1, 2, 3, 4, 5, 6),
  query: limited(longestQuery),
  httpStatus: optional(quantity),
  durationMs: quantity,
  at: instant,
  outcome: endings,
});

/** The checks of everything that points into `records`. */
function factChecks(records: number): Readonly<Record<string, Check>> {
  const known = { status, record: recordOf(records) };
  const count = checkObject({ value: quantity, ...known });
  const objects = checkList(checkObject({ iri, ...known, triples: optional(count) }), mostPartitions);
  const properties = checkList(
    checkObject({
      property: iri,
      ...known,
      triples: optional(count),
      distinctSubjects: optional(count),
      distinctObjects: optional(count),
      objectClasses: objects,
      datatypes: objects,
      objectsComplete: flag,
    }),
    mostPartitions,
  );
  const classes = checkObject({
    class: iri,
    ...known,
    entities: optional(count),
    triples: optional(count),
    properties,
    propertiesComplete: flag,
  });
  const linkset = checkObject({
    property: iri,
    subjectClass: optional(iri),
    objectClass: optional(iri),
    targetEndpoint: optional(limited(64)),
    targetDataset: optional(iri),
    triples: optional(count),
    ...known,
  });
  const graph = checkObject({ graph: iri, ...known, triples: optional(count) });
  return {
    namedGraphs: optional(checkObject({ list: checkList(graph, mostNames), complete: flag })),
    triples: optional(count),
    classes: optional(count),
    properties: optional(count),
    distinctSubjects: optional(count),
    distinctObjects: optional(count),
    classPartitions: checkList(classes, mostPartitions),
    classesComplete: flag,
    propertyPartitions: properties,
    propertiesComplete: flag,
    linksets: checkList(linkset, mostPartitions),
    unknown: checkList(checkObject({ what: text, why: reasons, record: optional(recordOf(records)) }), mostPartitions),
  };
}

const frameChecks: Readonly<Record<string, Check>> = {
  endpoint: iri,
  id: optional(limited(64)),
  dataset: iri,
  source: either("retrieved", "computed", "mixed"),
  retrievedFrom: optional(iri),
  startedAt: instant,
  finishedAt: instant,
  unfinished: flag,
  title: optional(text),
  description: optional(text),
  license: optional(iri),
  citation: optional(text),
  origin: optional(iri),
  languages: checkList(limited(80), mostNames),
  namespaces: checkList(iri, mostNames),
  graphs: optional(checkList(iri, mostNames)),
  records: checkList(record, mostRecords),
  cost: checkObject({ requests: quantity, bytes: quantity, ms: quantity }),
};

/**
 * A description from outside the process (storage, a document), checked throughout; unknown members are refused.
 * @returns the same value, or the reason why it is none
 */
export function checkDescription(value: unknown): VoidDescription | { readonly reason: string } {
  const records =
    typeof value === "object" && value !== null && "records" in value && Array.isArray(value.records)
      ? value.records.length
      : 0;
  const check = checkObject({ ...frameChecks, ...factChecks(records) });
  const passes = (one: unknown): one is VoidDescription => check(one) === undefined;
  return passes(value) ? value : { reason: check(value) ?? "" };
}
