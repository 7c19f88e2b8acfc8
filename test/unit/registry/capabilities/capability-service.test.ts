import { describe, expect, it } from "vitest";
import { FedwayError } from "../../../../src/errors/fedway-error.ts";
import { createCapabilityStore } from "../../../../src/registry/capabilities/capabilities.ts";
import { openSqliteStore } from "../../../../src/store/sqlite/sqlite-store.ts";
import { catalogEntry } from "../../../support/catalog-entry.ts";
import { jobContext, notedJobs } from "../../../support/job-fakes.ts";
import { heardDamage } from "../../../support/heard-damage.ts";
import { type Capabilities, CapabilityService } from "../../../../src/registry/capabilities.ts";

type CapabilityServiceOptions = ConstructorParameters<typeof CapabilityService>[0];

const entry = catalogEntry;

const outcome = { verdict: "right", durationMs: 3 } as const;
const found = (id: string, more: Partial<Capabilities> = {}): Capabilities => ({
  endpoint: `http://${id}.example/sparql`,
  probedAt: "2026-01-01T00:00:00.000Z",
  reachable: true,
  constructs: {
    values: outcome,
    minus: { verdict: "wrong", detail: "3 rows", durationMs: 1 },
    optional: { verdict: "refused", durationMs: 1 },
    subquery: { verdict: "failed", durationMs: 1 },
  },
  methods: ["get"],
  formats: ["text/csv"],
  rowCap: 10_000,
  maxUrlBytes: 2_048,
  ...more,
});

const dayMs = 86_400_000;

function setUp(probe: CapabilityServiceOptions["probe"], more: Partial<CapabilityServiceOptions> = {}) {
  const entries = [entry("people", { method: "get" }), entry("places")];
  const store = openSqliteStore({ path: ":memory:" });
  const capabilities = createCapabilityStore(store);
  const jobs = notedJobs();
  const clock = { nowMs: Date.parse("2026-01-01T00:00:00Z"), now: () => clock.nowMs };
  const service = new CapabilityService({
    catalog: { entries, byId: (id) => entries.find((one) => one.id === id) },
    probe,
    documentCanary: async ({ url }) => found(url),
    capabilities,
    jobs,
    clock,
    ...more,
  });
  const run = (kind: number, payload: unknown) => service.kinds[kind]?.run(payload, jobContext());
  return { service, capabilities, store, entries, enqueued: jobs.enqueued, clock, run };
}

const answering =
  (...answers: readonly Capabilities[]): CapabilityServiceOptions["probe"] =>
  async () => {
    const [first, ...others] = answers;
    if (first === undefined) throw new Error("not to be called");
    if (others.length > 0) answers = others;
    return first;
  };

describe("asking for a probe", () => {
  it("enqueues one job an endpoint", async () => {
    const { service, enqueued } = setUp(answering());
    expect((await service.request("people", { priority: 3 })).id).toBe("probe.people");
    expect(enqueued).toEqual([["probe-capabilities", { id: "people" }, { id: "probe.people", priority: 3 }]]);
  });
  it("refuses an unknown endpoint", async () => {
    await expect(setUp(answering()).service.request("unknown")).rejects.toMatchObject({ code: "ENDPOINT_UNKNOWN" });
  });
  it.each([[undefined], [null], ["people"], [{}], [{ id: 5 }], [{ id: "../x" }]])(
    "the payload %j is refused",
    (payload) => {
      const [kind] = setUp(answering()).service.kinds;
      expect(() => kind?.validate(payload)).toThrow(expect.objectContaining({ code: "REQUEST_INVALID" }));
      expect(() => kind?.validate({ id: "people" })).not.toThrow();
    },
  );
});

describe("a run", () => {
  it("looks at a file by the canary for documents", async () => {
    const dump = entry("dump", { interface: "file" });
    const asked: string[] = [];
    const { service, run } = setUp(answering(), {
      catalog: { entries: [dump], byId: () => dump },
      documentCanary: async ({ url }) => {
        asked.push(url);
        return { ...found("dump"), endpoint: url, methods: [] };
      },
    });
    expect(await run(0, { id: "dump" })).toMatchObject({ reachable: true, stored: true });
    expect(asked).toEqual([dump.url]);
    expect(await service.get("dump")).toMatchObject({ methods: [] });
  });
  it("asks the entry's endpoint, stores the result and shows it", async () => {
    const seen: unknown[] = [];
    const { service, run } = setUp(async (endpoint) => {
      seen.push(endpoint);
      return found("people");
    });
    expect(service.view("people")).toBeUndefined();
    expect(await run(0, { id: "people" })).toEqual({
      id: "people",
      reachable: true,
      unfinished: false,
      lacks: ["minus", "optional"],
      stored: true,
    });
    expect(seen).toEqual([{ id: "people", url: "http://people.example/sparql", method: "get" }]);
    expect(await service.get("people")).toEqual(found("people"));
    expect(service.view("people")).toEqual({
      method: "get",
      maxUrlBytes: 2_048,
      rowCap: 10_000,
      formats: ["text/csv"],
      lacks: new Set(["minus", "optional"]),
    });
    expect(service.version).toBe(1);
  });
  it.each<[string, Partial<Capabilities>]>([
    ["an endpoint that is down now", { reachable: false, constructs: {} }],
    ["a run that ended early", { unfinished: true, constructs: {} }],
  ])("%s does not take away what was known", async (_, worse) => {
    const { service, run } = setUp(answering(found("people"), found("people", worse)));
    await run(0, { id: "people" });
    expect(await run(0, { id: "people" })).toMatchObject({ stored: false });
    expect(await service.get("people")).toEqual(found("people"));
    expect(service.version).toBe(1);
  });
  it("an endpoint that never answered is known as such, and forbids nothing", async () => {
    const { service, run } = setUp(answering(found("people", { reachable: false, constructs: {} })));
    await run(0, { id: "people" });
    expect(await service.get("people")).toMatchObject({ reachable: false });
    expect(service.view("people")).toBeUndefined();
  });
  it("a failure of the prober is the job's", async () => {
    const { run, service } = setUp(() => Promise.reject(new FedwayError("CANCELLED", "stopped")));
    await expect(run(0, { id: "people" })).rejects.toMatchObject({ code: "CANCELLED" });
    expect(await service.get("people")).toBeUndefined();
  });
  it("an entry with another URL is another endpoint", async () => {
    const { service, run, entries } = setUp(answering(found("people")));
    await run(0, { id: "people" });
    entries[0] = entry("people", { url: "http://moved.example/sparql" });
    expect(await service.get("people")).toBeUndefined();
    expect(service.view("people")).toBeUndefined();
  });
});

describe("what is stored", () => {
  it("is there after a restart, once it is read", async () => {
    const { service, capabilities } = setUp(answering());
    await capabilities.put("people", found("people"));
    expect(service.view("people")).toBeUndefined();
    await service.refresh();
    expect(service.view("people")?.lacks).toEqual(new Set(["minus", "optional"]));
    const { version } = service;
    await service.refresh();
    expect([version, service.version]).toEqual([1, 1]);
  });
  it("takes in a row cap that was found out since, of the endpoint that it is about", async () => {
    const { service, run } = setUp(answering(found("people", { wholeRows: 20_000 })));
    await service.note({ id: "people", url: "people" }, { rowCap: 1_000 });
    expect(await service.get("people")).toBeUndefined();
    await run(0, { id: "people" });
    const { endpoint = "" } = (await service.get("people")) ?? {};
    await service.note({ id: "people", url: "http://elsewhere.example/sparql" }, { rowCap: 1_000 });
    expect(service.view("people")).toMatchObject({ wholeRows: 20_000, silentRowCap: undefined });
    await service.note({ id: "people", url: endpoint }, { rowCap: 1_000 });
    expect(service.view("people")).toMatchObject({ wholeRows: undefined, silentRowCap: 1_000 });
    expect(service.version).toBe(2);
  });
  it("takes in how it must be asked, until it is probed again or has another URL", async () => {
    const { service, run } = setUp(answering(found("people"), found("people")));
    await run(0, { id: "people" });
    const { endpoint: url = "" } = (await service.get("people")) ?? {};
    await service.note({ id: "people", url }, { method: "get", accept: { bindings: "text/csv" } });
    await service.note({ id: "people", url }, { lacksValues: true });
    expect(service.view("people")).toMatchObject({ method: "get", accept: { bindings: "text/csv" } });
    expect(service.view("people")?.lacks).toContain("values");
    const { version } = service;
    await service.note({ id: "people", url }, { lacksValues: true });
    expect(service.version).toBe(version);
    await service.note({ id: "people", url }, { lacksValues: false });
    expect(service.view("people")?.lacks).not.toContain("values");
    await service.note({ id: undefined, url }, { lacksValues: true });
    expect((await service.get("people"))?.learned).toMatchObject({ method: "get", lacksValues: false });
    await run(0, { id: "people" });
    expect((await service.get("people"))?.learned).toBeUndefined();
  });
  it("goes with its removal", async () => {
    const { service, run } = setUp(answering(found("people")));
    await run(0, { id: "people" });
    await service.remove("people");
    expect([await service.get("people"), service.view("people"), service.version]).toEqual([undefined, undefined, 2]);
  });
  const stored = (more: object): string => JSON.stringify({ format: 1, capabilities: { ...found("people"), ...more } });
  it.each([
    ["{", "it is not JSON"],
    [stored({}).replace('"format":1', '"format":2'), "format must be equal to constant"],
    [stored({ reachable: "yes" }), "capabilities/reachable must be boolean"],
    [stored({ methods: ["put"] }), "capabilities/methods/0 must be equal to one of the allowed values"],
    [
      stored({ constructs: { minus: { verdict: "good", durationMs: 1 } } }),
      "capabilities/constructs/minus/verdict must be equal to one of the allowed values",
    ],
  ])("damaged: %s", async (value, reason) => {
    const { service, store } = setUp(answering());
    const damaged = heardDamage();
    await store.put("capabilities/people", value);
    expect(await service.get("people")).toBeUndefined();
    expect(damaged).toMatchObject([{ key: "capabilities/people", reason, removed: true }]);
    expect(await store.get("capabilities/people")).toBeUndefined();
  });
});

describe("the schedule", () => {
  const due = async ({ run }: ReturnType<typeof setUp>) => run(1, {});
  it("names a kind of job that there is", () => {
    const { service } = setUp(answering());
    expect(service.kinds.map(({ name }) => name)).toContain(service.schedule.kind);
  });
  it("SPARQL endpoints that were never probed, behind everything else", async () => {
    const setting = setUp(answering());
    expect(await due(setting)).toEqual({ enqueued: ["people", "places"] });
    expect(setting.enqueued).toEqual([
      ["probe-capabilities", { id: "people" }, { id: "probe.people", priority: -1 }],
      ["probe-capabilities", { id: "places" }, { id: "probe.places", priority: -1 }],
    ]);
  });
  it.each([
    ["whole", 6, {}, []],
    ["whole", 7, {}, ["people"]],
    ["unreachable", 1, { reachable: false }, ["people"]],
    ["unfinished", 1, { unfinished: true }, ["people"]],
    ["unfinished", 0.9, { unfinished: true }, []],
  ])("%s, %d days old", async (_, days, more, expected) => {
    const setting = setUp(answering());
    await setting.capabilities.put("people", found("people", more));
    await setting.capabilities.put("places", found("places", { probedAt: "2026-02-01T00:00:00.000Z" }));
    setting.clock.nowMs += days * dayMs;
    expect(await due(setting)).toEqual({ enqueued: expected });
  });
  it("one that was tried a moment ago and was down is not tried at every turn", async () => {
    const setting = setUp(answering(found("people", { reachable: false })));
    await setting.capabilities.put("people", found("people", { probedAt: "2025-01-01T00:00:00.000Z" }));
    await setting.capabilities.put("places", found("places"));
    expect(await due(setting)).toEqual({ enqueued: ["people"] });
    await setting.run(0, { id: "people" });
    expect(await due(setting)).toEqual({ enqueued: [] });
    setting.clock.nowMs += dayMs;
    expect(await due(setting)).toEqual({ enqueued: ["people"] });
  });
});
