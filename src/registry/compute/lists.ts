import type { Chore } from "./agenda.ts";
import { createBatcher, weighed } from "./batches.ts";
import { classFact, graphFact, keysOf, propertyFact } from "./fact-base.ts";
import type { Family } from "./families.ts";
import { climb } from "./ladder.ts";
import { isCountedExactly, keepTotals, listed } from "./list-totals.ts";
import { countOf, iriOf, type Groups, type Observation, solutionsOf } from "./observation.ts";
import { keysQuery, listTotalQuery, missingKeyQuery, sampledKeysQuery, solutionQuery } from "./queries.ts";
import { caughtLying, isCutFor, isSeen, type ListTotal, observe, type Run, weightIn } from "./run.ts";

/** The longest lists that are made, by the variable of their keys. */
const mostListed = { c: 10_000, p: 10_000, g: 500 } as const;
const mostPages = 30;
const leastLimit = 25;

const chores = { c: "class list", p: "property list", g: "graph list" } as const;

/** A list that has been made, and what is left to do about it. */
export interface StartedList {
  /** All counts came with it: finishing takes a few queries only. */
  readonly light: boolean;
  /** The answer with counts, where there is one for all keys. */
  readonly observation?: Observation;
  /** Finds the counts of each key and whether the list is complete. */
  readonly finish: () => Promise<void>;
}

/** Tier 1: the list of all classes or properties. */
export async function startList(run: Run, family: Family): Promise<StartedList> {
  const chore = chores[family.key];
  if (!run.agenda.isOpen(chore)) return { light: true, finish: () => climb(run, family) };
  const listing = await list(run, family);
  if (!listing.whole) await findClaimed(run, family);
  const { observation } = listing;
  return {
    light: observation?.whole === true,
    ...(observation && { observation }),
    finish: () => finishList(run, family, { chore, listing }),
  };
}

async function finishList(
  run: Run,
  family: Family,
  { chore, listing }: { readonly chore: Chore; readonly listing: Listing },
): Promise<void> {
  const total = run.dialect.count ? await askTotal(run, family) : undefined;
  if (total) {
    run.listTotals.set(family.name, total);
    await lookBeyond(run, family, total);
  }
  await climb(run, family, listing.observation);
  if (run.lies) await listMore(run, family);
  const complete = listing.whole && (await isProven(run, family, listing));
  keepTotals(run, family, { complete, total, record: total?.record ?? listing.record });
  run.agenda.close(
    chore,
    complete ? undefined : { why: listing.why, ...(listing.record !== undefined && { record: listing.record }) },
  );
}

interface Listing {
  /** The answer with counts, where there is one for all keys. */
  readonly observation?: Observation;
  /** The last page ended the list. */
  readonly whole: boolean;
  readonly why: "timeout" | "refused" | "partial" | "failed";
  readonly record?: number;
}

/** Rung 1 with counts, else without, else from samples; further pages by exclusion. */
async function list(run: Run, family: Family): Promise<Listing> {
  const pages: Observation[] = [];
  const keys = new Set<string>();
  while (run.dialect.count && pages.length < mostPages) {
    const page = await observe(run, family, { selection: { without: [...keys] }, rung: pages.length === 0 ? 1 : 2 });
    if (!isSeen(page)) {
      run.tooMuch.set(family.name, page.why === "too-large" ? "cut" : "failed");
      break;
    }
    pages.push(page);
    const before = keys.size;
    const dropped = take(run, family, { iris: page.groups.keys(), keys, record: page.record, status: "exists" });
    if (page.cut && keys.size > before && isExcludable(run, family, keys)) continue;
    const whole = page.whole && pages.every(isPage) && !dropped;
    return { ...ending(page), observation: joined(pages), whole };
  }
  return listKeys(run, family, new Set(listed(run, family)));
}

/** Keys that can still be written into a query that excludes them. */
function isExcludable(run: Run, family: Family, keys: ReadonlySet<string>): boolean {
  let text = 0;
  for (const key of keys) text += key.length;
  return keys.size < mostListed[family.key] && text < 10 * run.mostText;
}

interface Taken {
  readonly iris: Iterable<string>;
  readonly keys: Set<string>;
  readonly record: number;
  readonly status: "exists" | "sampled";
}

/** Takes keys into the list and the facts. Whether some had to be left out. */
function take(run: Run, family: Family, { iris, keys, record, status }: Taken): boolean {
  for (const key of iris) {
    if (keys.size >= mostListed[family.key] && !keys.has(key)) return true;
    keys.add(key);
    if (family.key === "c") classFact(run.base, key, { status, record });
    else if (family.key === "g") graphFact(run.base, key, { status, record });
    else propertyFact(run.base.properties, key, { status, record });
  }
  return false;
}

/** A page of a longer list is cut by its nature, but must otherwise be sound. */
const isPage = (page: Observation): boolean => (page.whole || page.cut) && page.skipped === 0;
const ending = ({ skipped, record }: Observation): Pick<Listing, "why" | "record"> => ({
  why: skipped === 0 ? "partial" : "refused",
  record,
});

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

/** What answers that silently lack something have not shown: pages by exclusion until nothing new comes. */
async function listMore(run: Run, family: Family): Promise<void> {
  const before = listed(run, family).length;
  await listKeys(run, family, new Set(listed(run, family)));
  if (listed(run, family).length > before) await climb(run, family);
}

/** Where a list may lack something: asks for what the publisher names beyond it. */
async function findClaimed(run: Run, family: Family): Promise<void> {
  const keys = new Set(listed(run, family));
  const claimed = keysOf(run.claims, family).keys();
  const items = weighed(
    [...claimed].filter((key) => !keys.has(key)),
    weightIn(run, family),
  );
  const batcher = createBatcher(items, { first: run.mostKeys, most: run.mostKeys, text: run.mostText });
  for (let pages = 0; pages < mostPages; pages++) {
    const batch = batcher.next();
    if (batch === undefined) return;
    const found = await observe(run, family, { selection: { keys: batch }, rung: 2 });
    if (!isSeen(found)) batcher.failed();
    else {
      take(run, family, { iris: found.groups.keys(), keys, record: found.record, status: "exists" });
      batcher.answered(found.rows, false);
    }
  }
}

/** A list without counts, page by page: all keys of the data, or where that is too much those of its first solutions. */
async function listKeys(run: Run, family: Family, keys: Set<string>): Promise<Listing> {
  let sampling = false;
  for (let pages = 0; pages < mostPages && isExcludable(run, family, keys); pages++) {
    const page = await askPage(run, family, { keys, sampling });
    if (page.failed) {
      if (sampling && run.limit <= leastLimit) return { whole: false, why: page.why, record: page.record };
      if (sampling) run.limit = Math.max(leastLimit, Math.floor(run.limit / 20));
      sampling = true;
      continue;
    }
    // A list that was caught lacking something is only over when nothing new comes.
    const whole = page.whole && !sampling && !run.lies;
    if (whole || page.fresh === 0) return { whole, why: page.why, record: page.record };
  }
  return { whole: false, why: "partial" };
}

interface Page {
  readonly failed: boolean;
  /** Nothing was cut, and every key could be used. */
  readonly whole: boolean;
  /** Keys that were not known. */
  readonly fresh: number;
  readonly why: Listing["why"];
  readonly record: number;
}

async function askPage(
  run: Run,
  family: Family,
  { keys, sampling }: { readonly keys: Set<string>; readonly sampling: boolean },
): Promise<Page> {
  const without = [...keys];
  const { dialect, limit } = run;
  const query = sampling
    ? sampledKeysQuery(family, without, { dialect, limit })
    : keysQuery(family, { without }, dialect);
  const outcome = await run.session.ask({ query, rung: sampling ? 6 : 1 });
  const { record } = outcome;
  if (!outcome.ok) {
    return { failed: true, whole: false, fresh: 0, why: outcome.why === "too-large" ? "failed" : outcome.why, record };
  }
  const { rows } = outcome.answer;
  const iris = rows.flatMap((row) => iriOf(row.get(family.key)) ?? []);
  const dropped = take(run, family, { iris, keys, record, status: sampling ? "sampled" : "exists" });
  const usable = iris.length === rows.length && !dropped;
  const whole = usable && outcome.sound && !isCutFor(run, rows.length);
  return { failed: false, whole, fresh: keys.size - without.length, why: usable ? "partial" : "refused", record };
}

async function askTotal(run: Run, family: Family): Promise<ListTotal | undefined> {
  const outcome = await run.session.ask({ query: listTotalQuery(family, run.dialect), rung: 1 });
  if (!outcome.ok || !outcome.sound) return undefined;
  const [row] = outcome.answer.rows;
  const solutions = countOf(row?.get("n"));
  const keys = countOf(row?.get("d"));
  if (solutions === undefined || outcome.answer.rows.length !== 1) return undefined;
  if (keys === undefined && run.dialect.countDistinct) return undefined;
  return { solutions, keys, record: outcome.record };
}

/** A solution behind the last one that was counted gives away a count over only some of them, for little work. */
async function lookBeyond(run: Run, family: Family, { solutions, record }: ListTotal): Promise<void> {
  const outcome = await run.session.ask({ query: solutionQuery(family, solutions, run.dialect), rung: 2 });
  if (outcome.ok && outcome.answer.rows.length > 0) caughtLying(run, solutions, record);
}

/** Whether a second way agrees that a list misses nothing. */
async function isProven(run: Run, family: Family, listing: Listing): Promise<boolean> {
  if (run.lies || !run.dialect.count) return false;
  const keys = listed(run, family);
  // Nothing at all is also what an endpoint gives that has lost its way in a query over everything.
  if (keys.length === 0) return (await missing(run, family, keys)) === 0;
  const total = run.listTotals.get(family.name);
  if (total) {
    const sum = listing.observation ? sumOf(listing.observation) : undefined;
    if (!isCountedExactly(run, family) || (sum !== undefined && sum !== total.solutions)) return false;
    return total.keys === undefined ? isExhausted(run, family, keys) : total.keys === keys.length;
  }
  return isCountedExactly(run, family) && isExhausted(run, family, keys);
}

function sumOf(observation: Observation): number | undefined {
  let sum = 0;
  for (const groups of observation.groups.values()) {
    const solutions = solutionsOf(groups);
    if (solutions === undefined) return undefined;
    sum += solutions;
  }
  return sum;
}

/** A query for a key that is not listed finds none, and does find one that was left out on purpose. */
async function isExhausted(run: Run, family: Family, keys: readonly string[]): Promise<boolean> {
  if (keys.length > mostListed[family.key]) return false;
  const none = await missing(run, family, keys);
  if (none !== 0) return false;
  for (const hidden of [keys.at(0), keys.at(-1)]) {
    if (hidden === undefined) continue;
    const found = await missing(
      run,
      family,
      keys.filter((key) => key !== hidden),
    );
    if (found !== 1) return false;
  }
  return true;
}

async function missing(run: Run, family: Family, keys: readonly string[]): Promise<number | undefined> {
  const outcome = await run.session.ask({ query: missingKeyQuery(family, keys, run.dialect), rung: 2 });
  return outcome.ok && outcome.sound ? outcome.answer.rows.length : undefined;
}
