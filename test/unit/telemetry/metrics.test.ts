import { describe, expect, it } from "vitest";
import { createMetrics, type Metrics } from "../../../src/telemetry/metrics.ts";
import { createSampleMetrics } from "../../support/sample-metrics.ts";

/** Values of one metric by its labels. */
async function valuesOf(metrics: Metrics, name: string): Promise<Record<string, number>> {
  const values: Record<string, number> = {};
  for (const line of (await metrics.render()).split("\n")) {
    const [, found, labels = "", value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    if (found === name) values[labels.replaceAll('"', "")] = Number(value);
  }
  return values;
}

const exchange = (endpoint: string, outcome = "ok") => ({ endpoint, outcome, ms: 1500, wireBytes: 10, requests: 2 });
const probe = { ok: true, ms: 100, source: "turn" } as const;

describe("traffic", () => {
  it("is counted under its labels", async () => {
    const metrics = createMetrics();
    metrics.observeRequest({ route: "/sparql", method: "GET", status: 200, seconds: 0.5 });
    metrics.observeRun("direct", "ok", 0.25);
    metrics.observePlan(true);
    metrics.observeExchange(exchange("alpha"));
    metrics.observeExchange(exchange("alpha", "timeout"));
    expect(await valuesOf(metrics, "fedway_http_request_seconds_sum")).toEqual({
      "route=/sparql,method=GET,status=200": 0.5,
    });
    expect(await valuesOf(metrics, "fedway_run_seconds_sum")).toEqual({ "plan=direct,status=ok": 0.25 });
    expect(await valuesOf(metrics, "fedway_plans_total")).toEqual({ "cache=hit": 1 });
    expect(await valuesOf(metrics, "fedway_upstream_seconds_sum")).toEqual({
      "outcome=ok": 1.5,
      "outcome=timeout": 1.5,
    });
    expect(await valuesOf(metrics, "fedway_upstream_exchanges_total")).toEqual({
      "endpoint=alpha,outcome=ok": 1,
      "endpoint=alpha,outcome=timeout": 1,
    });
    expect(await valuesOf(metrics, "fedway_upstream_busy_seconds_total")).toEqual({ "endpoint=alpha": 3 });
    expect(await valuesOf(metrics, "fedway_upstream_requests_total")).toEqual({ "endpoint=alpha": 4 });
    expect(await valuesOf(metrics, "fedway_upstream_bytes_total")).toEqual({ "endpoint=alpha": 20 });
  });

  it("has a breaker for every endpoint of the catalogue, and none for all the others together", async () => {
    const metrics = createMetrics();
    metrics.setBreaker("a", "closed");
    metrics.setBreaker("b", "half-open");
    metrics.setBreaker("c", "open");
    metrics.setBreaker("unlisted", "open");
    expect(await valuesOf(metrics, "fedway_breaker_state")).toEqual({
      "endpoint=a": 0,
      "endpoint=b": 1,
      "endpoint=c": 2,
    });
  });
});

describe("an endpoint that leaves the catalogue", () => {
  it("leaves no series behind", async () => {
    const metrics = createMetrics();
    for (const id of ["alpha", "alphabet"]) {
      for (const outcome of ["ok", "timeout"]) metrics.observeExchange(exchange(id, outcome));
      metrics.setBreaker(id, "open");
    }
    metrics.forgetEndpoint("alpha");
    const text = await metrics.render();
    expect(text).not.toContain('endpoint="alpha"');
    expect(text.match(/endpoint="alphabet"/g)?.length).toBe(6);
  });

  it("begins at 0 when it comes back", async () => {
    const metrics = createMetrics();
    metrics.observeExchange(exchange("alpha"));
    metrics.forgetEndpoint("alpha");
    metrics.observeExchange(exchange("alpha"));
    expect(await valuesOf(metrics, "fedway_upstream_requests_total")).toEqual({ "endpoint=alpha": 2 });
  });

  it("is forgotten again after an exchange that was under way", async () => {
    const metrics = createMetrics();
    const listed = new Set(["alpha", "beta"]);
    metrics.watchEndpoints((id) => listed.has(id));
    for (const id of ["alpha", "beta", "unlisted"]) metrics.observeExchange(exchange(id));
    listed.delete("alpha");
    metrics.forgetEndpoint("alpha");
    metrics.observeExchange(exchange("alpha"));
    expect(await valuesOf(metrics, "fedway_upstream_requests_total")).toEqual({
      "endpoint=beta": 2,
      "endpoint=unlisted": 2,
    });
  });
});

describe("the monitor", () => {
  it.each([
    [probe, { "outcome=ok": 1 }, { "outcome=ok": 0.1 }],
    [{ ...probe, ok: false, fault: "dns" }, { "outcome=dns": 1 }, { "outcome=fault": 0.1 }],
    [{ ...probe, source: "early" as const }, { "outcome=ok": 1 }, { "outcome=ok": 0.1 }],
    [{ ...probe, maintenance: true as const }, { "outcome=maintenance": 1 }, { "outcome=ok": 0.1 }],
  ])("counts the probe %j", async (observation, counted, timed) => {
    const metrics = createMetrics();
    metrics.observeMonitor({ kind: "probed", endpoint: "a", observation });
    expect(await valuesOf(metrics, "fedway_probes_total")).toEqual(counted);
    expect(await valuesOf(metrics, "fedway_probe_seconds_sum")).toEqual(timed);
  });

  it("tells up, down and unknown apart", async () => {
    const { metrics } = await createSampleMetrics();
    expect(await valuesOf(metrics, "fedway_endpoint_up")).toEqual({ "endpoint=alpha": 1, "endpoint=beta": 0 });
    expect(await valuesOf(metrics, "fedway_endpoints")).toEqual({
      "state=up": 1,
      "state=degraded": 0,
      "state=flapping": 0,
      "state=down": 1,
      "state=unknown": 1,
    });
    expect(await valuesOf(metrics, "fedway_incidents_open")).toEqual({
      "kind=down": 1,
      "kind=degraded": 0,
      "kind=flapping": 0,
      "kind=network": 0,
      "kind=certificate": 2,
      "kind=drift": 0,
    });
    expect(await valuesOf(metrics, "fedway_monitor_interval_seconds")).toEqual({ "": 900 });
    expect(await valuesOf(metrics, "fedway_incidents_total")).toEqual({
      "event=opened": 1,
      "event=closed": 1,
      "event=reminder": 0,
    });
  });

  it("has no beat before the first one, and then the latest", async () => {
    const metrics = createMetrics();
    let lastMs: number | undefined;
    const heartbeat = () => ({ enabled: true, ...(lastMs !== undefined && { lastMs }) });
    metrics.watchMonitor({ all: () => [], openByKind: () => ({}), heartbeat }, 1000);
    expect(await valuesOf(metrics, "fedway_monitor_beat_timestamp_seconds")).toEqual({});
    lastMs = 1_700_000_000_500;
    expect(await valuesOf(metrics, "fedway_monitor_beat_timestamp_seconds")).toEqual({ "": 1_700_000_000.5 });
    expect(await valuesOf(metrics, "fedway_monitor_enabled")).toEqual({ "": 1 });
  });

  it("that fails takes its own numbers out of the scrape, and no others", async () => {
    const metrics = createMetrics();
    const fail = () => {
      throw new Error("not yet");
    };
    metrics.watchMonitor({ all: fail, openByKind: fail, heartbeat: fail }, 1000);
    metrics.observePlan(true);
    for (const name of ["fedway_endpoint_up", "fedway_endpoints", "fedway_incidents_open", "fedway_monitor_enabled"]) {
      expect(await valuesOf(metrics, name), name).toEqual({});
    }
    expect(await valuesOf(metrics, "fedway_plans_total")).toEqual({ "cache=hit": 1 });
  });
});

describe("a scrape of 5,000 endpoints that are queried and probed", async () => {
  const ids = Array.from({ length: 5_000 }, (_, nth) => `e${nth}`);
  const metrics = createMetrics();
  metrics.watchMonitor(
    {
      all: () => ids.map((endpoint) => ({ endpoint, state: "up" as const })),
      openByKind: () => ({}),
      heartbeat: () => ({ enabled: true }),
    },
    1000,
  );
  for (const id of ids) {
    metrics.observeExchange(exchange(id));
    metrics.observeMonitor({ kind: "probed", endpoint: id, observation: probe });
  }

  it("has few series of each, and is smaller than 1.5 MB", async () => {
    const scrape = await metrics.render();
    expect(scrape.match(/endpoint="e4999"/g)).toHaveLength(5);
    expect(Buffer.byteLength(scrape)).toBeLessThan(1_500_000);
  });

  it("is made once for all who ask meanwhile, and lets others have their turns", async () => {
    let turns = 0;
    const count = (): void => {
      turns += 1;
      again = setImmediate(count);
    };
    let again = setImmediate(count);
    const scrapes = await Promise.all([metrics.render(), metrics.render(), metrics.render()]);
    clearImmediate(again);
    expect(new Set(scrapes).size).toBe(1);
    expect(turns).toBeGreaterThan(20);
  });
});

describe("jobs", () => {
  const context = { signal: new AbortController().signal };

  it("are counted by how they end, and say the same as before", async () => {
    let nowMs = 0;
    const metrics = createMetrics({ now: () => nowMs });
    const run = metrics.measureJob("work", async (payload: string, { signal }: { signal: AbortSignal }) => {
      nowMs += 2000;
      if (payload === "bad") throw new Error("bad");
      return `${payload} ${signal.aborted}`;
    });
    expect(await valuesOf(metrics, "fedway_jobs_total")).toEqual({
      "kind=work,outcome=done": 0,
      "kind=work,outcome=failed": 0,
      "kind=work,outcome=interrupted": 0,
    });
    expect(await run("good", context)).toBe("good false");
    await expect(run("bad", context)).rejects.toThrow("bad");
    expect(await run("late", { signal: AbortSignal.abort() })).toBe("late true");
    expect(await valuesOf(metrics, "fedway_jobs_total")).toEqual({
      "kind=work,outcome=done": 1,
      "kind=work,outcome=failed": 1,
      "kind=work,outcome=interrupted": 1,
    });
    expect(await valuesOf(metrics, "fedway_jobs_seconds_sum")).toEqual({ "kind=work": 6 });
  });

  it("that are open are read at the scrape", async () => {
    const metrics = createMetrics();
    let waiting = [{ kind: "a" }, { kind: "b" }, { kind: "a" }];
    metrics.watchJobs(async (state) => (state === "waiting" ? waiting : [{ kind: "a" }]));
    expect(await valuesOf(metrics, "fedway_jobs_open")).toEqual({
      "kind=a,state=waiting": 2,
      "kind=b,state=waiting": 1,
      "kind=a,state=running": 1,
    });
    waiting = [];
    expect(await valuesOf(metrics, "fedway_jobs_open")).toEqual({ "kind=a,state=running": 1 });
  });

  it.each([
    ["fails", () => Promise.reject(new Error("no store"))],
    ["hangs", () => new Promise<never>(() => {})],
  ])("of a queue that %s are not told, and the scrape goes on", async (_, list) => {
    const metrics = createMetrics({ patienceMs: 1 });
    metrics.watchJobs(list);
    metrics.observeWebhook("dead");
    expect(await valuesOf(metrics, "fedway_jobs_open")).toEqual({});
    expect(await valuesOf(metrics, "fedway_webhooks_total")).toEqual({
      "outcome=delivered": 0,
      "outcome=failed": 0,
      "outcome=dead": 1,
    });
  });
});

describe("the process", () => {
  it("says what it is", async () => {
    const metrics = createMetrics({ version: "1.2.3", role: "worker" });
    const node = process.versions.node;
    expect(await valuesOf(metrics, "fedway_build_info")).toEqual({ [`version=1.2.3,node=${node},role=worker`]: 1 });
  });

  it("counts the time of its event loop, upwards", async () => {
    const metrics = createMetrics();
    const first = await valuesOf(metrics, "fedway_event_loop_seconds_total");
    const second = await valuesOf(metrics, "fedway_event_loop_seconds_total");
    expect(Object.keys(first)).toEqual(["state=active", "state=idle"]);
    for (const [state, value] of Object.entries(first)) expect(second[state]).toBeGreaterThanOrEqual(value);
    expect(first["state=active"]).toBeGreaterThan(0);
  });
});

it("every label value is from a closed set or an id", async () => {
  const { metrics } = await createSampleMetrics();
  const labels = [...(await metrics.render()).matchAll(/ ?(\w+)="([^"]*)"/g)];
  expect(labels.length).toBeGreaterThan(100);
  expect(labels.filter(([, , value = ""]) => !/^[\w.+/:-]{1,64}$/.test(value)).map(([text]) => text)).toEqual([]);
});
