import { nearest } from "../../errors/nearest.ts";
import type { ClassPartition, VoidDescription } from "../void/void-description.ts";
import { iriParts } from "./iri-parts.ts";
import { plainText } from "./plain-text.ts";
import type { PrefixTable } from "./prefixes.ts";

/** The classes that a view is about. */
export interface ChosenClasses {
  /** No choice was made: everything is shown, also what belongs to no class. */
  readonly all: boolean;
  /** In the order of the description. */
  readonly partitions: readonly ClassPartition[];
  readonly iris: ReadonlySet<string>;
  readonly notFound: readonly { readonly name: string; readonly nearest: readonly string[] }[];
}

const mostNames = 50;
/** Suggestions compare letter by letter, so their number and length are kept small. */
const mostSuggestedFor = 5;
const mostCompared = 1_000;
const longestCompared = 60;

/** Finds the wanted classes by IRI, `prefix:local` or local name; a local name may stand for several classes. */
export function chooseClasses(
  description: VoidDescription,
  table: PrefixTable,
  wanted: readonly string[] | undefined,
): ChosenClasses {
  const partitions = description.classPartitions;
  const names = (wanted ?? []).map((name) => name.trim()).filter((name) => name !== "");
  if (names.length === 0) {
    return { all: true, partitions, iris: new Set(partitions.map((each) => each.class)), notFound: [] };
  }
  const find = classFinder(partitions, table);
  const iris = new Set<string>();
  const notFound = new Set<string>();
  for (const name of names.slice(0, mostNames)) {
    const found = find(name);
    for (const iri of found) iris.add(iri);
    if (found.length === 0) notFound.add(name);
  }
  return {
    all: false,
    partitions: partitions.filter((each) => iris.has(each.class)),
    iris,
    notFound: [...notFound].map((name, at) => ({
      name: plainText(name, 100),
      nearest: at < mostSuggestedFor ? similar(partitions, table, name) : [],
    })),
  };
}

function classFinder(partitions: readonly ClassPartition[], table: PrefixTable): (name: string) => readonly string[] {
  const known = new Set(partitions.map((each) => each.class));
  const byLocalName = Map.groupBy(known, (iri) => iriParts(iri).local.toLowerCase());
  return (name) => {
    const iri = name.startsWith("<") && name.endsWith(">") ? name.slice(1, -1) : name;
    const exact = [iri, table.expand(name) ?? iri].filter((each) => known.has(each));
    if (exact.length > 0) return exact;
    const alike = byLocalName.get(name.toLowerCase()) ?? [];
    const same = alike.filter((each) => iriParts(each).local === name);
    return same.length > 0 ? same : alike;
  };
}

function similar(partitions: readonly ClassPartition[], table: PrefixTable, name: string): readonly string[] {
  const byLocal = new Map<string, string>();
  for (const { class: iri } of partitions.slice(0, mostCompared)) {
    const { local } = iriParts(iri);
    if (local !== "" && local.length <= longestCompared && iri.length <= 300 && !byLocal.has(local))
      byLocal.set(local, iri);
  }
  const wanted = (iriParts(name).local || name).slice(0, longestCompared);
  return nearest(wanted, byLocal.keys()).map((local) => table.short(byLocal.get(local) ?? "").text);
}
