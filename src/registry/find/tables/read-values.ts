import type { ValueExamples } from "../../schema/schema-view.ts";
import type { Harvest, HarvestRow } from "../read/harvest.ts";

/** Names that other data may refer to: values of a property, or IRIs of instances of a class. */
export interface KeyGroup {
  readonly endpoint: string;
  readonly class?: string | undefined;
  /** Absent: IRIs of the class. */
  readonly property?: string | undefined;
  /** IRIs, or literals as N-Triples. */
  readonly terms: readonly string[];
}

/** Values read from an endpoint, within the size limit. */
export interface ReadValues {
  readonly harvest: Harvest;
  readonly rows: readonly HarvestRow[];
  /** Texts of the rows. */
  readonly labels: readonly string[];
}

const mostKeys = 100;

/** The groups of an endpoint, by the values read from it. */
export function keysOf(endpoint: string, { harvest, rows }: ReadValues): readonly KeyGroup[] {
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

/** Values of a property that are shown. */
const mostShown = 40;

const fewOnce = 10;

/** True if the values form a small set of choices; values unique to each subject count only when few. */
function isChoice(values: ReadonlyMap<string, number>): boolean {
  return values.size <= fewOnce || values.values().reduce((sum, degree) => sum + degree, 0) >= 2 * values.size;
}

interface FewValues {
  readonly classAt: number;
  readonly propertyAt: number;
  readonly isText: boolean;
  readonly values: Map<string, number>;
}

/** All values of those properties that have few. */
export function examplesOf(read: ReadValues | undefined): readonly ValueExamples[] {
  if (read === undefined) return [];
  const { harvest, rows, labels } = read;
  const whole = new Set(harvest.whole.map(([classAt, propertyAt]) => `${classAt} ${propertyAt}`));
  const found = new Map<string, FewValues>();
  for (const [at, [, literal, classAt, propertyAt, degree]] of rows.entries()) {
    const key = `${classAt} ${propertyAt}`;
    if (!whole.has(key)) continue;
    const few = found.get(key) ?? { classAt, propertyAt, isText: !literal.includes('"^^'), values: new Map() };
    found.set(key, few);
    if (few.values.size <= mostShown) few.values.set(labels[at] ?? "", degree);
  }
  return [...found.values()]
    .filter(({ values }) => values.size <= mostShown && isChoice(values))
    .toSorted((left, right) => Number(right.isText) - Number(left.isText) || left.values.size - right.values.size)
    .map(({ classAt, propertyAt, values }) => ({
      class: harvest.classes[classAt],
      property: harvest.properties[propertyAt] ?? "",
      values: [...values]
        .toSorted((left, right) => right[1] - left[1] || (left[0] < right[0] ? -1 : 1))
        .map(([value]) => value),
    }));
}
