import type { Catalog } from "../catalog/catalog.ts";
import { describedFederation } from "../catalog/described-federation.ts";
import type { EndpointModels } from "../model/endpoint-models.ts";
import { createFederationModels, type FederationModel } from "../model/federation-model.ts";

const mark = "federation:";

/** Federations among endpoints, by keys that no endpoint has. */
export type KnownFederations = ReturnType<typeof createKnownFederations>;

/** The federations of a catalogue as they are ranked beside its endpoints. */
export function createKnownFederations(models: EndpointModels, catalog: Catalog) {
  const known = createFederationModels(models, catalog);
  let memberships = { version: "", keys: new Map<string, string[]>() };
  return {
    idOf,
    keyOf: (id: string): string => mark + id,
    /** Undefined for an endpoint, and while nothing is known of the members. */
    model(key: string): FederationModel | undefined {
      const id = idOf(key);
      return id === undefined ? undefined : known.get(id);
    },
    /** Keys of the federations that an endpoint is a member of. */
    keysOf(endpoint: string): readonly string[] {
      const version = `${catalog.version} ${models.version}`;
      if (memberships.version !== version) memberships = { version, keys: membershipsIn(catalog) };
      return memberships.keys.get(endpoint) ?? [];
    },
  };
}

const idOf = (key: string): string | undefined => (key.startsWith(mark) ? key.slice(mark.length) : undefined);

/** But for the one of everything, which would be named before each of its parts. */
function membershipsIn(catalog: Catalog): Map<string, string[]> {
  const keys = new Map<string, string[]>();
  for (const federation of catalog.federations.filter(({ id }) => id !== describedFederation.id)) {
    for (const { id } of catalog.membersOf(federation)) {
      const of = keys.get(id);
      if (of === undefined) keys.set(id, [mark + federation.id]);
      else of.push(mark + federation.id);
    }
  }
  return keys;
}
