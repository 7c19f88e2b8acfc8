import type { Catalog } from "../catalog/catalog.ts";
import type { EndpointModels } from "../model/endpoint-models.ts";
import { builtParts, type Part } from "./part-lines.ts";
import type { VoidDescription } from "../void/void-description.ts";

interface Known {
  readonly models: Pick<EndpointModels, "get" | "described">;
  readonly catalog: Pick<Catalog, "federations" | "membersOf">;
}

const mostDerived = 50;

/** Where the other parts of an endpoint's classes are: as the builder of a shard says, else by the descriptions of a federation. */
export function partsOf(id: string, description: Pick<VoidDescription, "built">, known: Known): readonly Part[] {
  const built = builtParts(description);
  const told = new Set(built.map((part) => part.class));
  return [...built, ...derivedParts(id, known).filter((part) => !told.has(part.class))];
}

/** Classes that other members of the first federation with this endpoint are described with, too. */
function derivedParts(id: string, { models, catalog }: Known): readonly Part[] {
  for (const federation of catalog.federations) {
    const members = new Set(catalog.membersOf(federation).map((member) => member.id));
    if (!members.has(id)) continue;
    const classes = [...(models.get(id)?.described?.terms("class") ?? [])].slice(0, mostDerived);
    return classes.flatMap(({ iri }): Part | readonly Part[] => {
      const others = models.described("class", iri).filter((other) => other !== id && members.has(other));
      if (others.length === 0) return [];
      const siblings = others.map((endpoint) => ({ endpoint, properties: propertiesAt(models, endpoint, iri) }));
      return { class: iri, source: "derived", parts: others.length + 1, siblings, federation: federation.id };
    });
  }
  return [];
}

const propertiesAt = (models: Known["models"], id: string, iri: string): readonly string[] =>
  models
    .get(id)
    ?.described?.classPartitions.find((each) => each.class === iri)
    ?.properties.map(({ property }) => property) ?? [];
