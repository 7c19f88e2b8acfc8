import type { EndpointModels } from "../model/endpoint-models.ts";
import { isAboutThings } from "./one-sentence.ts";
import type { Part } from "./part-lines.ts";

/** A class that several members of a federation have. */
export interface SplitClass {
  readonly class: string;
  /** "builder": told by the builder of its shards; "derived": several members are described with it. */
  readonly source: Part["source"];
  readonly members: readonly string[];
}

const mostClasses = 100;
const mostMembers = 100;

/** The classes that several of these endpoints have, those of most first; at most 100 of them, of the first 100 endpoints. */
export function splitOver(
  members: readonly { readonly id: string }[],
  { models }: { readonly models: Pick<EndpointModels, "get"> },
): readonly SplitClass[] {
  const classes = new Map<string, { source: Part["source"]; readonly members: Set<string> }>();
  const here = new Set(members.map(({ id }) => id));
  const add = (iri: string, source: Part["source"], ids: readonly string[]): void => {
    const known = classes.get(iri) ?? { source, members: new Set() };
    classes.set(iri, known);
    if (source === "builder") known.source = source;
    for (const id of ids) if (here.has(id)) known.members.add(id);
  };
  for (const { id } of members.slice(0, mostMembers)) {
    const { described } = models.get(id) ?? {};
    for (const { iri } of described?.terms("class") ?? []) if (isAboutThings({ class: iri })) add(iri, "derived", [id]);
    for (const { class: iri, siblings } of described?.built?.parts ?? []) {
      add(iri, "builder", [id, ...siblings.map(({ endpoint }) => endpoint)]);
    }
  }
  return [...classes]
    .filter(([, { members: having }]) => having.size > 1)
    .toSorted(([left, one], [right, other]) => other.members.size - one.members.size || (left < right ? -1 : 1))
    .slice(0, mostClasses)
    .map(([iri, { source, members: having }]) => ({ class: iri, source, members: [...having].toSorted() }));
}
