import type { DescribedSchema } from "./described-schema.ts";
import type { EndpointModels } from "./endpoint-models.ts";
import type { KnownCount, KnownLinkset } from "./schema.ts";

/** Possible join between the data of two endpoints, with its evidence. */
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
/** Endpoints that are looked at where none are named. */
const mostOthers = 1_000;
/** A class that more endpoints have leads to none of them in particular. */
const mostHolders = 20;

/** The joins of an endpoint with these others, or with all: measured ones first. Unknown joins are left out. */
export function joinsOf(models: EndpointModels, id: string, among?: ReadonlySet<string>): readonly KnownJoin[] {
  const found = new Map<string, KnownJoin>();
  for (const join of candidates(models, id, among)) {
    const what = join.how === "subjects" ? join.class : `${join.property} ${join.back} ${join.class}`;
    const key = `${join.with} ${what}`;
    if (!found.has(key)) found.set(key, join);
    if (found.size === mostJoins) break;
  }
  return [...found.values()];
}

type Described = readonly [id: string, schema: DescribedSchema];

function* candidates(models: EndpointModels, id: string, among?: ReadonlySet<string>): Generator<KnownJoin> {
  const isOther = (other: string): boolean => other !== id && among?.has(other) !== false;
  const own = models.get(id)?.described;
  if (own === undefined) return;
  const others = describedOf(models, isOther).slice(0, among?.size ?? mostOthers);
  yield* linksFrom(own, isOther);
  for (const other of others) yield* linksTo(id, other);
  /** Those who have a class, where it leads to them in particular. */
  const holdersOf = (iri: string): readonly string[] => {
    const holders = models.described("class", iri);
    return among === undefined && holders.length > mostHolders ? [] : holders;
  };
  yield* leadsOn(own, (iri) => holdersOf(iri).filter(isOther));
  const classes = Array.from(own.terms("class"), ({ iri }) => iri).filter((iri) => holdersOf(iri).length > 0);
  yield* leadsHere(classes, others);
  for (const [other, its] of others) for (const shared of sharedSubjects(own, its)) yield { with: other, ...shared };
}

/** Values here are of classes that others have. */
function* leadsOn(own: DescribedSchema, holdersOf: (iri: string) => readonly string[]): Generator<KnownJoin> {
  for (const link of ends(own)) {
    if (own.term("class", link.class) !== undefined) continue;
    for (const other of holdersOf(link.class)) yield { with: other, how: "link", ...link, back: false };
  }
}

/** Values of others are of these classes, which they do not have themselves. */
function* leadsHere(classes: readonly string[], others: readonly Described[]): Generator<KnownJoin> {
  for (const [other, its] of others) {
    for (const link of ends(its, classes)) {
      if (its.term("class", link.class) === undefined) yield { with: other, how: "link", ...link, back: true };
    }
  }
}

const describedOf = (models: EndpointModels, isWanted: (id: string) => boolean): readonly Described[] =>
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

const linksTo = (id: string, [other, { linksets }]: Described): readonly KnownJoin[] =>
  linksets.flatMap((linkset) => (linkset.targetEndpoint === id ? [toJoin(other, linkset, true)] : []));

/** Properties with the classes of their values, of these or of all: where an endpoint lacks the class, its data go on elsewhere. */
function ends(from: DescribedSchema, classes?: readonly string[]) {
  const seen = [...from.leadingTo(classes)].flatMap(([property, iris]) =>
    iris.map((iri) => ({ property, class: iri })),
  );
  // A shard of a property alone has no classes of its own.
  const built = (from.built?.properties ?? []).flatMap(({ property, objectClasses }) =>
    objectClasses.filter((iri) => classes?.includes(iri) !== false).map((iri) => ({ property, class: iri })),
  );
  return [...seen, ...built];
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
