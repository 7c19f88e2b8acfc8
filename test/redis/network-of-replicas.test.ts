import { afterAll, beforeAll, expect, it } from "vitest";
import { fakeNetwork } from "../support/cut-network.ts";
import { type RedisServer, startRedis } from "../support/engines/start-redis.ts";
import { eventually } from "../support/eventually.ts";
import { type MonitoredService, startMonitored } from "../support/monitored-service.ts";
import { type SparqlTestServer, startSparqlTestServer } from "../support/sparql-test-server.ts";
import { startWebhookReceiver, type WebhookReceiver } from "../support/webhook-receiver.ts";

const secret = "a-secret-of-this-test";
const hosts = 24;

let redis: RedisServer;
let server: SparqlTestServer;
let network: ReturnType<typeof fakeNetwork>;
let receiver: WebhookReceiver;
let services: readonly MonitoredService[];

beforeAll(async () => {
  redis = await startRedis();
  server = await startSparqlTestServer('<urn:x:s> <urn:x:p> "o" .');
  network = fakeNetwork(server);
  receiver = await startWebhookReceiver(secret);
  const env = {
    REDIS_URL: redis.url,
    // Longer than a probe with its second try, so that one endpoint's faults do not come all at once.
    FEDWAY_PROBE_EVERY_MS: "4000",
    FEDWAY_INCIDENT_AFTER: "3",
    FEDWAY_WEBHOOK_GROUP_MS: "0",
    FEDWAY_WEBHOOKS: `${receiver.origin}/hook`,
    FEDWAY_WEBHOOK_SECRET: secret,
  };
  services = await Promise.all([1, 2].map(() => startMonitored(network.endpoints(hosts), env)));
});
afterAll(async () => {
  await Promise.all((services ?? []).map((service) => service.close()));
  network?.close();
  await receiver?.close();
  await server?.close();
  await redis?.stop();
});

const areAll = async (state: string): Promise<void> => {
  for (const service of services) {
    const { counts } = await service.json<{ readonly counts: object }>("/api/status");
    expect(counts).toEqual({ up: 0, degraded: 0, flapping: 0, down: 0, unknown: 0, [state]: hosts });
  }
};
const messages = (): readonly string[] =>
  receiver.received.map(({ body }) => {
    const { type, data } = JSON.parse(body) as { readonly type: string; readonly data: { readonly subject: string } };
    return `${type} ${data.subject}`;
  });

it("two replicas that lose the network open one incident, tell of it once, and close it", async () => {
  await eventually(() => areAll("up"));
  for (const round of [1, 2]) {
    network.cut();
    await eventually(() => areAll("unknown"));
    const seen = await Promise.all(services.map((service) => service.incidents("?open=true")));
    expect(seen.map((incidents) => incidents.map(({ subject }) => subject))).toEqual([["network"], ["network"]]);
    expect(seen[0]).toEqual(seen[1]);
    network.mend();
    await eventually(() => areAll("up"));
    for (const service of services) {
      await eventually(async () => expect(await service.incidents("?open=true")).toEqual([]));
      expect(await service.incidents()).toHaveLength(round);
      expect(await service.json("/health/ready")).toMatchObject({ checks: { network: { ok: true } } });
    }
    await eventually(() => expect(messages()).toHaveLength(2 * round));
  }
  expect(messages().toSorted()).toEqual([
    ...Array<string>(2).fill("incident.closed network"),
    ...Array<string>(2).fill("incident.opened network"),
  ]);
  const turns = await Promise.all(services.map((service) => service.turnsOf("e3")));
  for (const { probes, good } of turns) expect(good).toBe(probes);
});
