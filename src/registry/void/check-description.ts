import { type TSchema, Type } from "typebox";
import { Compile } from "typebox/compile";
import type { VoidDescription } from "./void-description.ts";

const longestIri = 2048;
const longestText = 8192;
const longestQuery = 1_000_000;
const mostPartitions = 200_000;
const mostNames = 10_000;
const mostRecords = 100_000;

/** A non-empty text of at most so many UTF-16 code units. */
export const text = (most: number) =>
  Type.Refine(
    Type.String(),
    (value) => value !== "" && value.length <= most,
    () => `must have 1 to ${most} characters`,
  );

/** A finite number from 0 on. */
export const quantity = Type.Number({ minimum: 0 });

/** An ISO 8601 moment. */
export const instant = Type.Refine(
  Type.String(),
  (value) => value.length <= 40 && !Number.isNaN(Date.parse(value)),
  () => "must be a moment",
);

/** An object with these members and no others. */
export const exactly = <Members extends Record<string, TSchema>>(members: Members) =>
  Type.Object(members, { additionalProperties: false });

const list = <Item extends TSchema>(item: Item, maxItems: number) => Type.Array(item, { maxItems });

const iri = text(longestIri);
const known = {
  status: Type.Enum(["exact", "lowerBound", "exists", "sampled", "claimed"]),
  record: Type.Integer({ minimum: 0 }),
};
const count = Type.Optional(exactly({ value: quantity, ...known }));
const objects = list(exactly({ iri, ...known, triples: count }), mostPartitions);
const properties = list(
  exactly({
    property: iri,
    ...known,
    triples: count,
    distinctSubjects: count,
    distinctObjects: count,
    objectClasses: objects,
    datatypes: objects,
    objectsComplete: Type.Boolean(),
  }),
  mostPartitions,
);
const classes = list(
  exactly({ class: iri, ...known, entities: count, triples: count, properties, propertiesComplete: Type.Boolean() }),
  mostPartitions,
);
const linkset = exactly({
  property: iri,
  subjectClass: Type.Optional(iri),
  objectClass: Type.Optional(iri),
  targetEndpoint: Type.Optional(text(64)),
  targetDataset: Type.Optional(iri),
  triples: count,
  ...known,
});
const unknown = exactly({
  what: text(longestText),
  why: Type.Enum(["timeout", "refused", "budget", "partial", "failed", "contradicted"]),
  record: Type.Optional(known.record),
});
const record = exactly({
  rung: Type.Enum([0, 1, 2, 3, 4, 5, 6]),
  query: text(longestQuery),
  httpStatus: Type.Optional(quantity),
  durationMs: quantity,
  at: instant,
  outcome: Type.Enum(["ok", "partial", "timeout", "refused", "failed"]),
});
const graphs = list(exactly({ graph: iri, ...known, triples: count }), mostNames);

const validator = Compile(
  exactly({
    endpoint: iri,
    id: Type.Optional(text(64)),
    dataset: iri,
    source: Type.Enum(["retrieved", "computed", "mixed"]),
    retrievedFrom: Type.Optional(iri),
    startedAt: instant,
    finishedAt: instant,
    unfinished: Type.Boolean(),
    title: Type.Optional(text(longestText)),
    description: Type.Optional(text(longestText)),
    license: Type.Optional(iri),
    citation: Type.Optional(text(longestText)),
    origin: Type.Optional(iri),
    triples: count,
    classes: count,
    properties: count,
    distinctSubjects: count,
    distinctObjects: count,
    classPartitions: classes,
    classesComplete: Type.Boolean(),
    propertyPartitions: properties,
    propertiesComplete: Type.Boolean(),
    languages: list(text(80), mostNames),
    namespaces: list(iri, mostNames),
    graphs: Type.Optional(list(iri, mostNames)),
    namedGraphs: Type.Optional(exactly({ list: graphs, complete: Type.Boolean() })),
    linksets: list(linkset, mostPartitions),
    unknown: list(unknown, mostPartitions),
    records: list(record, mostRecords),
    cost: exactly({ requests: quantity, bytes: quantity, ms: quantity }),
  }),
);

/**
 * A description from outside the process (storage, a document), checked throughout; unknown members are refused.
 * @returns the same value, or the reason why it is none
 */
export function checkDescription(value: unknown): VoidDescription | { readonly reason: string } {
  if (!validator.Check(value)) {
    const [error] = validator.Errors(value);
    return { reason: `${error?.instancePath.slice(1) || "it"} ${error?.message ?? "is no description"}` };
  }
  const { records } = value;
  return pointsBeyond(value, records.length) ? { reason: "a record points to no record" } : value;
}

/** Whether any fact comes from a request that is not on record. */
function pointsBeyond(value: unknown, records: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if ("record" in value && typeof value.record === "number" && value.record >= records) return true;
  return Object.values(value).some((part) => pointsBeyond(part, records));
}
