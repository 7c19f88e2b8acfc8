import { setImmediate as nextTurn } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import { sourcesOf, type Terms, termsOf } from "../agent/grammar/places.ts";
import type { EndpointModel, EndpointModels, TermKind } from "../registry/model.ts";

/** An endpoint that is asked at the cursor, with what is known of it. */
export interface KnownEndpoint extends Pick<Terms, "items" | "table"> {
  readonly id: string;
  readonly labels: ReadonlyMap<string, string | undefined>;
  readonly values: EndpointModel["values"];
}

/** A class or property of some endpoints. */
interface ScopeTerm {
  readonly kind: TermKind;
  readonly iri: string;
  readonly label: string | undefined;
  /** The largest count of instances or triples. */
  count: number;
  readonly at: Set<string>;
}

/** Items of all endpoints together; 60 MB. */
const mostItems = 300_000;

/** Reads what is known of endpoints from their models, an endpoint a turn; kept as long as it is the same. */
export function createKnownTerms(models: EndpointModels) {
  const kept = new LRUCache<object, Pick<KnownEndpoint, "items" | "table" | "labels">>({
    maxSize: mostItems,
    sizeCalculation: ({ items }) => items.length + 1,
  });
  return async (ids: readonly string[]): Promise<readonly KnownEndpoint[]> => {
    const scope: KnownEndpoint[] = [];
    for (const id of ids) {
      const { described, published, values } = models.get(id) ?? {};
      const key = described ?? published;
      if (key === undefined) continue;
      const labels = () => new Map(Array.from(described?.terms() ?? [], ({ iri, label }) => [iri, label]));
      const terms = kept.get(key) ?? { ...termsOf(sourcesOf([id], models)), labels: labels() };
      kept.set(key, terms);
      scope.push({ id, values, ...terms });
      await nextTurn();
    }
    return scope;
  };
}

/** The classes or properties of endpoints, those that most have first; of these classes alone, if there are any. */
export function termsIn(
  scope: readonly KnownEndpoint[],
  kind: TermKind,
  classes: ReadonlySet<string> = new Set(),
): readonly ScopeTerm[] {
  const found = new Map<string, ScopeTerm>();
  for (const { id, items, labels } of scope) {
    for (const { class: of = "", property, weight } of items) {
      const iri = property === undefined ? of : property.property;
      if ((property === undefined) !== (kind === "class") || (classes.size > 0 && !classes.has(of))) continue;
      const term = found.get(iri) ?? { kind, iri, label: labels.get(iri), count: 0, at: new Set() };
      term.count = Math.max(term.count, countOf(property) ?? weight);
      found.set(iri, term);
      term.at.add(id);
    }
  }
  return [...found.values()].toSorted((one, other) => other.at.size - one.at.size || other.count - one.count);
}

const countOf = (property: Terms["items"][number]["property"]): number | undefined => property?.triples?.value;

/** Classes of the subjects or objects of a property. */
export const endsOf = (scope: readonly KnownEndpoint[], of: string | undefined, end: "subject" | "object") =>
  new Set(
    scope
      .flatMap(({ items }) => items.filter(({ property }) => property?.property === of && of !== undefined))
      .flatMap(({ class: own = [], property }) =>
        end === "subject" ? own : (property?.objectClasses ?? []).map(({ iri }) => iri),
      ),
  );

/** A literal, or a thing with its name; N-Triples. */
export interface KnownValue {
  readonly term: string;
  readonly literal: string;
  readonly at: string;
}

const mostRows = 200_000;

const nothingRead: Pick<NonNullable<KnownEndpoint["values"]>, "rows" | "properties" | "classes"> = {
  rows: [],
  properties: [],
  classes: [],
};

/** Values of a property that were read, and things of the classes that it leads to, each once. */
export function valuesIn(scope: readonly KnownEndpoint[], property: string): readonly KnownValue[] {
  const objects = endsOf(scope, property, "object");
  const found = new Map<string, KnownValue>();
  let left = mostRows;
  for (const endpoint of scope) {
    const { rows, properties, classes } = endpoint.values ?? nothingRead;
    const own = properties.indexOf(property);
    for (const [iri, literal, classAt, propertyAt] of rows.slice(0, left)) {
      const term = propertyAt === own ? literal : iri !== "" && objects.has(classes[classAt] ?? "") && `<${iri}>`;
      if (term !== false && !found.has(term)) found.set(term, { term, literal, at: endpoint.id });
    }
    left = Math.max(0, left - rows.length);
  }
  return [...found.values()];
}
