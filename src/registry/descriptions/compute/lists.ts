import { Batcher } from "./batches.ts";
import type { Known } from "../facts.ts";
import { type FactKind, keysOf } from "./fact-kinds.ts";
import { computeFacts } from "./compute-facts.ts";
import { type AnsweredList, countList, isVerified, keepTotals, listed, mostListed } from "./verdicts.ts";
import { iriOf } from "../values.ts";
import type { Groups, Observation } from "./observation.ts";
import { keysQuery } from "./queries.ts";
import { ask, isCutFor, isSeen, observe, type Run, weighed, weightIn } from "./run.ts";

const mostPages = 30;
const leastLimit = 25;

const tasks = { c: "class list", p: "property list", g: "graph list" } as const;

/** A list as it was answered first; its counts and its completeness are still to be verified. */
export interface StartedList extends AnsweredList {
  /** All counts came with it: finishing takes a few queries only. */
  readonly light: boolean;
  /** Absent where an earlier run has finished the list. */
  readonly listing?: Listing;
}

/** Tier 1: the list of all classes or properties. */
export async function startList(run: Run, kind: FactKind): Promise<StartedList> {
  if (!run.todo.isOpen(tasks[kind.key])) return { light: true, whole: false };
  const listing = await list(run, kind);
  if (!listing.whole) await findClaimed(run, kind);
  const { observation, whole } = listing;
  return { light: observation?.whole === true, whole, observation, listing };
}

/** Finds the counts of each key, and whether the list is complete. */
export async function finishList(run: Run, kind: FactKind, { listing }: StartedList): Promise<void> {
  if (listing === undefined) return computeFacts(run, kind);
  const total = await countList(run, kind);
  await computeFacts(run, kind, listing.observation);
  const complete = listing.whole && (await isVerified(run, kind, listing.observation));
  keepTotals(run, kind, { complete, total, record: total?.record ?? listing.record });
  run.todo.close(tasks[kind.key], complete ? undefined : { why: listing.why, record: listing.record });
}

interface Listing extends AnsweredList {
  readonly why: "timeout" | "refused" | "partial" | "failed";
  readonly record?: number | undefined;
}

/** Level 1 with counts, else without, else from samples; further pages by exclusion. */
async function list(run: Run, kind: FactKind): Promise<Listing> {
  const pages: Observation[] = [];
  const keys = new Set<string>();
  while (run.dialect.count && pages.length < mostPages) {
    const page = await observe(run, kind, { selection: { without: [...keys] }, level: pages.length === 0 ? 1 : 2 });
    if (!isSeen(page)) {
      run.tooMuch.set(kind.name, page.tooLarge ? "cut" : "failed");
      break;
    }
    pages.push(page);
    const before = keys.size;
    const dropped = take(run, kind, { iris: page.groups.keys(), keys, record: page.record, status: "exists" });
    if (page.cut && keys.size > before && isExcludable(run, kind, keys)) continue;
    const whole = page.whole && pages.every(isPage) && !dropped;
    return { ...ending(page), observation: joined(pages), whole };
  }
  return listKeys(run, kind, new Set(listed(run, kind)));
}

/** Keys that can still be written into a query that excludes them. */
function isExcludable(run: Run, kind: FactKind, keys: ReadonlySet<string>): boolean {
  let text = 0;
  for (const key of keys) text += key.length;
  return keys.size < mostListed[kind.key] && text < 10 * run.mostText;
}

/** Takes keys into the list and the facts. Whether some had to be left out. */
function take(
  run: Run,
  kind: FactKind,
  found: { readonly iris: Iterable<string>; readonly keys: Set<string> } & Known,
): boolean {
  const { iris, keys, record, status } = found;
  for (const key of iris) {
    if (keys.size >= mostListed[kind.key] && !keys.has(key)) return true;
    keys.add(key);
    keysOf(run.base, kind).known(key, { status, record });
  }
  return false;
}

/** A page of a longer list is cut by its nature, but must otherwise be sound. */
const isPage = (page: Observation): boolean => (page.whole || page.cut) && page.skipped === 0;
const ending = ({ skipped, record }: Observation) => ({ why: skipped === 0 ? "partial" : "refused", record }) as const;

function joined(pages: readonly Observation[]): Observation {
  const groups = new Map<string, Groups>();
  const flawed = new Set<string>();
  for (const page of pages) {
    for (const [key, some] of page.groups) groups.set(key, some);
    for (const key of page.flawed) flawed.add(key);
  }
  const last = pages.at(-1);
  if (last === undefined) throw new RangeError("No pages");
  return { ...last, groups, flawed, whole: last.whole && pages.every(isPage), cut: last.cut };
}

/** Where a list may lack something: asks for what the publisher names beyond it. */
async function findClaimed(run: Run, kind: FactKind): Promise<void> {
  const keys = new Set(listed(run, kind));
  const claimed = keysOf(run.claims, kind).keys();
  const items = weighed(
    [...claimed].filter((key) => !keys.has(key)),
    weightIn(run, kind),
  );
  const batcher = new Batcher(items, { first: run.mostKeys, most: run.mostKeys, text: run.mostText });
  let pages = 0;
  for (const batch of batcher) {
    if (pages++ === mostPages) return;
    const found = await observe(run, kind, { selection: { keys: batch }, level: 2 });
    if (!isSeen(found)) batcher.failed();
    else {
      take(run, kind, { iris: found.groups.keys(), keys, record: found.record, status: "exists" });
      batcher.answered(found.rows, false);
    }
  }
}

/** A list without counts, page by page: all keys of the data, or where that is too much those of its first solutions. */
async function listKeys(run: Run, kind: FactKind, keys: Set<string>): Promise<Listing> {
  let bounds: string | undefined;
  for (let pages = 0; pages < mostPages && isExcludable(run, kind, keys); pages++) {
    const page = await askPage(run, kind, { keys, bounds });
    if (page.failed) {
      if (bounds !== undefined && run.limit <= leastLimit) return page;
      if (bounds !== undefined) run.limit = Math.max(leastLimit, Math.floor(run.limit / 20));
      bounds = `LIMIT ${run.limit}`;
    } else if (page.whole || page.fresh === 0) {
      return page;
    }
  }
  return { whole: false, why: "partial" };
}

/** One page: whether all of it is there and could be used, and how many keys in it were not known. */
async function askPage(
  run: Run,
  kind: FactKind,
  { keys, bounds }: { readonly keys: Set<string>; readonly bounds: string | undefined },
): Promise<Listing & { readonly failed?: boolean; readonly fresh: number }> {
  const without = [...keys];
  const query = keysQuery(kind, { without, ...(bounds !== undefined && { bounds }) }, run.dialect);
  const outcome = await ask(run, { query, level: bounds === undefined ? 1 : 2 });
  const { record } = outcome;
  if (!outcome.ok) return { failed: true, whole: false, fresh: 0, why: outcome.why, record };
  const { rows } = outcome.answer;
  const iris = rows.flatMap((row) => iriOf(row.get(kind.key)) ?? []);
  const dropped = take(run, kind, { iris, keys, record, status: "exists" });
  const usable = iris.length === rows.length && !dropped;
  const isSound = usable && outcome.sound && !(await isCutFor(run, rows.length));
  // A list that has lacked something ends only when a page brings nothing new.
  const whole = isSound && bounds === undefined && !run.inconsistent;
  return { whole, fresh: keys.size - without.length, why: usable ? "partial" : "refused", record };
}
