import oxigraph from "oxigraph";
import { expect, test } from "vitest";
import { generateShop } from "../bench/federation/shop/generate.ts";
import { shopQueries } from "../bench/federation/shop/queries.ts";
import { answerDifference, type CanonicalAnswer, isNonEmpty, storeAnswer } from "../support/canonical-answer.ts";
import { type ChangingMembers, openChangingMembers } from "../support/changing-members.ts";
import { isExistenceQuery } from "../support/existence-query.ts";
import { createRandom, type Random } from "../support/random.ts";

// What it costs to verify the facts by which members are left out, and what is missed meanwhile: members of a shop that change, 100
// different queries a day, and a dashboard whose four queries come every quarter of an hour.

const size = Number(process.env["FEDWAY_FRESHNESS_MEMBERS"] ?? 20);
const days = Number(process.env["FEDWAY_FRESHNESS_DAYS"] ?? 0.25);
const seed = Number(process.env["FEDWAY_DIFFERENTIAL_SEED"] ?? 20_261_201);
const intervals = (process.env["FEDWAY_FRESHNESS_MINUTES"] ?? "60,15").split(",").map(Number);
const queriesOfDay = 100;
const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
const dashboardMs = 15 * minuteMs;

/** The queries of the shop, for products, features and members of which there are others in each group. */
function oneQuery(random: Random): string {
  const { text } = random.pick(shopQueries);
  const type = random.below(4 * Math.ceil(size / 20));
  const place = random.below(size >> 1);
  return text
    .replaceAll("type:0", `type:${type}`)
    .replaceAll("feature:0-", `feature:${type}-`)
    .replaceAll("product:0-0", `product:${type}-${random.below(8)}`)
    .replaceAll("vendor0.shop", `vendor${place}.shop`)
    .replaceAll("site0.shop", `site${place}.shop`);
}

/** The data of all members as one graph, in which a triple may come from several. */
class WholeStore {
  readonly #store = new oxigraph.Store();
  readonly #times = new Map<string, number>();
  /** Since the last change. */
  readonly #answers = new Map<string, CanonicalAnswer>();

  add(triple: string): void {
    this.#answers.clear();
    const times = this.#times.get(triple) ?? 0;
    if (times === 0) this.#store.load(`${triple} .`, { format: "nt" });
    this.#times.set(triple, times + 1);
  }

  delete(triple: string): void {
    this.#answers.clear();
    const times = this.#times.get(triple) ?? 0;
    this.#times.set(triple, times - 1);
    if (times !== 1) return;
    for (const quad of oxigraph.parse(`${triple} .`, { format: "nt" })) this.#store.delete(quad);
  }

  answer(text: string): CanonicalAnswer {
    const answer = this.#answers.get(text) ?? storeAnswer(this.#store, text);
    this.#answers.set(text, answer);
    return answer;
  }
}

const triplesOf = (text: string): Set<string> =>
  new Set(text.split("\n").flatMap((line) => (line === "" ? [] : line.replace(/ \.$/u, ""))));

/** A member begins to have something of another one; the number of its triples may stay as it was. */
function change(members: ChangingMembers, whole: WholeStore, random: Random): void {
  const index = random.below(size);
  const own = members.triplesAt(index);
  const others = [...members.triplesAt(random.below(size))];
  const [subject] = random.pick(others).split(" ");
  const added = others.filter((triple) => triple.startsWith(`${subject} `) && !own.has(triple));
  const dropped = random.chance(0.25) ? [...own].slice(0, added.length) : [];
  for (const triple of added) {
    own.add(triple);
    whole.add(triple);
  }
  for (const triple of dropped) {
    own.delete(triple);
    whole.delete(triple);
  }
  members.changed(index);
}

interface Counts {
  answers: number;
  /** Existence queries. */
  verifying: number;
  /** Those of runs whose answer was of nothing. */
  ofNothing: number;
  /** The most that one member was asked in an hour, but for answers of nothing. */
  mostInHour: number;
  runs: number;
  empty: number;
  stale: number;
  falseEmpty: number;
  /** Runs with rows that waited for existence queries. */
  waited: number;
  /** Existence queries for patterns alone, as the number of triples was asked within the interval. */
  withYoungMark: number;
}

/** A period of so many days, with a dashboard or with different queries alone. */
async function simulate(intervalMs: number, hasDashboard: boolean): Promise<Counts> {
  const data = Object.values(generateShop(size)).map(triplesOf);
  const whole = new WholeStore();
  for (const triple of data.flatMap((own) => [...own])) whole.add(triple);
  const counts = {
    answers: 0,
    verifying: 0,
    ofNothing: 0,
    mostInHour: 0,
    runs: 0,
    empty: 0,
    stale: 0,
    falseEmpty: 0,
    waited: 0,
    withYoungMark: 0,
  };
  let inHour = new Map<string, number>();
  let sent: { readonly query: string; readonly url: string }[] = [];
  const members = await openChangingMembers(data, true, undefined, undefined, {
    intervalMs,
    onSent: ({ query, endpoint }) => {
      if (isExistenceQuery(query)) sent.push({ query, url: endpoint.url });
      else counts.answers++;
    },
  });
  const { clock } = members;
  const random = createRandom(seed);
  const settled = async (): Promise<void> => {
    for (let before = -1; before < sent.length; ) {
      before = sent.length;
      await members.settle();
      await clock.advance(100);
    }
  };
  const ask = async (text: string): Promise<void> => {
    sent = [];
    const expected = whole.answer(text);
    const { answer, verified } = await members.ask(text, true);
    const hasRows = isNonEmpty(answer);
    const before = sent.length;
    await settled();
    counts.runs++;
    if (!hasRows) counts.empty++;
    if (hasRows && verified.size > 0) counts.waited++;
    if (answerDifference(expected, answer) !== undefined) {
      counts.stale++;
      if (!hasRows) counts.falseEmpty++;
    }
    const ofNothing = hasRows ? 0 : before;
    counts.ofNothing += ofNothing;
    counts.verifying += sent.length - ofNothing;
    for (const { url, query } of sent.slice(ofNothing)) {
      inHour.set(url, (inHour.get(url) ?? 0) + 1);
      if (!query.startsWith("SELECT ?n ?c ")) counts.withYoungMark++;
    }
  };
  // A third of all members change each day.
  const events: { readonly at: number; readonly run: () => Promise<void> | void }[] = [];
  for (let at = 0; at < (days * size) / 3; at++)
    events.push({ at: random.below(days * dayMs), run: () => change(members, whole, random) });
  for (let at = 0; at < days * queriesOfDay; at++) {
    const text = oneQuery(random);
    events.push({ at: random.below(days * dayMs), run: () => ask(text) });
  }
  const dashboard = ["q01", "q07", "q08", "q12"].map(
    (name) => shopQueries.find((query) => query.name === name)?.text ?? "",
  );
  for (let at = 0; at < (hasDashboard ? days * dayMs : 0); at += dashboardMs)
    for (const text of dashboard) events.push({ at, run: () => ask(text) });
  for (let hour = 1; hour <= days * 24; hour++) {
    const endOfHour = (): void => {
      counts.mostInHour = Math.max(counts.mostInHour, ...inHour.values());
      inHour = new Map();
    };
    events.push({ at: hour * 60 * minuteMs, run: endOfHour });
  }
  const startedAt = clock.now();
  for (const { at, run } of events.toSorted((one, other) => one.at - other.at)) {
    await clock.advance(Math.max(0, startedAt + at - clock.now()));
    await run();
  }
  await members.close();
  return counts;
}

const perDay = (count: number): number => Math.round(count / days);

test.each(intervals.flatMap((minutes) => [false, true].map((dashboard) => [minutes, dashboard] as const)))(
  "facts verified for %d minutes, dashboard: %s",
  { timeout: 14_400_000 },
  async (minutes, hasDashboard) => {
    const { answers, verifying, ofNothing, mostInHour, runs, empty, stale, falseEmpty, waited, withYoungMark } =
      await simulate(minutes * minuteMs, hasDashboard);
    console.log(
      `${size} members, ${days} days, ${minutes} minutes, ${hasDashboard ? "with" : "without"} a dashboard: each day ${perDay(runs)} runs ` +
        `(${perDay(empty)} of nothing), ${perDay(answers)} requests for answers, ${perDay(verifying)} that verify ` +
        `(${(verifying / answers).toFixed(2)} x), ${perDay(ofNothing)} for answers of nothing; ${waited} runs with rows waited; ` +
        `at most ${mostInHour} a member and hour; stale ${stale} (${((100 * stale) / runs).toFixed(2)} %), ${falseEmpty} empty`,
    );
    expect(falseEmpty).toBe(0);
    expect(withYoungMark).toBe(0);
    // One more where the member was described anew.
    expect(mostInHour).toBeLessThanOrEqual(60 / minutes + 1);
  },
);
