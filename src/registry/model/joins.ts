import type { DescribedSchema } from "./described-schema.ts";
import type { EndpointModels } from "./endpoint-models.ts";
import type { KnownCount, KnownLinkset } from "./schema.ts";

/** How the data of an endpoint and those of another one join, and what tells it. */
export type KnownJoin = {
  /** Catalogue id of the other endpoint. */
  readonly with: string;
} & (
  | {
      /** "linkset": links were counted or claimed; "link": values of the property are of a class that the other one has. */
      readonly how: "linkset" | "link";
      readonly property: string;
      /** Of the values. */
      readonly class?: string | undefined;
      /** The property is the other one's, and its values are here. */
      readonly back: boolean;
      readonly triples?: KnownCount | undefined;
    }
  | {
      /** Both describe the class, and name its things in one namespace, or in two that differ in the scheme alone. */
      readonly how: "subjects";
      readonly class: string;
      readonly namespace: string;
      readonly there: string;
    }
);

const mostJoins = 50;

/** The joins of an endpoint with these others, or with all: measured ones first. What is not known is no join. */
export function joinsOf(models: EndpointModels, id: string, among?: ReadonlySet<string>): readonly KnownJoin[] {
  const found = new Map<string, KnownJoin>();
  for (const join of candidates(models, id, (other) => other !== id && among?.has(other) !== false)) {
    const what = join.how === "subjects" ? join.class : `${join.property} ${join.back} ${join.class}`;
    const key = `${join.with} ${what}`;
    if (!found.has(key)) found.set(key, join);
    if (found.size === mostJoins) break;
  }
  return [...found.values()];
}

function* candidates(models: EndpointModels, id: string, isOther: (id: string) => boolean): Generator<KnownJoin> {
  const own = models.get(id)?.described;
  if (own === undefined) return;
  const others = describedOf(models, isOther);
  yield* linksFrom(own, isOther);
  for (const other of others) yield* linksTo(id, other);
  for (const [other, its] of others) {
    for (const link of links(own, its)) yield { with: other, how: "link", ...link, back: false };
    for (const link of links(its, own)) yield { with: other, how: "link", ...link, back: true };
  }
  for (const [other, its] of others) for (const shared of sharedSubjects(own, its)) yield { with: other, ...shared };
}

const describedOf = (models: EndpointModels, isWanted: (id: string) => boolean) =>
  [...models.all()].flatMap(({ id, described }) => (described && isWanted(id) ? [[id, described] as const] : []));

const toJoin = (other: string, { property, objectClass, triples }: KnownLinkset, back: boolean): KnownJoin => ({
  with: other,
  how: "linkset",
  property,
  class: objectClass,
  back,
  triples,
});

const linksFrom = ({ linksets }: DescribedSchema, isOther: (id: string) => boolean): readonly KnownJoin[] =>
  linksets.flatMap((linkset) => {
    const { targetEndpoint: other } = linkset;
    return other !== undefined && isOther(other) ? [toJoin(other, linkset, false)] : [];
  });

const linksTo = (id: string, [other, { linksets }]: readonly [string, DescribedSchema]): readonly KnownJoin[] =>
  linksets.flatMap((linkset) => (linkset.targetEndpoint === id ? [toJoin(other, linkset, true)] : []));

/** Properties of the one whose values are of classes that only the other one has: there the data go on. */
function links(from: DescribedSchema, to: DescribedSchema) {
  const elsewhere = Array.from(to.terms("class"), ({ iri }) => iri).filter((iri) => !from.term("class", iri));
  const seen = [...from.leadingTo(elsewhere)].flatMap(([property, classes]) =>
    classes.map((iri) => ({ property, class: iri })),
  );
  // A shard of a property alone has no classes of its own.
  const told = (from.built?.properties ?? []).flatMap(({ property, objectClasses }) =>
    objectClasses.filter((iri) => elsewhere.includes(iri)).map((iri) => ({ property, class: iri })),
  );
  return [...seen, ...told];
}

const schemeless = (namespace: string): string => namespace.replace(/^https?:/u, "");

/** Classes that both have, where they name their things alike; the namespaces are known of data sets, not of classes. */
function sharedSubjects(one: DescribedSchema, other: DescribedSchema) {
  const namespace = one.namespaces.find((each) => other.namespaces.includes(each));
  const nearly = one.namespaces.find((each) => other.namespaces.some((its) => schemeless(its) === schemeless(each)));
  const here = namespace ?? nearly;
  if (here === undefined) return [];
  const there = namespace ?? other.namespaces.find((its) => schemeless(its) === schemeless(here)) ?? here;
  const shared = [...one.terms("class")].filter(({ iri }) => other.term("class", iri) !== undefined);
  return shared.map(({ iri }) => ({ how: "subjects" as const, class: iri, namespace: here, there }));
}
