import type { Catalog, Federation } from "../../catalog/catalog.ts";
import { describedFederation } from "../../catalog/described-federation.ts";
import type { EndpointModels } from "../../model/endpoint-models.ts";
import { type FederationModel, federationModel } from "../../model/federation-model.ts";

const mark = "federation:";
/** With a model in memory. */
const mostFederations = 200;

/** A federation and the ids of its members that are in the catalogue. */
interface ListedFederation {
  readonly federation: Federation;
  readonly members: readonly string[];
}

/** Federations among endpoints, by keys that no endpoint has. */
export type KnownFederations = ReturnType<typeof createKnownFederations>;

/** The federations of a catalogue as they are ranked beside its endpoints; looked at anew when endpoints or entries have changed. */
export function createKnownFederations(models: EndpointModels, catalog: Catalog) {
  let version = "";
  const kept = new Map<string, FederationModel | undefined>();
  let keys: ReadonlyMap<string, readonly string[]> = new Map();
  const lookAgain = (): void => {
    const now = `${catalog.version} ${models.version}`;
    if (now === version) return;
    version = now;
    kept.clear();
    keys = membershipsIn(catalog);
  };
  const entryOf = (id: string): ListedFederation | undefined => {
    const federation = catalog.federation(id);
    return federation && { federation, members: catalog.membersOf(federation).map((member) => member.id) };
  };
  const modelOf = (id: string): FederationModel | undefined => {
    const listed = entryOf(id);
    return listed && federationModel(models, listed.federation, listed.members);
  };
  return {
    idOf,
    keyOf: (id: string): string => mark + id,
    /** As it is listed, whether or not anything is known of its members; undefined for an endpoint. */
    entry(key: string): ListedFederation | undefined {
      const id = idOf(key);
      return id === undefined ? undefined : entryOf(id);
    },
    /** Made from the models of its members. Undefined for an endpoint, and while nothing is known of the members. */
    model(key: string): FederationModel | undefined {
      const id = idOf(key);
      if (id === undefined) return undefined;
      lookAgain();
      if (!kept.has(id)) {
        // The longest kept goes first.
        for (const [oldest] of kept) if (kept.size >= mostFederations) kept.delete(oldest);
        kept.set(id, modelOf(id));
      }
      return kept.get(id);
    },
    /** Keys of the federations that an endpoint is a member of. */
    keysOf(endpoint: string): readonly string[] {
      lookAgain();
      return keys.get(endpoint) ?? [];
    },
  };
}

const idOf = (key: string): string | undefined => (key.startsWith(mark) ? key.slice(mark.length) : undefined);

/** But for the one of everything, which would be named before each of its parts. */
function membershipsIn(catalog: Catalog): ReadonlyMap<string, readonly string[]> {
  const memberships = catalog.federations
    .filter(({ id }) => id !== describedFederation.id)
    .flatMap((federation) => catalog.membersOf(federation).map(({ id }) => ({ id, key: mark + federation.id })));
  const byMember = Map.groupBy(memberships, ({ id }) => id);
  return new Map([...byMember].map(([id, all]) => [id, all.map(({ key }) => key)]));
}

/** Adds the federations to the facts of their members. */
export function withFederations<Known>(
  known: ReadonlyMap<string, Known>,
  federations: KnownFederations,
  together: (one: Known, other: Known) => Known,
): ReadonlyMap<string, Known> {
  const all = new Map(known);
  for (const [id, own] of known) {
    for (const key of federations.keysOf(id)) {
      const before = all.get(key);
      all.set(key, before === undefined ? own : together(before, own));
    }
  }
  return all;
}
