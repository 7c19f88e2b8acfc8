import type { Triple } from "sparqljs";
import type { AcceptedAdapter, KeyPlace } from "../registry/catalog/catalog.ts";
import { keyExpressions } from "../rdf/key-rule.ts";
import { type UnlikeKey, withAdaptedKeys } from "../sparql/adapted-keys.ts";
import { requiredTriples } from "../sparql/certain-variables.ts";
import type { Group, ServiceElement } from "../sparql/outline.ts";
import { elementsWithin, groupsOfSelect, groupsWithin } from "../sparql/scope.ts";
import type { Draft } from "./decide-plan.ts";
import type { PlanTask } from "./plan-request.ts";
import type { NotedText } from "./prune-clauses.ts";

const rdfType = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";

/** An adapter that a query needs. */
interface NeededAdapter extends UnlikeKey {
  readonly adapter: AcceptedAdapter;
  readonly endpoint: string;
}

/**
 * The text of a query in which clauses of two endpoints are joined by the adapters that were accepted for them, where they share a
 * variable that both bind at the adapter's places. Undefined when there is none.
 */
export function adaptedKeys({ query, targets }: Draft, { context }: PlanTask): NotedText | undefined {
  const { parsed } = query;
  const idOf = (service: ServiceElement): string | undefined => targets.members.get(service.from)?.id;
  const ids = new Set(query.services.flatMap(({ element }) => idOf(element) ?? []));
  const adapters = [...ids].flatMap((id) =>
    (context.catalog.byId(id)?.keyAdapters ?? []).filter(({ otherEndpoint }) => ids.has(otherEndpoint)),
  );
  if (adapters.length === 0 || parsed.form === "DESCRIBE" || parsed.outline.shortConstruct) return undefined;
  const needed: NeededAdapter[] = [];
  const isNeeded = (key: UnlikeKey): boolean =>
    !needed.some((other) => other.name === key.name && other.right.some((each) => key.right.includes(each)));
  for (const group of groupsWithin(groupsOfSelect(parsed.outline), ({ kind }) => kind !== "service")) {
    needed.push(...neededIn(group, idOf, context.catalog).filter(isNeeded));
  }
  if (needed.length === 0) return undefined;
  return { text: withAdaptedKeys(parsed, needed), note: { code: "KEYS_ADAPTED", message: needed.map(sentence).join(" ") } };
}

function neededIn(
  group: Group,
  idOf: (service: ServiceElement) => string | undefined,
  catalog: PlanTask["context"]["catalog"],
): readonly NeededAdapter[] {
  const inside = [...elementsWithin([group])].flatMap((element) => (element.kind === "service" ? [element] : []));
  return group.elements.flatMap((left) => {
    const endpoint = left.kind === "service" && !left.silent ? idOf(left) : undefined;
    const adapters = (endpoint !== undefined && catalog.byId(endpoint)?.keyAdapters) || [];
    if (left.kind !== "service" || endpoint === undefined) return [];
    return adapters.flatMap((adapter) => {
      const others = inside.filter((service) => idOf(service) === adapter.otherEndpoint);
      const names = new Set(others.flatMap(({ group: { patterns } }) => namesAt(adapter.other, requiredTriples(patterns))));
      return namesAt(adapter.here, requiredTriples(left.group.patterns))
        .filter((name) => names.has(name))
        .map((name) => ({ name, left, right: others, expressions: keyExpressions(adapter.rule), adapter, endpoint }));
    });
  });
}

/** The variables that are values of the property in these triples, or things of the class: those of which no class is said may be. */
function namesAt(place: KeyPlace, triples: readonly Triple[]): readonly string[] {
  if ("property" in place) {
    return triples.flatMap(({ predicate, object }) =>
      "value" in predicate && predicate.value === place.property && object.termType === "Variable" ? [object.value] : [],
    );
  }
  const isTyped = (name: string, iri?: string): boolean =>
    triples.some(
      ({ subject, predicate, object }) =>
        subject.value === name &&
        "value" in predicate &&
        predicate.value === rdfType &&
        (iri === undefined || object.value === iri),
    );
  const subjects = new Set(triples.flatMap(({ subject }) => (subject.termType === "Variable" ? [subject.value] : [])));
  return [...subjects].filter((name) => !isTyped(name) || isTyped(name, place.class));
}

function sentence({ name, endpoint, adapter, expressions }: NeededAdapter): string {
  const { otherEndpoint, matches, acceptedAt } = adapter;
  const { left, right } = expressions;
  const how = right ? `${left(`?${name}`)} is compared with ${right("the value there")}` : left(`?${name}`);
  const met = matches === undefined ? "" : `, with which ${matches} known values met`;
  const since = acceptedAt === undefined ? "declared in the catalogue" : `accepted ${acceptedAt.slice(0, 10)}`;
  return `?${name} is written differently at ${endpoint} and ${otherEndpoint}; they are joined by an adapter (${since}${met}): ${how}.`;
}
