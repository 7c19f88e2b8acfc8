import type { FactStatus, UnknownFact, VoidDescription } from "../void/void-description.ts";
import { factName, type Family, families, type FamilyName } from "./families.ts";

/** Work beside the families. */
export type Chore =
  | "graph list"
  | "class list"
  | "property list"
  | "distinct subjects"
  | "distinct objects"
  | "languages"
  | "namespaces";

const chores: readonly Chore[] = [
  "graph list",
  "class list",
  "property list",
  "distinct subjects",
  "distinct objects",
  "languages",
  "namespaces",
];

/** What is still to be found out. It is part of a checkpoint in the form of unknown facts whose reason is "budget". */
export interface Agenda {
  isOpen(chore: Chore): boolean;
  /** The chore is over; `unknown` says what it could not find out. */
  close(chore: Chore, unknown?: Omit<UnknownFact, "what">): void;
  /** The keys, of those given, that a family has not dealt with. */
  open(family: Family, keys: Iterable<string>): readonly string[];
  /** A key of a family is dealt with; `unknown` says why not all of it is known. */
  settle(family: Family, key: string, unknown?: Omit<UnknownFact, "what">): void;
  /** The family needs nothing more, whatever keys there are. */
  closeFamily(family: Family): void;
  /** Something else that could not be found out. */
  note(fact: UnknownFact): void;
  has(what: string): boolean;
  readonly hasChores: boolean;
  /** Work is left. */
  readonly unfinished: boolean;
  /** What is not known, work that is left included. */
  unknown(): readonly UnknownFact[];
}

const mostUnknown = 2000;

/** Everything to do; or, with an earlier description, what it leaves to do. */
export function createAgenda(known: VoidDescription | undefined): Agenda {
  const earlier = known !== undefined && known.source !== "retrieved" ? readEarlier(known) : undefined;
  const facts = new Map<string, UnknownFact>(earlier?.facts);
  const openChores = new Set<string>(chores.filter((chore) => earlier === undefined || earlier.work.has(chore)));
  const closedFamilies = new Set<FamilyName>();
  const settled = new Map<FamilyName, Set<string>>();
  const seen = new Map<FamilyName, readonly string[]>();
  const isSettled = (family: Family, key: string): boolean =>
    settled.get(family.name)?.has(key) === true || (earlier !== undefined && wasSettled(earlier, family, key));
  const openKeys = (family: Family): readonly string[] | undefined =>
    seen.get(family.name)?.filter((key) => !isSettled(family, key));
  const put = (fact: UnknownFact): void => {
    if (facts.size < mostUnknown || facts.has(fact.what)) facts.set(fact.what, fact);
  };
  return {
    isOpen: (chore) => openChores.has(chore),
    close(chore, unknown) {
      openChores.delete(chore);
      if (unknown) put({ what: chore, ...unknown });
    },
    open(family, keys) {
      if (closedFamilies.has(family.name)) return [];
      seen.set(family.name, [...keys]);
      return openKeys(family) ?? [];
    },
    settle(family, key, unknown) {
      const keys = settled.get(family.name) ?? new Set();
      settled.set(family.name, keys.add(key));
      if (unknown) put({ what: factName(family, key), ...unknown });
    },
    closeFamily: (family) => void closedFamilies.add(family.name),
    note: put,
    has: (what) => facts.has(what),
    get hasChores() {
      return openChores.size > 0;
    },
    get unfinished() {
      return openChores.size > 0 || closedFamilies.size < Object.keys(families).length;
    },
    unknown() {
      const open = Object.values(families).filter(({ name }) => !closedFamilies.has(name));
      const left = [...openChores, ...open.flatMap((family) => workOf(family, openKeys(family)))];
      return [...facts.values(), ...left.map((what) => ({ what, why: "budget" }) as const)];
    },
  };
}

/** Names of work that is left, key by key where that is short enough, so that the next run asks for nothing twice. */
function workOf(family: Family, keys: readonly string[] | undefined): readonly string[] {
  if (keys === undefined || keys.length > mostUnknown) return [factName(family)];
  return keys.map((key) => factName(family, key));
}

/** What an earlier description has dealt with. */
interface Earlier {
  /** Names of what it left to do. */
  readonly work: ReadonlySet<string>;
  /** What it could not find out and what is not asked for again. */
  readonly facts: ReadonlyMap<string, UnknownFact>;
  readonly classes: ReadonlySet<string>;
  readonly properties: ReadonlySet<string>;
}

function readEarlier(known: VoidDescription): Earlier {
  const work = new Set<string>();
  const facts = new Map<string, UnknownFact>();
  for (const fact of known.unknown) {
    if (isWork(known, fact)) work.add(fact.what);
    else facts.set(fact.what, fact);
  }
  return {
    work,
    facts,
    classes: new Set(known.classPartitions.filter(wasSeen).map((partition) => partition.class)),
    properties: new Set(known.propertyPartitions.filter(wasSeen).map(({ property }) => property)),
  };
}

/** What only the publisher names may be found later. */
const wasSeen = ({ status }: { readonly status: FactStatus }): boolean => status !== "claimed";

/** A key that the earlier run knew and did not leave to do. */
function wasSettled(earlier: Earlier, family: Family, key: string): boolean {
  const what = factName(family, key);
  if (earlier.facts.has(what)) return true;
  const keys = family.key === "c" ? earlier.classes : earlier.properties;
  return keys.has(key) && !earlier.work.has(what) && !earlier.work.has(factName(family));
}

/**
 * Whether an unknown fact of a description is work for the next run: what an unfinished one had no budget for, or what
 * went wrong in a finished one. What an endpoint refused, or answered only in part, is not asked for again.
 */
function isWork(known: VoidDescription, fact: UnknownFact): boolean {
  return fact.why === "budget" || (!known.unfinished && (fact.why === "timeout" || fact.why === "failed"));
}
