import { expect, it } from "vitest";
import { openWatchedEndpoints, type PlantedDrift, plantedDrifts } from "../support/watched-endpoints.ts";

const seeds = (process.env["FEDWAY_WATCH_SEEDS"] ?? "1").split(",").map(Number);

it("alarms of nothing in 30 days of stable, growing, noisy and weekly data, outages and maintenance", {
  timeout: 900_000,
}, async () => {
  for (const seed of seeds) {
    const world = await openWatchedEndpoints({ seed, days: 30 });
    const runs = await world.live(30);
    const results = (await world.watches.list()).map(
      ({ results: [...all] }) => all.filter(({ status }) => status === "not run").length,
    );
    console.log({
      seed,
      runs,
      notRunOfLatest30: results.reduce((sum, count) => sum + count, 0),
      alarms: world.opened.length,
    });
    expect(world.opened).toEqual([]);
    await world.close();
  }
});

it("finds at least 95 % of the planted drifts, and nothing where none is", { timeout: 900_000 }, async () => {
  const kinds = Object.keys(plantedDrifts) as PlantedDrift[];
  const missed: string[] = [];
  for (const seed of seeds) {
    const world = await openWatchedEndpoints({ seed, days: 20 });
    await world.live(14);
    expect(world.opened).toEqual([]);
    const planted = new Map<string, PlantedDrift>();
    for (const kind of kinds.toSorted((one, other) => plantedDrifts[one].length - plantedDrifts[other].length)) {
      const fit = world.all.filter(
        ({ query, drift }) => drift === undefined && plantedDrifts[kind].some((name) => name === query),
      );
      const one = world.random.pick(fit);
      one.drift = kind;
      planted.set(one.id, kind);
    }
    await world.live(17);
    const found = new Map(world.opened.map(({ id, summary }) => [id, summary]));
    for (const [id, kind] of planted) {
      const one = world.all.find((each) => each.id === id);
      if (!found.has(id)) missed.push(`seed ${seed}: ${kind} of ${one?.query}, ${one?.character}`);
    }
    console.log({ seed, found: Object.fromEntries([...planted].map(([id, kind]) => [kind, found.get(id)])) });
    expect([...found.keys()].filter((id) => !planted.has(id))).toEqual([]);
    // What is mended holds again, and its incidents close.
    for (const one of world.all) one.drift = undefined;
    await world.live(20);
    expect(world.open.size).toBe(0);
    await world.close();
  }
  const all = seeds.length * kinds.length;
  console.log({ planted: all, missed });
  expect((all - missed.length) / all).toBeGreaterThanOrEqual(0.95);
});
