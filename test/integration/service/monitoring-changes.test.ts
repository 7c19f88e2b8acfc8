import { describe, expect, it } from "vitest";
import { endpointTurtle } from "../../support/catalog-folder.ts";
import { startDocumentServer } from "../../support/document-server.ts";
import { startHostileServer } from "../../support/hostile-server.ts";
import {
  createMonitoredFolder,
  type IncidentAnswer,
  type MonitoredService,
  startMonitored,
} from "../../support/monitored-service.ts";
import { problemOf } from "../../support/running-service.ts";
import { type SparqlTestServer, startSparqlTestServer } from "../../support/sparql-test-server.ts";
import { startTpfServer } from "../../support/tpf-server.ts";
import { startWebhookReceiver } from "../../support/webhook-receiver.ts";
import { eventually } from "../../support/eventually.ts";

const data = '<urn:x:s> <urn:x:p> "o" .';

const shouldBecome = (service: MonitoredService, id: string, state: string): Promise<void> =>
  eventually(async () => expect(await service.stateOf(id)).toBe(state));

/** What one test has opened; closed at its end, the latest first. */
interface Opened {
  add<Closable extends { close(): Promise<unknown> }>(closable: Closable): Closable;
  sparqlServer(): Promise<SparqlTestServer>;
}

const test = it.extend<{ opened: Opened }>({
  // oxlint-disable-next-line no-empty-pattern -- fixtures name what they need there
  opened: async ({}, use) => {
    const closings: (() => Promise<unknown>)[] = [];
    const add: Opened["add"] = (closable) => {
      closings.push(() => closable.close());
      return closable;
    };
    await use({ add, sparqlServer: async () => add(await startSparqlTestServer(data)) });
    for (const close of closings.toReversed()) await close();
  },
});

describe.concurrent("an endpoint that leaves the catalogue", () => {
  test("has its incident closed, is told of, and nothing is left of its record", async ({ opened }) => {
    const secret = "a-secret-of-this-test";
    const receiver = opened.add(await startWebhookReceiver(secret));
    const server = await opened.sparqlServer();
    const service = opened.add(
      await startMonitored(
        { steady: (await opened.sparqlServer()).url },
        { FEDWAY_WEBHOOK_GROUP_MS: "0", FEDWAY_WEBHOOKS: `${receiver.origin}/`, FEDWAY_WEBHOOK_SECRET: secret },
      ),
    );
    const alpha = { id: "alpha", title: "Alpha", url: server.url };
    expect((await service.change("POST", "/api/endpoints", alpha)).status).toBe(201);
    await shouldBecome(service, "alpha", "up");
    server.setFault({ kind: "status", status: 404 });
    await shouldBecome(service, "alpha", "down");
    const { incident = "" } = await service.availability("alpha");
    // At once: whoever hears that it is down finds the incident.
    expect(await service.incidents("?endpoint=alpha")).toMatchObject([{ id: incident, state: "open" }]);
    expect(await service.json(`/api/incidents/${incident}`)).toMatchObject({ endpoint: "alpha", state: "open" });
    expect((await service.change("DELETE", "/api/endpoints/alpha")).status).toBe(204);
    const closed = (): Promise<IncidentAnswer> => service.json(`/api/incidents/${incident}`);
    await eventually(async () => expect((await closed()).state).toBe("closed"));
    expect(await closed()).toMatchObject({ endpoint: "alpha", closedBy: "removed", fault: "http-4xx" });
    expect(await service.incidents("?open=true")).toEqual([]);
    expect((await fetch(`${service.url}/api/endpoints/alpha/availability`)).status).toBe(404);
    const types = (): readonly string[] =>
      receiver.received.map(({ body }) => (JSON.parse(body) as { type: string }).type);
    await eventually(async () => expect(types()).toEqual(["incident.opened", "incident.closed"]));
    expect(receiver.received.every(({ authentic }) => authentic)).toBe(true);
    expect(await service.text("/incidents.atom")).toContain("alpha: the incident is closed");
    expect(await service.text("/metrics")).not.toContain('endpoint="alpha"');
    for (const event of ["opened", "closed"]) {
      expect(await service.metric(`fedway_incidents_total{event="${event}"}`)).toBe(1);
    }
    // The same name again begins with nothing.
    server.setFault(undefined);
    const since = Date.now();
    expect((await service.change("POST", "/api/endpoints", alpha)).status).toBe(201);
    await shouldBecome(service, "alpha", "up");
    await eventually(async () => expect((await service.turnsOf("alpha")).probes).toBeGreaterThan(0));
    const day = await service.turnsOf("alpha");
    expect(day).toMatchObject({ uptime: 1, faults: {} });
    // Windows are made of whole hours.
    expect(Date.parse(day.first ?? "")).toBeGreaterThanOrEqual(Math.floor(since / 3_600_000) * 3_600_000);
    expect((await service.query("ASK { ?s ?p ?o }", { path: "/endpoints/alpha/sparql" })).status).toBe(200);
  });
});

describe.concurrent("an endpoint whose URL changes", () => {
  test("is another one: its incident is closed, its record begins anew", async ({ opened }) => {
    const [broken, whole] = [await opened.sparqlServer(), await opened.sparqlServer()];
    broken.setFault({ kind: "status", status: 404 });
    const service = opened.add(await startMonitored({ alpha: broken.url }));
    await shouldBecome(service, "alpha", "down");
    const { incident } = await service.availability("alpha");
    expect((await service.change("PATCH", "/api/endpoints/alpha", { url: whole.url })).status).toBe(200);
    await shouldBecome(service, "alpha", "up");
    const closed = { state: "closed", closedBy: "moved", url: broken.url };
    await eventually(async () => expect(await service.json(`/api/incidents/${incident}`)).toMatchObject(closed));
    expect((await service.turnsOf("alpha")).faults).toEqual({});
  });
});

describe.concurrent("interfaces other than SPARQL", () => {
  test("are probed too, and their faults told", async ({ opened }) => {
    const fragments = opened.add(await startTpfServer(data));
    const documents = opened.add(await startDocumentServer());
    const served = (path: string, body: string): string => {
      documents.documents.set(path, { body });
      return documents.origin + path;
    };
    const service = opened.add(
      await startMonitored({
        fragments: endpointTurtle(
          "fragments",
          fragments.url,
          "dcterms:conformsTo <https://linkeddatafragments.org/specification/triple-pattern-fragments/>",
        ),
      }),
    );
    const others = { formless: ["tpf", served("/tpf", data)], dump: ["file", served("/dump.ttl", data)] } as const;
    for (const [id, [kind, url]] of Object.entries(others)) {
      const entry = { id, title: id, url, interface: kind };
      expect(await service.change("POST", "/api/endpoints", entry)).toMatchObject({ status: 201 });
    }
    await shouldBecome(service, "fragments", "up");
    await shouldBecome(service, "dump", "up");
    await shouldBecome(service, "formless", "down");
    expect((await service.availability("formless")).last).toMatchObject({
      fault: "wrong-answer",
      detail: expect.stringContaining("no search form"),
    });
    fragments.setStatus(410);
    documents.documents.delete("/dump.ttl");
    await shouldBecome(service, "fragments", "down");
    await shouldBecome(service, "dump", "down");
    expect((await service.availability("fragments")).last).toMatchObject({ fault: "http-4xx", status: 410 });
    expect((await service.availability("dump")).last).toMatchObject({ fault: "http-4xx", status: 404 });
    const down = await service.json<{ endpoints: { id: string; interface: string }[] }>("/api/endpoints?status=down");
    expect(down.endpoints.map(({ id, interface: kind }) => `${id} ${kind}`).toSorted()).toEqual([
      "dump file",
      "formless tpf",
      "fragments tpf",
    ]);
    fragments.setStatus(undefined);
    served("/dump.ttl", data);
    await shouldBecome(service, "fragments", "up");
    await shouldBecome(service, "dump", "up");
  });
});

describe.concurrent("an address that may not be dialled", () => {
  test("is a fault of its own kind, told as such, and nothing is sent there", async ({ opened }) => {
    const server = await opened.sparqlServer();
    const named = server.url.replace("127.0.0.1", "localhost");
    const literal = "http://169.254.169.254/sparql";
    const service = opened.add(await startMonitored({ literal }, { FEDWAY_ALLOW_ADDRESSES: "" }));
    // Over the API: what the operator writes into a file of his own may have a private name.
    const entry = { id: "named", title: "named", url: named };
    expect(await service.change("POST", "/api/endpoints", entry)).toMatchObject({ status: 201 });
    for (const id of ["named", "literal"]) {
      await shouldBecome(service, id, "down");
      const { last, incident } = await service.availability(id);
      expect(last).toMatchObject({ ok: false, fault: "address", detail: expect.stringContaining("may connect to") });
      const stored = [{ id: incident, fault: "address" }];
      await eventually(async () => expect(await service.incidents(`?endpoint=${id}`)).toMatchObject(stored));
      expect(await service.text(`/incidents/${incident}`)).toContain("its address may not be dialled");
      const problem = await problemOf(await service.query("ASK { ?s ?p ?o }", { path: `/endpoints/${id}/sparql` }));
      expect(problem).toMatchObject({ status: 502, code: "ADDRESS_REFUSED" });
      expect(problem.next).toContain("FEDWAY_ALLOW_ADDRESSES");
      expect(await service.metric(`fedway_endpoint_up{endpoint="${id}"}`)).toBe(0);
    }
    expect(server.requests).toEqual([]);
  });

  test("is one too where an endpoint leads there", async ({ opened }) => {
    const hostile = opened.add(await startHostileServer());
    const url = hostile.url("redirect-private");
    const service = opened.add(await startMonitored({ redirecting: url }, { FEDWAY_ALLOW_ADDRESSES: "127.0.0.1/32" }));
    await shouldBecome(service, "redirecting", "down");
    expect((await service.availability("redirecting")).last).toMatchObject({ ok: false, fault: "address" });
  });
});

describe.concurrent("a service that is started again", () => {
  test("has state, uptime and incidents still, and closes what was open", async ({ opened }) => {
    const [steady, broken] = [await opened.sparqlServer(), await opened.sparqlServer()];
    const folder = await createMonitoredFolder({ steady: steady.url, broken: broken.url });
    const first = await folder.start();
    broken.setFault({ kind: "status", status: 404 });
    await shouldBecome(first, "steady", "up");
    await shouldBecome(first, "broken", "down");
    const { incident, since } = await first.availability("broken");
    await first.close();
    // Until the next probe everything is as it was stored.
    const second = await folder.start({ FEDWAY_PROBE_EVERY_MS: "86400000" });
    const stored = { broken: await second.turnsOf("broken"), steady: await second.turnsOf("steady") };
    expect(await second.availability("broken")).toMatchObject({ state: "down", incident, since });
    expect(await second.availability("steady")).toMatchObject({ state: "up" });
    expect(stored.broken.faults["http-4xx"]).toBeGreaterThanOrEqual(1);
    expect(stored.steady).toMatchObject({ uptime: 1 });
    expect(await second.incidents("?open=true")).toMatchObject([{ id: incident, endpoint: "broken" }]);
    expect(await second.text("/status")).toContain("1 open incident");
    await second.close();
    const third = opened.add(await folder.start());
    await eventually(async () => expect((await third.turnsOf("broken")).probes).toBeGreaterThan(stored.broken.probes));
    expect(await third.availability("broken")).toMatchObject({ state: "down", incident, since });
    expect(await third.incidents()).toHaveLength(1);
    broken.setFault(undefined);
    await shouldBecome(third, "broken", "up");
    const closed = { state: "closed", closedBy: "recovered" };
    await eventually(async () => expect(await third.json(`/api/incidents/${incident}`)).toMatchObject(closed));
    const day = await third.turnsOf("broken");
    expect(day.first).toBe(stored.broken.first);
    expect(day.faults["http-4xx"]).toBeGreaterThanOrEqual(stored.broken.faults["http-4xx"] ?? 0);
    expect((await third.turnsOf("steady")).first).toBe(stored.steady.first);
  });
});
