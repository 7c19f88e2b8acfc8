import { afterAll, beforeAll, expect, it } from "vitest";
import { until } from "../../support/eventually.ts";
import { type MonitoredService, startMonitored } from "../../support/monitored-service.ts";
import { type SparqlTestServer, startSparqlTestServer } from "../../support/sparql-test-server.ts";
import { startWebhookReceiver, type WebhookReceiver } from "../../support/webhook-receiver.ts";

const secret = "correct-horse-battery-staple";
let receiver: WebhookReceiver;
let server: SparqlTestServer;
let service: MonitoredService;

beforeAll(async () => {
  receiver = await startWebhookReceiver(secret);
  server = await startSparqlTestServer('<urn:x:s> <urn:x:p> "o" .');
  service = await startMonitored(
    { people: server.url },
    { FEDWAY_WEBHOOK_GROUP_MS: "0", FEDWAY_WEBHOOKS: `${receiver.origin}/hook`, FEDWAY_WEBHOOK_SECRET: secret },
  );
});
afterAll(async () => {
  await service?.close();
  await server?.close();
  await receiver?.close();
});

interface Message {
  readonly type: string;
  readonly data: { readonly links: { readonly unsubscribe?: string } };
}
const messages = (): readonly Message[] => receiver.received.map(({ body }) => JSON.parse(body) as Message);
const muted = async () =>
  (await service.json<{ muted: readonly { id: string; endpoint: string }[] }>("/api/webhooks/muted")).muted;
const becomes = (state: string) => until(async () => (await service.stateOf("people")) === state);

it("a link of a message mutes by POST alone, only as it was signed, and an operator undoes it", async () => {
  await becomes("up");
  server.setFault({ kind: "status", status: 404 });
  await until(() => messages().length === 1);
  const { pathname, search, searchParams } = new URL(messages()[0]?.data.links.unsubscribe ?? "");
  const link = `${service.url}${pathname}${search}`;

  // Programs that look for harmful links open every one.
  for (const method of ["GET", "HEAD"]) expect((await fetch(link, { method })).status).toBe(200);
  expect(await (await fetch(link)).text()).toContain('method="post"');
  expect(await muted()).toEqual([]);

  const signature = searchParams.get("signature") ?? "";
  const forged = [link.replace("people", "other"), link.replace(signature, `${signature.slice(0, -2)}AA`)];
  for (const url of forged) {
    expect((await fetch(url)).status).toBe(404);
    expect((await fetch(url, { method: "POST" })).status).toBe(404);
  }
  expect((await fetch(link.replace(/&?signature=[^&]*/u, ""), { method: "POST" })).status).toBe(400);
  expect(await muted()).toEqual([]);

  // One click, as RFC 8058 has it.
  const headers = { "Content-Type": "application/x-www-form-urlencoded" };
  expect((await fetch(link, { method: "POST", headers, body: "List-Unsubscribe=One-Click" })).status).toBe(200);
  const [mute] = await muted();
  expect(mute).toMatchObject({ endpoint: "people" });
  server.setFault(undefined);
  await becomes("up");

  expect((await service.change("DELETE", `/api/webhooks/muted/${mute?.id}`)).status).toBe(204);
  expect((await service.change("DELETE", `/api/webhooks/muted/${mute?.id}`)).status).toBe(404);
  server.setFault({ kind: "status", status: 404 });
  await until(() => messages().length === 2);
  // The end of the first one came while it was muted.
  expect(messages().map(({ type }) => type)).toEqual(["incident.opened", "incident.opened"]);
});
