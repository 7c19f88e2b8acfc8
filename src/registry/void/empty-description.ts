import type { AskedEndpoint } from "../catalog/asking.ts";
import { createAgenda } from "../compute/agenda.ts";
import type { VoidDescription } from "./void-description.ts";

/** What an empty description is about. */
export interface EmptyFrame extends Pick<VoidDescription, "dataset" | "startedAt" | "finishedAt"> {
  readonly endpoint: AskedEndpoint;
}

/** A description of which nothing is known yet and everything is left to do. */
export function emptyDescription({ endpoint, dataset, startedAt, finishedAt }: EmptyFrame): VoidDescription {
  return {
    endpoint: endpoint.url,
    ...(endpoint.id !== undefined && { id: endpoint.id }),
    dataset,
    source: "computed",
    startedAt,
    finishedAt,
    unfinished: true,
    classPartitions: [],
    classesComplete: false,
    propertyPartitions: [],
    propertiesComplete: false,
    languages: [],
    namespaces: [],
    linksets: [],
    // A description without work that is left would be taken for a finished one.
    unknown: createAgenda(undefined).unknown(),
    records: [],
    cost: { requests: 0, bytes: 0, ms: 0 },
  };
}
