import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { EmbeddedJobQueue } from "../../../src/jobs/embedded/embedded-job-queue.ts";
import type { Job, JobQueue } from "../../../src/jobs/job-queue.ts";
import type { IncidentNotice } from "../../../src/monitor/health-record.ts";
import { createWebhookService, type WebhookService } from "../../../src/monitor/receivers/webhooks.ts";
import { openSqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";
import type { Store } from "../../../src/store/store.ts";
import { createJsonClient, type JsonClient } from "../../../src/outbound/json-client.ts";
import { catalogEntry } from "../../support/catalog-entry.ts";
import { incident } from "../../support/monitor-records.ts";
import { hang, reset, startWebhookReceiver, status, type WebhookReceiver } from "../../support/webhook-receiver.ts";
import { until } from "../../support/eventually.ts";

const secret = "correct horse battery staple";
const opened: IncidentNotice = { kind: "incident-opened", incident: incident() };
const closed: IncidentNotice = {
  kind: "incident-closed",
  incident: incident({ closedMs: Date.parse("2026-03-01T12:00:00Z"), closedBy: "recovered" }),
};

interface Process {
  readonly queue: JobQueue;
  readonly service: WebhookService;
  readonly client: JsonClient;
}

let store: Store;
let receiver: WebhookReceiver;
let processes: Process[];

/** A service with its queue, as after a start of the process. */
async function start(...paths: readonly string[]): Promise<Process> {
  const queue = new EmbeddedJobQueue({ store, backoffMs: () => 5 });
  const client = createJsonClient({ version: "1", contact: "ops@example.org", allowAddresses: ["127.0.0.0/8"] });
  const service = createWebhookService({
    urls: paths.map((path) => receiver.origin + path),
    secret,
    publicUrl: "https://fedway.example",
    catalog: { byId: (id) => catalogEntry(id, { title: "People" }) },
    jobs: queue,
    store,
    send: (request) => client.post(request),
    clock: { now: () => Date.now() },
    timeoutMs: 8_000,
  });
  await queue.start(service.kinds);
  const process = { queue, service, client };
  processes.push(process);
  return process;
}

async function stop({ queue, client }: Process): Promise<void> {
  await queue.close(0);
  await client.close();
}

beforeEach(async () => {
  store = openSqliteStore({ path: ":memory:" });
  receiver = await startWebhookReceiver(secret);
  processes = [];
});
afterEach(async () => {
  await Promise.all(processes.map(stop));
  await receiver.close();
});

/** All jobs, once none is open. */
const finished = ({ queue }: Process): Promise<readonly Job[]> =>
  until(async () => {
    const jobs = await queue.list();
    return jobs.every(({ state }) => state !== "waiting" && state !== "running") && jobs;
  });

/** That all that arrived was authentic, under these ids (their last part, the receiver, left out). */
function shouldHaveReceived(...ids: readonly string[]): void {
  expect(receiver.received.map(({ authentic }) => authentic)).toEqual(ids.map(() => true));
  const got = receiver.received.map(({ headers }) => String(headers["webhook-id"]).replace(/\.[0-9a-f]{16}$/, ""));
  expect(got).toEqual(ids);
}

describe("a webhook", () => {
  it("tells receivers of opening and closing, signed", async () => {
    const process = await start("/one", "/two");
    await process.service.tell(opened);
    await finished(process);
    await process.service.tell(closed);
    const jobs = await finished(process);
    shouldHaveReceived("people-1.opened", "people-1.opened", "people-1.closed", "people-1.closed");
    expect(receiver.received.map(({ path }) => path).toSorted()).toEqual(["/one", "/one", "/two", "/two"]);
    const [first, , , last] = receiver.received.map(({ body }): unknown => JSON.parse(body));
    expect(first).toMatchObject({ type: "incident.opened", data: { endpoint: { id: "people", title: "People" } } });
    expect(last).toMatchObject({ type: "incident.closed", data: { closed: "2026-03-01T12:00:00.000Z" } });
    expect(jobs.map(({ state, attempts }) => [state, attempts])).toEqual(jobs.map(() => ["done", 1]));
    expect(jobs).toHaveLength(4);
  });

  it("gets through to a receiver that fails in many ways at first, under one id and with one body", async () => {
    receiver.react(status(503), reset, hang, status(429), status(404), status(301, { location: "/x" }));
    const process = await start("/key");
    await process.service.tell(opened);
    const [job] = await finished(process);
    expect(job).toMatchObject({ state: "done", attempts: 7 });
    shouldHaveReceived(...Array.from({ length: 7 }, () => "people-1.opened"));
    expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1);
  });

  it("is delivered again under the same id when the service was stopped in the middle", async () => {
    receiver.react(hang);
    const first = await start("/key");
    await first.service.tell(opened);
    await until(() => receiver.received[0]);
    await stop(first);
    const second = await start("/key");
    const [job] = await finished(second);
    expect(job?.state).toBe("done");
    shouldHaveReceived("people-1.opened", "people-1.opened");
    expect(await second.service.dead()).toEqual([]);
  });
});

describe("a webhook that was given up", () => {
  it("is kept, and sent again under its id when it is asked for", async () => {
    receiver.react(status(410));
    const process = await start("/very-secret-key");
    await process.service.tell(opened);
    const [job] = await finished(process);
    expect(job).toMatchObject({
      state: "failed",
      attempts: 1,
      error: {
        code: "WEBHOOK_GIVEN_UP",
        message: "The receiver answered 410. It was given up after one attempt.",
      },
    });
    const [letter] = await process.service.dead();
    expect(letter).toMatchObject({ id: job?.id, incident: "people-1", endpoint: "people", attempts: 1 });
    const shown = JSON.stringify([letter, await process.queue.get(job?.id ?? ""), await store.list("")]);
    expect(shown).not.toMatch(/very-secret-key|127\.0\.0\.1|correct horse/);

    await process.service.redeliver(letter?.id ?? "");
    expect(await finished(process)).toMatchObject([{ state: "done", attempts: 1 }]);
    shouldHaveReceived("people-1.opened", "people-1.opened");
    expect(new Set(receiver.received.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
    expect(await process.service.dead()).toEqual([]);
  });
});
