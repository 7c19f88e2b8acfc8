import { afterEach, beforeEach, expect, it } from "vitest";
import { EmbeddedJobQueue } from "../../../src/jobs/embedded/embedded-job-queue.ts";
import type { IncidentNotice } from "../../../src/monitor/health-record.ts";
import { receiverOf } from "../../../src/monitor/receivers/message.ts";
import { createWebhookService } from "../../../src/monitor/receivers/webhooks.ts";
import { createJsonClient } from "../../../src/outbound/json-client.ts";
import { openSqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";
import { catalogEntry } from "../../support/catalog-entry.ts";
import { until } from "../../support/eventually.ts";
import { incident } from "../../support/monitor-records.ts";
import { startWebhookReceiver, type WebhookReceiver } from "../../support/webhook-receiver.ts";

const secret = "correct horse battery staple";
let receiver: WebhookReceiver;
const closes: (() => Promise<unknown>)[] = [];
beforeEach(async () => {
  receiver = await startWebhookReceiver(secret);
});
afterEach(async () => {
  for (const close of closes.splice(0)) await close();
  await receiver.close();
});

async function start(groupMs: number, pause = async (): Promise<void> => {}) {
  const store = openSqliteStore({ path: ":memory:" });
  const queue = new EmbeddedJobQueue({ store, backoffMs: () => 5 });
  const client = createJsonClient({ version: "1", contact: "ops@example.org", allowAddresses: ["127.0.0.0/8"] });
  const service = createWebhookService({
    urls: [`${receiver.origin}/hook`],
    secret,
    groupMs,
    publicUrl: "https://fedway.example",
    catalog: { byId: (id) => catalogEntry(id) },
    jobs: queue,
    store,
    send: (request) => client.post(request),
    clock: { now: () => Date.now() },
    pause,
  });
  await queue.start(service.kinds);
  closes.push(
    () => queue.close(0),
    () => client.close(),
  );
  return service;
}

const notice = (n: number): IncidentNotice => ({
  kind: "incident-opened",
  incident: incident({ id: `people-${n}`, endpoint: `people${n}` }),
});

interface Message {
  readonly type: string;
  readonly data: {
    readonly incidents?: readonly { readonly id: string }[];
    readonly id: string;
    readonly links?: { readonly unsubscribe?: string };
  };
}
const messages = (): readonly Message[] => receiver.received.map(({ body }) => JSON.parse(body) as Message);
const ids = (): readonly string[] => messages().flatMap(({ data }) => data.incidents?.map(({ id }) => id) ?? [data.id]);

it("incidents of one window are few messages, each told once", async () => {
  const service = await start(3_600_000);
  const all = Array.from({ length: 45 }, (_, n) => notice(n));
  await Promise.all(all.map((each) => service.tell(each)));
  await until(() => ids().length >= all.length);
  expect(new Set(ids()).size).toBe(all.length);
  expect(messages().length).toBeLessThan(all.length);
  expect(receiver.received.every(({ authentic }) => authentic)).toBe(true);
  expect(Math.max(...messages().map(({ data }) => data.incidents?.length ?? 1))).toBeLessThanOrEqual(20);
});

it("a signed link stops the messages of one endpoint to its receiver, until that is undone", async () => {
  const service = await start(0);
  await service.tell(notice(1));
  await until(() => receiver.received.length === 1);
  const link = new URL(messages()[0]?.data.links?.unsubscribe ?? "");
  const { receiver: to = "", endpoint = "", signature = "" } = Object.fromEntries(link.searchParams);
  expect(endpoint).toBe("people1");
  expect(await service.mutes.mute({ receiver: to, endpoint: "people2", signature })).toBe(false);
  expect(await service.mutes.mute({ receiver: to, endpoint, signature: `${signature}x` })).toBe(false);
  expect(await service.mutes.mute({ receiver: to, endpoint, signature })).toBe(true);
  await service.tell({ ...notice(1), incident: incident({ id: "people-again", endpoint: "people1" }) });
  await service.tell(notice(2));
  await until(() => receiver.received.length === 2);
  expect(ids()).toEqual(["people-1", "people-2"]);
  const [mute] = await service.mutes.list();
  expect(await service.mutes.unmute(mute?.id ?? "")).toBe(true);
  await service.tell({ ...notice(1), incident: incident({ id: "people-later", endpoint: "people1" }) });
  await until(() => receiver.received.length === 3);
  expect(ids().at(-1)).toBe("people-later");
});

it("a message that waits does not go out after a mute", async () => {
  const window = Promise.withResolvers<void>();
  const service = await start(3_600_000, () => window.promise);
  await service.tell(notice(1));
  await service.tell(notice(2));
  const link = new URL(service.mutes.link(receiverOf(`${receiver.origin}/hook`), "people1") ?? "");
  const { receiver: to = "", endpoint = "", signature = "" } = Object.fromEntries(link.searchParams);
  expect(await service.mutes.mute({ receiver: to, endpoint, signature })).toBe(true);
  window.resolve();
  await until(() => ids().length > 0);
  expect(ids()).toEqual(["people-2"]);
});
