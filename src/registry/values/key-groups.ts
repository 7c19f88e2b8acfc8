import type { Harvest, HarvestRow } from "./harvest.ts";

/** What other data may name things by: values of a property, or IRIs of things of a class. */
export interface KeyGroup {
  readonly endpoint: string;
  readonly class?: string | undefined;
  /** Absent: IRIs of the class. */
  readonly property?: string | undefined;
  /** IRIs, or literals as N-Triples. */
  readonly terms: readonly string[];
}

interface Read {
  readonly harvest: Harvest;
  readonly rows: readonly HarvestRow[];
}

const mostKeys = 100;

/** The groups of an endpoint, by what was read of it. */
export function keysOf(endpoint: string, { harvest, rows }: Read): readonly KeyGroup[] {
  const groups = new Map<string, KeyGroup & { readonly found: Set<string> }>();
  for (const [iri, literal, classAt, propertyAt] of rows) {
    if (iri !== "" && classAt === -1) continue;
    const property = iri === "" ? harvest.properties[propertyAt] : undefined;
    const of = { class: harvest.classes[classAt], property };
    const key = property ?? `class ${of.class}`;
    const group = groups.get(key) ?? { endpoint, ...of, terms: [], found: new Set<string>() };
    groups.set(key, group);
    if (group.found.size < mostKeys) group.found.add(iri === "" ? literal : iri);
  }
  return Array.from(groups.values(), ({ found, ...group }) => ({ ...group, terms: [...found] }));
}
