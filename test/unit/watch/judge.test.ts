import { expect, it } from "vitest";
import { advance, deviationsOf } from "../../../src/watch/judge.ts";
import type { Outcome, Watch } from "../../../src/watch/watch.ts";

const outcome = (atMs: number, names: readonly string[]): Outcome => ({
  atMs,
  status: "ok",
  size: 9,
  ms: 1,
  columns: Object.fromEntries(names.map((name) => [name, { bound: 1, kinds: { number: 1 } }])),
});
const fresh: Watch = {
  id: "w",
  name: "w",
  query: "SELECT * {}",
  everyMs: 1,
  origin: "api",
  nextMs: 0,
  drifts: {},
  results: [],
};

it.each(["name", "constructor", "toString"])("misses the column ?%s when an endpoint leaves it out", (name) => {
  const learned = [1, 2, 3].reduce((watch, atMs) => advance(watch, outcome(atMs, ["other", name]), "e"), fresh);
  expect(deviationsOf(learned.baseline, outcome(4, ["other"]))).toEqual({ column: `?${name} is unbound.` });
});
