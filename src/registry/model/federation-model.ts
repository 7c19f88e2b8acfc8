import type { EndpointModels } from "./endpoint-models.ts";
import { joinsOf, type KnownJoin } from "./joins.ts";
import type { KnownCount, TermKind } from "./schema.ts";

/** A class or property, and which members have it. */
export interface SplitTerm {
  readonly iri: string;
  /** "builder": the builder of its shards says so; "derived": the members are described with it. */
  readonly source: "builder" | "derived";
  /** Counts are each member's own: members may hold the same triples, so there is no sum. */
  readonly at: readonly { readonly id: string; readonly count?: KnownCount | undefined }[];
}

/** The merged model of a federation's members. */
export interface FederationModel {
  readonly members: readonly string[];
  /** Members of which something is known; of the others nothing is said below. */
  readonly described: readonly string[];
  /** Those that most members have first, then by the largest count. */
  readonly terms: Readonly<Record<TermKind, readonly SplitTerm[]>>;
  /** Each from the member whose property it is, or, of shared things, from the first of both. */
  readonly joins: readonly { readonly from: string; readonly join: KnownJoin }[];
}

/** What these members have together, and what is split over which of them. */
export function federationModel(models: EndpointModels, members: readonly string[]): FederationModel {
  const described = members.filter((id) => models.get(id)?.described !== undefined);
  const among = new Set(described);
  const joins = described.flatMap((from, at) =>
    joinsOf(models, from, among)
      .filter((join) => ("back" in join ? !join.back : described.indexOf(join.with) > at))
      .map((join) => ({ from, join })),
  );
  return {
    members,
    described,
    terms: { class: splitTerms(models, described, "class"), property: splitTerms(models, described, "property") },
    joins,
  };
}

/** The classes or properties of these endpoints: those that most have first, then by the largest count, then by IRI. */
export function splitTerms(
  models: Pick<EndpointModels, "get">,
  ids: readonly string[],
  kind: TermKind,
): readonly SplitTerm[] {
  const here = new Set(ids);
  const found = new Map<string, { source: SplitTerm["source"]; readonly at: Map<string, KnownCount | undefined> }>();
  const termOf = (iri: string, source: SplitTerm["source"]) => {
    const term = found.get(iri) ?? { source, at: new Map<string, KnownCount | undefined>() };
    if (source === "builder") term.source = source;
    found.set(iri, term);
    return term;
  };
  for (const id of ids) {
    const { described } = models.get(id) ?? {};
    for (const { iri, count } of described?.terms(kind) ?? []) termOf(iri, "derived").at.set(id, count);
    // A shard of a property alone is not described with the class that it has a part of.
    for (const { class: iri, siblings } of (kind === "class" && described?.built?.parts) || []) {
      const { at } = termOf(iri, "builder");
      const parts = [id, ...siblings.map(({ endpoint }) => endpoint)].filter((each) => here.has(each));
      for (const part of parts) at.set(part, at.get(part));
    }
  }
  const largest = ({ at }: SplitTerm): number => Math.max(...at.map(({ count }) => count?.value ?? -1));
  return [...found]
    .map(([iri, { source, at }]): SplitTerm => ({ iri, source, at: Array.from(at, ([id, count]) => ({ id, count })) }))
    .toSorted(
      (one, other) =>
        other.at.length - one.at.length || largest(other) - largest(one) || (one.iri < other.iri ? -1 : 1),
    );
}
