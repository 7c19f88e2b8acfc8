import type { Repair } from "../../errors/fedway-error.ts";
import { unknownId } from "../../errors/unknown-id.ts";
import type { Planner } from "../../plan/create-planner.ts";
import type { KnownSources, PlanContext } from "../../plan/plan-request.ts";
import { placeNamed } from "../../plan/meant-entries.ts";
import type { EndpointModels } from "../../registry/model.ts";
import type { Finder } from "../../registry/find.ts";
import { type Vocabulary, vocabularyOf } from "./vocabulary.ts";

/** Knowledge that queries are checked against, all from memory; no endpoint is asked. */
export interface CheckOptions extends Pick<PlanContext, "catalog" | "availability"> {
  readonly planner: Planner;
  readonly finder: Finder;
  readonly models: EndpointModels;
  /** Certain facts about endpoints; absent: none. */
  readonly sources?: Pick<KnownSources, "facts"> | undefined;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** A query to be checked, and where it is to be sent. */
export interface CheckRequest {
  readonly query: string;
  /** Id or URL of the endpoint; patterns outside of every SERVICE belong to it. */
  readonly endpoint?: string | undefined;
  /** Id of the federation; not together with `endpoint`. */
  readonly federation?: string | undefined;
  /** Owner of the query; repeats are those of the same owner and session. */
  readonly owner: string;
  readonly session?: string | undefined;
}

/** Where a query is sent, by catalogue ids. */
export interface Place {
  readonly endpointId?: string | undefined;
  readonly federationId?: string | undefined;
  readonly repairs: readonly Repair[];
}

/** The place that a request means. @throws FedwayError `ENDPOINT_UNKNOWN`, `FEDERATION_UNKNOWN` */
export function placeMeant({ endpoint, federation }: CheckRequest, { catalog }: CheckOptions): Place {
  if (endpoint !== undefined && federation === undefined) {
    const place = placeNamed(endpoint, catalog);
    if ("federation" in place)
      return { federationId: place.federation.id, repairs: repaired(endpoint, place.federation.id) };
    const { id } = place.entry;
    return { endpointId: id, repairs: endpoint.includes("://") ? [] : repaired(endpoint, id) };
  }
  if (federation === undefined) return { repairs: [] };
  const known = catalog.federation(federation.trim()) ?? catalog.federation(federation.trim().toLowerCase());
  if (!known) throw unknownId("federation", federation, catalog);
  return { federationId: known.id, endpointId: endpoint, repairs: repaired(federation, known.id) };
}

const repaired = (before: string, after: string): readonly Repair[] =>
  before === after ? [] : [{ kind: "endpoint", before, after, applied: true }];

/** The vocabularies of these endpoints, as far as they are described. */
export const vocabulariesFor = (ids: readonly string[], models: CheckOptions["models"]): readonly Vocabulary[] =>
  ids.flatMap((id) => models.get(id)?.described ?? []).map((described) => vocabularyOf(described));
