import type { EndpointModels } from "./endpoint-models.ts";
import { joinsOf, type KnownJoin } from "./joins.ts";
import type { KnownCount, TermKind } from "./schema.ts";

/** A class or property, and which members are described with it. */
export interface SplitTerm {
  readonly iri: string;
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

function splitTerms(models: EndpointModels, ids: readonly string[], kind: TermKind): readonly SplitTerm[] {
  const found = new Map<string, SplitTerm["at"][number][]>();
  for (const id of ids) {
    for (const { iri, count } of models.get(id)?.described?.terms(kind) ?? []) {
      const at = found.get(iri) ?? [];
      at.push({ id, count });
      found.set(iri, at);
    }
  }
  const largest = ({ at }: SplitTerm): number => Math.max(...at.map(({ count }) => count?.value ?? -1));
  return [...found]
    .map(([iri, at]): SplitTerm => ({ iri, at }))
    .toSorted((one, other) => other.at.length - one.at.length || largest(other) - largest(one));
}
