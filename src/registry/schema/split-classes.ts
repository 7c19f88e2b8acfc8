import type { Catalog } from "../catalog/catalog.ts";
import type { EndpointModels } from "../model/endpoint-models.ts";
import { type SplitTerm, splitTerms } from "../model/federation-model.ts";
import type { VoidDescription } from "../descriptions/void-description.ts";
import { isAboutThings } from "./one-sentence.ts";
import { builtParts, type Part } from "./part-lines.ts";

/** A class that several members of a federation have. */
export interface SplitClass {
  readonly class: string;
  readonly source: SplitTerm["source"];
  readonly members: readonly string[];
}

const mostClasses = 100;
const mostMembers = 100;

/** The classes that several of these endpoints have, those of most first; at most 100 of them, of the first 100 endpoints. */
export const splitOver = (
  members: readonly { readonly id: string }[],
  { models }: { readonly models: EndpointModels },
): readonly SplitClass[] =>
  splitTerms(models, firstIds(members), "class")
    .filter(({ iri, at }) => at.length > 1 && isAboutThings(iri))
    .slice(0, mostClasses)
    .map(({ iri, source, at }) => ({ class: iri, source, members: at.map(({ id }) => id).toSorted() }));

const firstIds = (members: readonly { readonly id: string }[]): readonly string[] =>
  members.slice(0, mostMembers).map(({ id }) => id);

interface Known {
  readonly models: EndpointModels;
  readonly catalog: Pick<Catalog, "federations" | "membersOf">;
}

const mostFederations = 20;
const mostDerived = 50;

/** Where the other parts of an endpoint's classes are: as the builder of a shard says, else by the descriptions of its federations. */
export function partsOf(id: string, stated: VoidDescription["built"], known: Known): readonly Part[] {
  const built = builtParts(stated);
  const said = new Set(built.map((part) => part.class));
  return [...built, ...derivedParts(id, known).filter((part) => !said.has(part.class))];
}

/** Classes that other members of its federations are described with, too; each endpoint once a class. */
function derivedParts(id: string, { models, catalog }: Known): readonly Part[] {
  const shared = Array.from(models.get(id)?.described?.terms("class") ?? [], ({ iri }) => iri)
    .filter(isAboutThings)
    .slice(0, mostDerived)
    .map((iri) => ({ iri, left: new Set(models.described("class", iri).filter((other) => other !== id)) }))
    .filter(({ left }) => left.size > 0);
  if (shared.length === 0) return [];
  // That two endpoints are described does not make them parts of one dataset.
  const federations = catalog.federations
    .filter(({ builtIn }) => !builtIn)
    .map((federation) => ({ federation: federation.id, members: new Set(firstIds(catalog.membersOf(federation))) }))
    .filter(({ members }) => members.has(id))
    .slice(0, mostFederations);
  return federations.flatMap(({ federation, members }) =>
    shared.flatMap(({ iri, left }): Part | readonly Part[] => {
      const others = [...left].filter((other) => members.has(other));
      if (others.length === 0) return [];
      for (const other of others) left.delete(other);
      const siblings = others.map((endpoint) => ({
        endpoint,
        properties: models.get(endpoint)?.described?.propertiesOf(iri) ?? [],
      }));
      return { class: iri, source: "derived", parts: others.length + 1, siblings, federation };
    }),
  );
}
