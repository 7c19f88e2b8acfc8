import type { FactStatus, UnknownFact, VoidDescription } from "../void-description.ts";
import { type FactKind, type FactKindName, factKinds, factName } from "./fact-kinds.ts";

const tasks = [
  "graph list",
  "class list",
  "property list",
  "distinct subjects",
  "distinct objects",
  "languages",
  "namespaces",
  "labels",
] as const;

/** Work beside the kinds of facts. */
export type Task = (typeof tasks)[number];

const mostUnknown = 2000;

/** Why something is not known. */
export type Reason = Omit<UnknownFact, "what">;

/**
 * Remaining work of a run: everything or, with an earlier description, its open facts. Part of a checkpoint
 * in the form of unknown facts whose reason is "budget".
 */
export class Todo {
  readonly #earlier: Earlier | undefined;
  readonly #facts: Map<string, UnknownFact>;
  readonly #openTasks: Set<string>;
  readonly #closedKinds = new Set<FactKindName>();
  readonly #settled = new Map<FactKindName, Set<string>>();
  readonly #seen = new Map<FactKindName, readonly string[]>();

  constructor(known?: VoidDescription) {
    const earlier = known !== undefined && known.source !== "retrieved" ? readEarlier(known) : undefined;
    this.#earlier = earlier;
    this.#facts = new Map(earlier?.facts);
    this.#openTasks = new Set(tasks.filter((task) => earlier === undefined || earlier.work.has(task)));
  }

  get hasTasks(): boolean {
    return this.#openTasks.size > 0;
  }

  /** Work is left. */
  get unfinished(): boolean {
    return this.hasTasks || this.#closedKinds.size < Object.keys(factKinds).length;
  }

  isOpen(task: Task): boolean {
    return this.#openTasks.has(task);
  }

  /** The task is over; `reason` names the facts it could not find out. */
  close(task: Task, reason?: Reason): void {
    this.#openTasks.delete(task);
    if (reason) this.note({ what: task, ...reason });
  }

  /** The keys, of those given, that a kind has not dealt with. */
  open(kind: FactKind, keys: Iterable<string>): readonly string[] {
    if (this.#closedKinds.has(kind.name)) return [];
    this.#seen.set(kind.name, [...keys]);
    return this.#openKeys(kind) ?? [];
  }

  /** A key of a kind is dealt with; `reason` says why not all of it is known. */
  settle(kind: FactKind, key: string, reason?: Reason): void {
    const keys = this.#settled.get(kind.name) ?? new Set();
    this.#settled.set(kind.name, keys.add(key));
    if (reason) this.note({ what: factName(kind, key), ...reason });
  }

  /** The kind needs nothing more, whatever keys there are. */
  closeKind(kind: FactKind): void {
    this.#closedKinds.add(kind.name);
  }

  /** Something that could not be found out. */
  note(fact: UnknownFact): void {
    if (this.#facts.size < mostUnknown || this.#facts.has(fact.what)) this.#facts.set(fact.what, fact);
  }

  has(what: string): boolean {
    return this.#facts.has(what);
  }

  /** Unknown facts, including remaining work. */
  unknown(): readonly UnknownFact[] {
    const open = Object.values(factKinds).filter(({ name }) => !this.#closedKinds.has(name));
    const left = [...this.#openTasks, ...open.flatMap((kind) => workOf(kind, this.#openKeys(kind)))];
    return [...this.#facts.values(), ...left.map((what) => ({ what, why: "budget" }) as const)];
  }

  #openKeys(kind: FactKind): readonly string[] | undefined {
    const earlier = this.#earlier;
    const isSettled = (key: string): boolean =>
      this.#settled.get(kind.name)?.has(key) === true || (earlier !== undefined && wasSettled(earlier, kind, key));
    return this.#seen.get(kind.name)?.filter((key) => !isSettled(key));
  }
}

/** Names of work that is left, key by key where that is short enough, so that the next run asks for nothing twice. */
function workOf(kind: FactKind, keys: readonly string[] | undefined): readonly string[] {
  if (keys === undefined || keys.length > mostUnknown) return [factName(kind)];
  return keys.map((key) => factName(kind, key));
}

/** Facts that an earlier description settled. */
interface Earlier {
  /** Names of its remaining tasks. */
  readonly work: ReadonlySet<string>;
  /** Facts that it could not find out and that are not asked for again. */
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

/** False for facts that only the publisher claims: they may be found later. */
const wasSeen = ({ status }: { readonly status: FactStatus }): boolean => status !== "claimed";

/** A key that the earlier run knew and did not leave to do. */
function wasSettled(earlier: Earlier, kind: FactKind, key: string): boolean {
  const what = factName(kind, key);
  if (earlier.facts.has(what)) return true;
  const keys = kind.key === "c" ? earlier.classes : earlier.properties;
  return keys.has(key) && !earlier.work.has(what) && !earlier.work.has(factName(kind));
}

/**
 * True if an unknown fact of a description is work for the next run: an unfinished run had no budget for it, or
 * it failed in a finished one. Facts that an endpoint refused, or answered only in part, are not asked for again.
 */
function isWork(known: VoidDescription, fact: UnknownFact): boolean {
  return fact.why === "budget" || (!known.unfinished && (fact.why === "timeout" || fact.why === "failed"));
}
