import { FedwayError } from "../errors/fedway-error.ts";
import { twoTargets, unknownId } from "../errors/unknown-id.ts";
import { type Catalog, describeAdvice, describedFederation } from "../registry/catalog.ts";
import type { EndpointModels } from "../registry/model.ts";
import { decodedName } from "../rdf/display-text.ts";
import type { Completion, CompletionRequest } from "./completion.ts";
import { createKnownTerms } from "./known-terms.ts";
import { mostOptions, optionsAt } from "./options.ts";
import { type ReadQuery, readQuery } from "./read-query.ts";

/** Completion from what is known of endpoints; none is asked. */
export function createCompletion({ catalog, models }: { readonly catalog: Catalog; readonly models: EndpointModels }) {
  const known = createKnownTerms(models);
  /** @throws FedwayError `ENDPOINT_UNKNOWN`, `FEDERATION_UNKNOWN`, `REQUEST_INVALID` for both of them */
  return async (request: CompletionRequest): Promise<Completion> => {
    const target = targetIds(request, catalog);
    const at = Math.min(request.position, request.query.length);
    const query = tryRead(request.query, at);
    const nothing = { from: at, to: at, kind: "none", options: [], isIncomplete: false } as const;
    if (typeof query === "string") return { ...nothing, why: query };
    const { from, to, place } = query;
    const ids = place.service === undefined ? target : serviceIds(place.service, catalog);
    const scope = await known(ids ?? []);
    const why = scope.length === 0 && ofEndpoints.has(place.slot) ? whyUnknown(place.service, ids, catalog) : undefined;
    const found = optionsAt(query, scope, catalog);
    const [first, ...others] = found;
    const isWritten = others.length === 0 && first?.insert === request.query.slice(from, to);
    if (first === undefined || isWritten) return { ...nothing, why: why ?? "Nothing is known that fits here." };
    const shown = found.slice(0, mostOptions);
    const isIncomplete = found.length > mostOptions;
    return { from, to, kind: first.kind, options: shown, isIncomplete, ...(why && { why }) };
  };
}

/** Slots for which endpoints have something. */
const ofEndpoints: ReadonlySet<string> = new Set(["predicate", "object", "data", "expression"]);

function tryRead(text: string, position: number): ReadQuery | string {
  try {
    return readQuery(text, position) ?? "Nothing is completed in comments and numbers.";
  } catch (error) {
    if (error instanceof FedwayError) return error.message;
    throw error;
  }
}

/** The endpoints that are asked outside of SERVICE. */
function targetIds({ endpoint, federation }: CompletionRequest, catalog: Catalog): readonly string[] {
  if (endpoint !== undefined && federation !== undefined) throw twoTargets();
  if (endpoint !== undefined && catalog.byId(endpoint) === undefined) throw unknownId("endpoint", endpoint, catalog);
  if (endpoint !== undefined) return [endpoint];
  if (federation === undefined) return membersOf(describedFederation, catalog);
  const named = catalog.federation(federation);
  if (named === undefined) throw unknownId("federation", federation, catalog);
  return membersOf(named, catalog);
}

const mostMembers = 300;
const membersOf = (named: Parameters<Catalog["membersOf"]>[0], catalog: Catalog): readonly string[] =>
  Array.from(catalog.membersOf(named).slice(0, mostMembers), ({ id }) => id);

/** The endpoints that a SERVICE names; undefined where none has that name. */
function serviceIds(written: string, catalog: Catalog): readonly string[] | undefined {
  const name = written.replace(/^<(.*)>$/, "$1");
  const [, keyword] = /^fedway:keyword\/(.*)$/.exec(name) ?? [];
  const federation = catalog.federation(name) ?? catalog.federationByUrl(name);
  if (keyword !== undefined) return membersOf({ members: [], memberKeywords: [decodedName(keyword)] }, catalog);
  if (federation !== undefined) return membersOf(federation, catalog);
  const entry = catalog.byId(name) ?? catalog.byUrl(name);
  return entry && [entry.id];
}

/** A sentence for readers. */
function whyUnknown(service = "", ids: readonly string[] | undefined, catalog: Catalog): string {
  const [id] = ids ?? [];
  if (id !== undefined)
    return `${id} has not been described, so its terms are unknown. ${describeAdvice(catalog.byId(id))}`;
  if (ids !== undefined) return "No endpoint that is asked here has been described, so no terms are known.";
  return service.startsWith("<")
    ? `The catalogue has no endpoint or federation ${service.slice(0, 200)}.`
    : "Which endpoint is asked here is known when the query runs.";
}
