import { DataFactory } from "n3";
import { describe, expect, it } from "vitest";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import type { FederatedPlan, PlannedEndpoint } from "../../../src/plan/query-plan.ts";
import { Existence } from "../../../src/selection/existence.ts";
import { FactTable } from "../../../src/selection/fact-table.ts";
import { askedPatterns, selectAsked } from "../../../src/selection/select-sources.ts";
import { type Interference, rowsAnswer, scriptedAsker } from "../../support/scripted-asker.ts";
import { createSimulatedClock } from "../../support/simulated-clock.ts";
import { EndpointModels } from "../../../src/registry/model.ts";

const urlOf = (id: string): string => `http://${id}.example/sparql`;
const data = {
  [urlOf("people")]: '<x:ann> <x:name> "Ann" .',
  [urlOf("books")]: '<x:b1> <x:author> <x:ann> ; <x:title> "One" .',
  [urlOf("empty")]: "",
};
const text = "SELECT * { ?b <x:author> ?a . ?a <x:name> ?n OPTIONAL { ?b <x:title> ?t } }";

function asking(interfere: Interference = () => undefined, lacksSubqueries: readonly string[] = []) {
  const clock = createSimulatedClock(1_000_000);
  const asker = scriptedAsker({ data, interfere });
  const existence = new Existence({
    asker,
    clock,
    lacksSubqueries: (id) => lacksSubqueries.includes(id),
    keepMs: 300_000,
  });
  const members = ["books", "empty", "gone", "people"].map((id): PlannedEndpoint => ({ id, url: urlOf(id) }));
  const plan: FederatedPlan = {
    kind: "federated",
    answer: "bindings",
    query: text,
    skeleton: text,
    clauses: [],
    over: { federation: "all", members, selection: { patterns: {}, disjointSubjects: [], leftOut: 0 } },
    members: members.map((endpoint) => ({ endpoint, clauses: 0, silent: false })),
    notes: [],
  };
  const table = new FactTable({ models: new EndpointModels(), now: clock.now });
  return {
    asker,
    clock,
    existence,
    ask: async (): Promise<void> => {
      const signal = new AbortController().signal;
      const patterns = askedPatterns(plan);
      const questions = members.map((endpoint) => ({ endpoint, patterns }));
      await existence.ask(questions, { signal, timeoutMs: 1_000 });
    },
    /** `pattern: members` of the plan that the answers leave. */
    selected: (): readonly string[] => {
      const { over } = selectAsked(plan, table, (member, key) => existence.lacks(member, key));
      return Object.entries(over?.selection?.patterns ?? {}).map(([key, { sources, excluded }]) => {
        const ids = sources.map(({ member }) => over?.members[member]?.id).join("+");
        const out = excluded.map(({ certificate, members: count }) => `-${certificate.kind}*${count}`).join("");
        return `${key} ${ids} ${out}`;
      });
    },
  };
}

const narrowed = [
  "? <x:author> ? books+empty+gone -asked*1",
  "? <x:name> ? empty+gone+people -asked*1",
  "? <x:title> ? books+empty+gone -asked*1",
];

describe("members of which nothing is known", () => {
  it("are asked by the next query when the budget of one is spent", async () => {
    let isSpent = true;
    const { asker, ask, selected } = asking(() => {
      if (isSpent) throw new FedwayError("BUDGET_SPENT", "The call has sent 0 requests to endpoints.");
      return undefined;
    });
    await ask();
    expect(selected()).toEqual([]);
    isSpent = false;
    const before = asker.log.length;
    await ask();
    expect(asker.log.length - before).toBe(4);
    expect(selected()).toEqual(narrowed);
  });

  it("are asked for all patterns in one request; who answers nothing at all, or not, stays", async () => {
    const { asker, ask, selected } = asking();
    await ask();
    expect(asker.log).toHaveLength(4);
    expect(selected()).toEqual(narrowed);
  });

  it("are not asked again while their answers, or their failure, count", async () => {
    const { asker, clock, ask, selected } = asking();
    await ask();
    await ask();
    expect(asker.log).toHaveLength(4);
    await clock.advance(60_000);
    await ask();
    // The two that said nothing.
    expect(asker.log).toHaveLength(6);
    await clock.advance(4 * 60_000);
    expect(selected()).toEqual([]);
    await ask();
    expect(selected()).toEqual(narrowed);
  });

  it("are asked anew when they are described", async () => {
    const { existence, ask, selected } = asking();
    await ask();
    existence.forget("books");
    existence.forget("people");
    expect(selected()).toEqual([]);
  });

  it("stay when their answer is cut, fails, or they lack subqueries", async () => {
    const failing = asking(() => new FedwayError("ENDPOINT_FAILED", "no"));
    await failing.ask();
    expect(failing.selected()).toEqual([]);
    const lacking = asking(undefined, ["books", "people"]);
    await lacking.ask();
    expect(lacking.selected()).toEqual([]);
    expect(lacking.asker.log).toHaveLength(2);
    const numbers = (...all: readonly number[]) => all.map((n) => new Map([["n", DataFactory.literal(String(n))]]));
    for (const rows of [numbers(), numbers(0), numbers(0, 1), numbers(1, 4)]) {
      const cut = asking(() => rowsAnswer(rows));
      await cut.ask();
      expect(cut.selected()).toEqual([]);
    }
    const whole = asking(() => rowsAnswer(numbers(0, 1, 4)));
    await whole.ask();
    expect(whole.selected()).toEqual(["? <x:name> ?  -asked*4", "? <x:title> ?  -asked*4"]);
  });
});

describe("members that are left out by facts", () => {
  const endpoint: PlannedEndpoint = { id: "people", url: urlOf("people") };
  const factsOf = (triples: number) => ({ url: endpoint.url, seenAt: 0, until: Number.POSITIVE_INFINITY, triples });
  const pattern = (name: string) => ({ key: name, text: `?s <x:${name}> ?o` });
  const hourMs = 3_600_000;

  function leaving(interfere?: Interference) {
    const clock = createSimulatedClock(40 * hourMs);
    const asker = scriptedAsker({ data, ...(interfere && { interfere: (request) => interfere(request) }) });
    const existence = new Existence({ asker, clock, lacksSubqueries: () => false, keepMs: hourMs });
    const contradictions: string[] = [];
    const signal = new AbortController().signal;
    const ask = async (names: readonly string[], triples = 1): Promise<void> => {
      const question = { endpoint, patterns: names.map(pattern), facts: factsOf(triples) };
      await existence.ask([question], {
        signal,
        timeoutMs: 1_000,
        onContradiction: ({ patterns }) => contradictions.push(patterns.join(" ")),
      });
    };
    const isVerified = (name: string, triples = 1): boolean =>
      existence.verified({ endpoint, patterns: [], facts: factsOf(triples) }, pattern(name)) !== undefined;
    const postpone = (...names: readonly string[]): void =>
      existence.postpone({ endpoint, patterns: names.map(pattern), facts: factsOf(1) });
    const texts = (): readonly string[] => asker.log;
    return { clock, ask, isVerified, postpone, texts, contradictions };
  }

  it("count their triples once an interval, and are left out of all queries unasked", async () => {
    const { clock, ask, isVerified, texts } = leaving();
    await ask(["author"]);
    expect([isVerified("author"), isVerified("title")]).toEqual([true, true]);
    for (const name of ["title", "year", "author"]) await ask([name]);
    expect(texts()).toHaveLength(1);
    await clock.advance(hourMs);
    expect(isVerified("title")).toBe(false);
    await ask(["title"]);
    expect(texts()).toHaveLength(2);
  });

  it("are asked for what they were left out of, with their next count", async () => {
    const { clock, ask, postpone, texts, contradictions } = leaving();
    await ask(["author"]);
    postpone("name", "title");
    await clock.advance(hourMs);
    await ask(["year"]);
    for (const name of ["year", "name", "title"]) expect(texts()[1]).toContain(`<x:${name}>`);
    expect(contradictions).toEqual(["name"]);
    await clock.advance(hourMs);
    await ask(["year"]);
    expect(texts()[2]).not.toContain("<x:title>");
  });

  it("contradict their facts with another number of triples", async () => {
    const { ask, isVerified, contradictions } = leaving();
    await ask(["author"], 2);
    expect(contradictions).toEqual([""]);
    expect([isVerified("author", 2), isVerified("title", 2)]).toEqual([true, false]);
  });

  it("count less often where that was slow twice in a row: a tenth of the time for which they are as described", async () => {
    const { clock, ask, isVerified } = leaving(() => {
      clock.set(clock.now() + 2_000);
      return undefined;
    });
    await ask(["author"]);
    await clock.advance(hourMs);
    expect(isVerified("title")).toBe(false);
    await ask(["author"]);
    await clock.advance(3.9 * hourMs);
    expect(isVerified("title")).toBe(true);
    await clock.advance(0.3 * hourMs);
    expect(isVerified("title")).toBe(false);
  });

  it("count though they cannot answer a pattern that waits", async () => {
    const { clock, ask, postpone, contradictions } = leaving(({ query }) =>
      query.includes("x:poison") ? new FedwayError("ENDPOINT_FAILED", "no") : undefined,
    );
    await ask(["author"]);
    postpone("poison");
    await clock.advance(hourMs);
    await ask([], 2);
    expect(contradictions).toEqual([""]);
  });

  it("count alone where a pattern takes too long, and are left out by that", async () => {
    const { ask, isVerified, texts } = leaving(({ query }) =>
      query.includes("x:author") ? new FedwayError("ENDPOINT_TIMEOUT", "no") : undefined,
    );
    await ask(["author"]);
    expect(isVerified("author")).toBe(true);
    expect(texts()).toHaveLength(2);
  });

  it("are asked for patterns alone where they fail to count, and their answers count for five minutes", async () => {
    const { clock, ask, isVerified, texts } = leaving(({ query }) =>
      query.includes("COUNT") ? new FedwayError("ENDPOINT_FAILED", "no") : undefined,
    );
    await ask(["author"]);
    expect(isVerified("author")).toBe(false);
    await clock.advance(60_000);
    await ask(["author"]);
    expect([isVerified("author"), isVerified("title")]).toEqual([true, false]);
    await clock.advance(300_000);
    expect(isVerified("author")).toBe(false);
    await ask(["author"]);
    expect(texts().map((one) => one.includes("COUNT"))).toEqual([true, true, false, false]);
    await clock.advance(hourMs);
    await ask(["author"]);
    expect(texts()[4]).toContain("COUNT");
  });
});
