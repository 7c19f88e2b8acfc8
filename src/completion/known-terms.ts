import { setImmediate as nextTurn } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import { sourcesOf, type Terms, termsOf } from "../agent/grammar/places.ts";
import { type PublishedFacts, shapeTriples } from "../registry/catalog.ts";
import type { EndpointModel, EndpointModels, TermKind } from "../registry/model.ts";

/** An endpoint that is asked at the cursor, with what is known of it. */
export interface KnownEndpoint extends Pick<Terms, "items" | "table"> {
  readonly id: string;
  readonly labels: ReadonlyMap<string, string | undefined>;
  readonly values: EndpointModel["values"];
  /** Terms that stand together in published queries; none of an endpoint that has been described. */
  readonly shapes: PublishedFacts["shapes"];
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
      const shapes = described === undefined ? (published?.shapes ?? []) : [];
      scope.push({ id, values, shapes, ...terms });
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

/** Terms on one node of a query: its classes, its properties, and properties that lead to it. */
export interface NodeTerms {
  readonly classes: readonly string[];
  readonly out: readonly string[];
  readonly into: readonly string[];
}

/**
 * How many published queries have a term on the same node as some of these: `out` of a property, `classes` of a class. Terms of
 * published models count half a query; those that the node has already do not.
 */
export function touchingTerms(
  scope: readonly KnownEndpoint[],
  node: NodeTerms,
  wanted: "classes" | "out",
): ReadonlyMap<string, number> {
  const known = { classes: new Set(node.classes), out: new Set(node.out), into: new Set(node.into) };
  const found = new Map<string, number>();
  for (const shape of scope.flatMap(({ shapes }) => shapes)) {
    for (const each of nodesOf(shape)) {
      const touches = (["classes", "out", "into"] as const).filter((role) =>
        each[role].some((iri) => known[role].has(iri)),
      );
      if (touches.length === 0) continue;
      const weight = (shape.uses || 0.5) * touches.length;
      for (const iri of new Set(each[wanted]))
        if (!known[wanted].has(iri)) found.set(iri, (found.get(iri) ?? 0) + weight);
    }
  }
  return found;
}

function nodesOf(shape: KnownEndpoint["shapes"][number]): Iterable<Record<keyof NodeTerms, string[]>> {
  const nodes = new Map<number, Record<keyof NodeTerms, string[]>>();
  const nodeAt = ({ at, class: type }: ReturnType<typeof shapeTriples>[number]["from"]) => {
    const node = nodes.get(at) ?? { classes: type === undefined ? [] : [type], out: [], into: [] };
    nodes.set(at, node);
    return node;
  };
  for (const { from, property, to } of shapeTriples(shape)) {
    nodeAt(from).out.push(property);
    nodeAt(to).into.push(property);
  }
  return nodes.values();
}

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
