import type { Count } from "../void-description.ts";
import type { Fact, FactList, Known, PartName } from "../facts.ts";
import { existing, type FactBase, mergedCount } from "./fact-base.ts";
import { type FactKind, objectKinds } from "./fact-kinds.ts";
import type { Group, Groups } from "./observation.ts";

/** The keys of a kind that are known. */
export const keysOf = (base: FactBase, { path: [keys] }: Pick<FactKind, "path">): FactList => base[keys];

/** The count that says how many solutions the pattern of a key has. */
export const sizeOf = ({ key }: Pick<FactKind, "key">, fact: Fact | undefined): Count | undefined =>
  key === "c" ? fact?.entities : fact?.triples;

/** Groups of one key, and how they are known. */
interface Finding extends Known {
  readonly key: string;
  readonly groups: Groups | undefined;
}

const placeholders: ReadonlySet<string> = new Set(Object.values(objectKinds));

/** Puts the groups of a key into the facts: that they exist, and their counts. */
export function recordGroups(base: FactBase, kind: FactKind, { key, groups, ...known }: Finding): void {
  const [, ...parts] = kind.path;
  const counted = (value: number | undefined): Count | undefined =>
    value === undefined || known.status === "exists" ? undefined : { value, ...known };
  for (const { detail, n, ds, do: objects } of groups?.values() ?? []) {
    const iris = [key, ...detail];
    const last = iris.pop() ?? key;
    let facts = keysOf(base, kind);
    for (const [at, iri] of iris.entries()) facts = facts.known(iri, existing(known))[parts[at] ?? "properties"];
    if (placeholders.has(last)) continue;
    const fact = facts.known(last, known);
    if (kind.name === "classes") {
      fact.entities = mergedCount(fact.entities, counted(ds ?? n));
      continue;
    }
    fact.triples = mergedCount(fact.triples, counted(n));
    fact.distinctSubjects = mergedCount(fact.distinctSubjects, counted(ds));
    fact.distinctObjects = mergedCount(fact.distinctObjects, counted(objects));
  }
}

type Found = readonly [detail: readonly string[], fact: Fact];

/** The facts below one by the IRIs that lead to them along some lists of parts. */
function below(fact: Fact | undefined, parts: readonly PartName[]): readonly Found[] {
  let found: readonly Found[] = fact === undefined ? [] : [[[], fact]];
  for (const part of parts)
    found = found.flatMap(([detail, one]) => Array.from(one[part], ([iri, each]): Found => [[...detail, iri], each]));
  return found;
}

/** The lists that a kind makes for a key; none where its keys are the list. */
function listsOf(base: FactBase, kind: FactKind, key: string): readonly FactList[] {
  const [, ...parts] = kind.path;
  const last = parts.pop();
  return last === undefined ? [] : below(keysOf(base, kind).get(key), parts).map(([, fact]) => fact[last]);
}

/** Marks the lists that a kind makes for a key as complete. */
export function completeLists(base: FactBase, kind: FactKind, key: string): void {
  for (const list of listsOf(base, kind, key)) list.complete = true;
}

/** True if a key is verified and needs no query. */
export function isVerifiedKey(base: FactBase, kind: FactKind, key: string): boolean {
  if (kind.detail.length > 0) {
    const lists = listsOf(base, kind, key);
    return lists.length > 0 && lists.every(({ complete }) => complete);
  }
  const fact = keysOf(base, kind).get(key);
  const counts = [sizeOf(kind, fact), ...(kind.name === "properties" ? [fact?.distinctSubjects] : [])];
  return counts.every((count) => count?.status === "exact");
}

/** How many facts of a key there are. */
export function factsOf(base: FactBase, kind: FactKind, key: string): number {
  if (kind.detail.length === 0) return sizeOf(kind, keysOf(base, kind).get(key)) ? 1 : 0;
  return listsOf(base, kind, key).reduce((sum, { size }) => sum + size, 0);
}

/** The groups that facts stand for; undefined where they are not all counted, or do not stand for all groups. */
export function groupsOf(base: FactBase, kind: FactKind, key: string): Groups | undefined {
  const [, ...parts] = kind.path;
  const found = below(keysOf(base, kind).get(key), parts);
  // Objects without a datatype are groups, too.
  if (kind.name === "graphs" || parts.at(-1) === "datatypes" || (parts.length === 0 && found.length === 0))
    return undefined;
  const groups = new Map<string, Group>();
  for (const [detail, { entities, triples, distinctSubjects, distinctObjects }] of found) {
    const n = kind.name === "classes" ? entities : triples;
    if (n === undefined) return undefined;
    groups.set(detail.join(" "), { detail, n: n.value, ds: distinctSubjects?.value, do: distinctObjects?.value });
  }
  return groups;
}
