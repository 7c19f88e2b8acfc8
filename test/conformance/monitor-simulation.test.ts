import { expect, it } from "vitest";
import type { FaultKind } from "../../src/errors/fedway-error.ts";
import { createMonitor } from "../../src/monitor/create-monitor.ts";
import type { Incident, IncidentKind, Observation } from "../../src/monitor/monitor.ts";
import { kindOf } from "../../src/monitor/subjects.ts";

import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { catalogEntry } from "../support/catalog-entry.ts";
import { createSimulatedClock } from "../support/simulated-clock.ts";
import { createRandom } from "../support/seeded-random.ts";

const given = process.env["FEDWAY_SIMULATION_SEED"];
const seeds = given === undefined ? [20_260_301] : [Number(given)];
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const startMs = Date.parse("2026-03-02T00:00:30Z");
const endMs = startMs + 7 * dayMs;
const settings = {
  enabled: true,
  everyMs: 15 * minuteMs,
  jitter: 0.1,
  incidentAfter: 3,
  recoveredAfter: 2,
  slowMs: 10_000,
  slowFactor: 3,
  certificateDays: 14,
};
let random = createRandom(0);

const day = (from: number, hours: number) => ({
  fromMs: startMs + from * dayMs,
  toMs: startMs + from * dayMs + hours * hourMs,
});
type Span = ReturnType<typeof day>;
const within = ({ fromMs, toMs }: Span, atMs: number): boolean => fromMs <= atMs && atMs < toMs;

/** Trouble that is to be noticed: what its incident is of, its kinds, and when it may begin. */
interface Trouble {
  readonly of: string;
  readonly kinds: readonly IncidentKind[];
  readonly begins: Span;
}

interface Look {
  readonly atMs: number;
  /** Turns of the endpoint before this one. */
  readonly turn: number;
}

/** What an endpoint does at a look: how long it takes, or how it fails. */
type Behaviour = (look: Look) => number | FaultKind;

const usualMs = (): number => 150 + 100 * random();
/** Three in a thousand probes fail for no reason that lasts. */
const steady: Behaviour = () => (random() < 0.003 ? "timeout" : usualMs());
const pattern =
  (turns: string, fault: FaultKind): Behaviour =>
  ({ turn }) =>
    turns[turn % turns.length] === "b" ? fault : usualMs();
const during =
  (span: Span, then: Behaviour, usual: Behaviour = steady): Behaviour =>
  (look) =>
    within(span, look.atMs) ? then(look) : usual(look);
const fails =
  (fault: FaultKind): Behaviour =>
  () =>
    fault;
const share =
  (bad: number): Behaviour =>
  () =>
    random() < bad ? "http-5xx" : usualMs();
const times =
  (factor: (days: number, hour: number) => number): Behaviour =>
  ({ atMs }) =>
    usualMs() * factor((atMs - startMs) / dayMs, ((atMs - startMs) % dayMs) / hourMs);

const maintained = day(4, 6);
const certificateEnds = startMs + 16 * dayMs;

/** Endpoints that are not simply steady, with the trouble they are in. */
const special: Readonly<Record<string, readonly [Behaviour, ...Omit<Trouble, "of">[]]>> = {
  dead1: [fails("dns"), { kinds: ["down"], begins: day(0, 2) }],
  dead2: [fails("connect"), { kinds: ["down"], begins: day(0, 2) }],
  dead3: [fails("http-4xx"), { kinds: ["down"], begins: day(0, 2) }],
  dead4: [fails("malformed"), { kinds: ["down"], begins: day(0, 2) }],
  "third-up": [pattern("gbb", "timeout"), { kinds: ["degraded", "flapping"], begins: day(0, 8) }],
  "half-up": [pattern("gb", "http-5xx"), { kinds: ["degraded"], begins: day(0, 8) }],
  "half-up-pairs": [pattern("ggbb", "connect"), { kinds: ["degraded"], begins: day(0, 8) }],
  "random-third": [share(0.67), { kinds: ["degraded", "flapping", "down"], begins: day(0, 8) }],
  "random-half": [share(0.5), { kinds: ["degraded", "flapping"], begins: day(0, 8) }],
  "late-half": [during(day(2.5, 60), share(0.5)), { kinds: ["degraded", "flapping"], begins: day(2.5, 8) }],
  "flap-32": [pattern("bbbgg", "timeout"), { kinds: ["flapping"], begins: day(0, 2) }],
  "flap-32-http": [during(day(1, 72), pattern("bbbgg", "http-5xx")), { kinds: ["flapping"], begins: day(1, 2) }],
  "flap-dead": [
    during(day(1, 24), pattern("bbbgg", "connect"), during(day(2, 200), fails("connect"))),
    { kinds: ["down"], begins: day(1, 2) },
  ],
  drifting: [times((days) => 1.6 ** Math.max(0, days - 1)), { kinds: ["degraded"], begins: day(2, 96) }],
  "slow-at-night": [times((_days, hour) => (hour < 7 ? 5 : 1))],
  "slow-now": [
    during(
      day(3.2, 12),
      times(() => 60),
    ),
    { kinds: ["degraded"], begins: day(3.2, 6) },
  ],
  short: [during(day(1.5, 1.2), fails("reset")), { kinds: ["down"], begins: day(1.5, 1) }],
  twice: [
    during(day(1, 3), fails("tls"), during(day(5.6, 5), fails("http-5xx"))),
    { kinds: ["down"], begins: day(1, 1) },
    { kinds: ["down"], begins: day(5.6, 1) },
  ],
  maintained: [during(maintained, fails("http-5xx"))],
  certified: [steady, { kinds: ["certificate"], begins: day(2, 1) }],
};
const hostSpan = day(2.2, 5);
const onHost = ["h1", "h2", "h3", "h4"];
const plain = Array.from({ length: 60 - onHost.length - Object.keys(special).length }, (_, n) => `s${n}`);

const entries = [...Object.keys(special), ...onHost, ...plain].map((id) => {
  const host = onHost.includes(id) ? "shared" : id;
  return catalogEntry(id, { url: `https://data.${host}-host.example/${id}` });
});
const lost = day(3, 4);
const partly = day(6, 4);
/** 23 of the 36 plain ones: with all others of the catalogue, half of the domains. */
const outOfReach = new Set(plain.slice(0, 23));

function outcome(id: string, look: Look): number | FaultKind {
  if (within(lost, look.atMs)) return "dns";
  if (outOfReach.has(id) && within(partly, look.atMs)) return "connect";
  if (onHost.includes(id) && within(hostSpan, look.atMs)) return "http-5xx";
  return (special[id]?.[0] ?? steady)(look);
}

const troubles: readonly Trouble[] = [
  ...Object.entries(special).flatMap(([of, [, ...known]]) => known.map((one) => ({ of, ...one }))),
  { of: "_host.data.shared-host.example", kinds: ["down"], begins: { ...hostSpan, toMs: hostSpan.fromMs + hourMs } },
  {
    of: "_network",
    kinds: ["network"],
    begins: { fromMs: lost.fromMs - 5 * minuteMs, toMs: lost.fromMs + 5 * minuteMs },
  },
  { of: "_network.part", kinds: ["network"], begins: { ...partly, toMs: partly.fromMs + hourMs } },
];

/** Watches endpoints for some hours, a week by default. */
async function live(entriesOf = entries, behaviour = outcome, hours = 7 * 24) {
  const clock = createSimulatedClock(startMs);
  const store = openSqliteStore({ path: ":memory:", clock });
  const told: string[] = [];
  const faults: unknown[] = [];
  const turns = new Map<string, Observation[]>();
  const truth = new Map<string, boolean>();
  const monitor = createMonitor({
    catalog: { entries: entriesOf, byId: (id) => entriesOf.find((entry) => entry.id === id) },
    store,
    async probe({ id }) {
      const look = { atMs: clock.now(), turn: turns.get(id)?.length ?? 0 };
      const found = behaviour(id, look);
      truth.set(`${id} ${look.atMs}`, typeof found === "number");
      if (typeof found === "number") return { ok: true, ms: Math.round(found), tries: 1 };
      return { ok: false, ms: 20, fault: found, tries: 2 };
    },
    certificateEndMs: (url) => (url.endsWith("/certified") ? certificateEnds : startMs + 90 * dayMs),
    clock,
    settings,
    work: true,
    soleOwner: true,
    tickMs: 20_000,
    tell: async ({ kind, incident }) => void told.push(`${incident.id} ${kind.replace("incident-", "")}`),
    onFault: (error) => faults.push(error),
  });
  monitor.onEvent((event) => {
    if (event.kind !== "probed" || event.observation.source !== "turn") return;
    turns.set(event.endpoint, [...(turns.get(event.endpoint) ?? []), event.observation]);
  });
  await monitor.start();
  if (entriesOf === entries) await monitor.addMaintenance({ endpoint: "maintained", ...maintained });
  for (let hour = 0; hour < hours; hour += 1) await clock.advance(hourMs);
  return { clock, store, monitor, told, faults, turns, truth };
}

/** What comes and goes by chance may end for some hours, and go on. */
const mayReopen = new Set(["random-third", "random-half", "late-half"]);

/** Opened once, closed once; what lasts longer than a day has its reminders. */
function expectMessages(incidents: readonly Incident[], told: readonly string[]): void {
  for (const { id, endpoint, closedMs } of incidents) {
    const own = told.filter((one) => one.startsWith(`${id} `)).map((one) => one.slice(id.length + 1));
    const changes = own.filter((kind) => kind !== "reminder");
    expect(changes).toEqual(changes.map((_, index) => (index % 2 === 0 ? "opened" : "closed")));
    expect(changes.at(-1)).toBe(closedMs === undefined ? "opened" : "closed");
    expect(changes.length).toBeLessThanOrEqual(mayReopen.has(endpoint) ? 6 : 2);
    expect(own.length - changes.length).toBeLessThanOrEqual(2);
  }
}

it.each(seeds)(
  "60 endpoints for a week: each trouble once, uptime to the turn (seed %i)",
  {
    timeout: 600_000,
  },
  async (seed) => {
    random = createRandom(seed);
    const before = process.cpuUsage();
    const { clock, store, monitor, told, faults, turns, truth } = await live();
    const seconds = process.cpuUsage(before).user / 1e6;
    const incidents = await monitor.incidents({ limit: 1_000 });
    const shown = ({ endpoint, startedMs, closedMs, ...one }: Incident): string =>
      `${endpoint} ${kindOf({ endpoint, ...one })} day ${((startedMs - startMs) / dayMs).toFixed(2)} to ${closedMs === undefined ? "" : ((closedMs - startMs) / dayMs).toFixed(2)}`;
    const fits = (incident: Incident, { of, kinds, begins }: Trouble): boolean =>
      incident.endpoint === of && kinds.includes(kindOf(incident)) && within(begins, incident.startedMs);
    const reminders = told.filter((one) => one.endsWith("reminder")).length;
    console.log({
      seed,
      seconds,
      troubles: troubles.length,
      incidents: incidents.length,
      messages: told.length,
      reminders,
    });

    const missed = troubles.filter((trouble) => incidents.filter((one) => fits(one, trouble)).length !== 1);
    const others = incidents.filter((one) => !troubles.some((trouble) => fits(one, trouble)));
    expect({ missed: missed.map(({ of }) => of), others: others.map(shown) }).toEqual({ missed: [], others: [] });
    expectMessages(incidents, told);
    const named = incidents.find(({ endpoint }) => endpoint === "_network.part")?.endpoints ?? [];
    // Another one may have failed by chance at the time.
    expect(named).toEqual(expect.arrayContaining([...outOfReach]));
    expect(named.length).toBeLessThanOrEqual(outOfReach.size + 1);

    const backMs = incidents.find(({ endpoint }) => endpoint === "_network")?.closedMs ?? 0;
    expect(backMs - lost.toMs).toBeLessThan(5 * minuteMs);
    for (const { id } of entries) {
      // Silence counts again when the network is seen to be back.
      const isLost = ({ atMs, offline }: Observation): boolean =>
        within(lost, atMs) || (offline === true && atMs <= backMs);
      const counted = (turns.get(id) ?? []).filter(
        (one) => !isLost(one) && !(id === "maintained" && within(maintained, one.atMs)),
      );
      const good = counted.filter(({ atMs }) => truth.get(`${id} ${atMs}`) === true).length;
      const window = (await monitor.availability(id))?.windows.find((one) => one.window === "30d");
      expect({ id, probes: window?.probes, good: window?.good }).toEqual({ id, probes: counted.length, good });
    }
    expect(faults).toEqual([]);
    await monitor.close();
    await store.close();
    expect(clock.now()).toBe(endMs);
    expect(seconds).toBeLessThan(60);
  },
);

it("23 of 39 hosts out of reach are one incident of two messages, and their probes count", async () => {
  const hosts = Array.from({ length: 39 }, (_, n) =>
    catalogEntry(`h${n}`, { url: `https://data.owner${n}.example/sparql` }),
  );
  const outage = day(0.5, 4);
  const lostHosts = hosts.slice(0, 23).map(({ id }) => id);
  const behaviour = (id: string, { atMs }: Look): number | FaultKind =>
    lostHosts.includes(id) && within(outage, atMs) ? "connect" : 200;
  const { store, monitor, told, faults, turns } = await live(hosts, behaviour, 24);
  const incidents = await monitor.incidents();
  expect(incidents).toMatchObject([{ endpoint: "_network.part", kind: "network", closedBy: "recovered" }]);
  expect(incidents[0]?.endpoints?.toSorted()).toEqual(lostHosts.toSorted());
  expect(incidents[0]?.summary).toContain("23 of 39 hosts");
  expect(told.map((one) => one.split(" ")[1])).toEqual(["opened", "closed"]);
  for (const { id } of hosts) {
    const own = turns.get(id) ?? [];
    const good = own.filter(({ atMs }) => behaviour(id, { atMs, turn: 0 }) === 200).length;
    const window = (await monitor.availability(id))?.windows.find((one) => one.window === "7d");
    expect({ id, probes: window?.probes, good: window?.good }).toEqual({ id, probes: own.length, good });
  }
  expect(faults).toEqual([]);
  await monitor.close();
  await store.close();
});
