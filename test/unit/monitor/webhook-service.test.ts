import { beforeEach, describe, expect, it } from "vitest";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import type { EnqueueOptions, Job, JobContext } from "../../../src/jobs/job-queue.ts";
import type { IncidentNotice } from "../../../src/monitor/health-record.ts";
import {
  createWebhookService,
  type DeliveryOutcome,
  type WebhookService,
  type WebhookServiceOptions,
} from "../../../src/monitor/receivers/webhooks.ts";
import { openSqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";
import type { Store } from "../../../src/store/store.ts";
import type { JsonReply, JsonRequest } from "../../../src/outbound/json-client.ts";
import { catalogEntry } from "../../support/catalog-entry.ts";
import { incident } from "../../support/monitor-records.ts";

const urls = ["https://hooks.example/services/very-secret-key", "https://other.example/?token=very-secret-key"];
const opened: IncidentNotice = { kind: "incident-opened", incident: incident() };

interface Enqueued {
  readonly kind: string;
  readonly payload: unknown;
  readonly options: EnqueueOptions | undefined;
}

let store: Store;
let enqueued: Enqueued[];
let sent: JsonRequest[];
let outcomes: DeliveryOutcome[];
/** What the receiver does next. */
let answer: (request: JsonRequest) => Promise<JsonReply>;
const clock = { nowMs: Date.parse("2026-03-01T10:31:00.700Z"), now: () => clock.nowMs };

function serviceWith(more: Partial<WebhookServiceOptions> = {}): WebhookService {
  return createWebhookService({
    urls,
    secret: "a secret of some length",
    publicUrl: "https://fedway.example",
    catalog: { byId: (id) => (id === "people" ? catalogEntry("people", { title: "People" }) : undefined) },
    jobs: {
      async enqueue(kind, payload, options): Promise<Job> {
        enqueued.push({ kind, payload, options });
        const id = options?.id ?? "";
        return { id, kind, state: "waiting", payload, attempts: 0, createdAt: "2026-01-01T00:00:00Z" };
      },
    },
    store,
    send: (request) => {
      sent.push(request);
      return answer(request);
    },
    clock,
    observe: (outcome) => outcomes.push(outcome),
    ...more,
  });
}

beforeEach(() => {
  store = openSqliteStore({ path: ":memory:" });
  [enqueued, sent, outcomes] = [[], [], []];
  answer = async () => ({ status: 200 });
});

const context = (attempt: number, signal = new AbortController().signal): JobContext => ({
  id: "job",
  attempt,
  signal,
  progress: () => {},
});

/** Runs the job that `tell` enqueued for the first URL. */
function run(service: WebhookService, attempt: number, signal?: AbortSignal): Promise<unknown> {
  const [kind] = service.kinds;
  if (kind === undefined) throw new Error("there is no job");
  const payload: unknown = JSON.parse(JSON.stringify(enqueued[0]?.payload));
  kind.validate(payload);
  return kind.run(payload, context(attempt, signal));
}

describe("telling", () => {
  it("enqueues a job per URL under a constant id, without URLs", async () => {
    const service = serviceWith();
    await service.tell(opened);
    await service.tell(opened);
    expect(enqueued.map(({ kind }) => kind)).toEqual(Array.from({ length: 4 }, () => "deliver-webhook"));
    const ids = enqueued.map(({ options }) => options?.id);
    expect(ids[0]).toMatch(/^people-1\.opened\.[0-9a-f]{16}$/);
    expect(ids.slice(2)).toEqual(ids.slice(0, 2));
    expect(new Set(ids).size).toBe(2);
    expect(JSON.stringify(enqueued)).not.toMatch(/secret|hooks\.example|other\.example/);
    expect(enqueued[0]?.payload).toMatchObject({ message: { data: { endpoint: { title: "People" } } } });
  });

  it("names an endpoint that has left the catalogue by its id", async () => {
    await serviceWith().tell({ kind: "incident-closed", incident: incident({ endpoint: "gone" }) });
    expect(enqueued[0]?.payload).toMatchObject({ message: { data: { endpoint: { id: "gone", title: "gone" } } } });
  });

  it("does nothing without URLs, but still ends old jobs", async () => {
    await serviceWith().tell(opened);
    const without = serviceWith({ urls: [], secret: undefined });
    enqueued.splice(1);
    await without.tell(opened);
    expect(enqueued).toHaveLength(1);
    expect(await run(without, 1)).toEqual({ delivered: false, why: "The receiver is not configured any more." });
    expect([sent, outcomes, await without.dead()]).toEqual([[], [], []]);
  });

  it("needs a secret", () => {
    expect(() => serviceWith({ secret: undefined })).toThrow("Webhooks need a secret");
  });
});

describe("a delivery", () => {
  it("is signed, with the moment of its sending", async () => {
    const service = serviceWith();
    await service.tell(opened);
    expect(await run(service, 1)).toEqual({ delivered: true, status: 200 });
    expect(sent).toHaveLength(1);
    expect(sent[0]?.url).toBe(urls[0]);
    expect(sent[0]?.headers).toEqual({
      "webhook-id": enqueued[0]?.options?.id,
      "webhook-timestamp": "1772361060",
      "webhook-signature": expect.stringMatching(/^v1,[\w+/]{43}=$/) as string,
    });
    expect(JSON.parse(sent[0]?.body ?? "")).toMatchObject({ type: "incident.opened", data: { id: "people-1" } });
    expect(outcomes).toEqual(["delivered"]);
  });

  it.each([null, 7, {}, { id: "x", receiver: "y" }, { id: "x", receiver: "y", message: { type: "t" } }])(
    "is refused with the payload %j",
    (payload) => {
      const [kind] = serviceWith().kinds;
      expect(() => kind?.validate(payload)).toThrow("A deliver-webhook job needs a webhook's message.");
    },
  );

  it("passes on that the service is shutting down", async () => {
    const service = serviceWith();
    await service.tell(opened);
    answer = async () => {
      throw new FedwayError("CANCELLED", "The service is shutting down.");
    };
    await expect(run(service, 12, AbortSignal.abort())).rejects.toMatchObject({ code: "CANCELLED" });
    expect([outcomes, await service.dead()]).toEqual([[], []]);
  });
});

describe("a delivery that was taken while the store fails", () => {
  /** A store that fails to delete so many times. */
  const failingDelete = (times: number): { readonly failing: Store; readonly tried: () => number } => {
    let tried = 0;
    const failing: Store = {
      ...store,
      async delete(key, options) {
        tried += 1;
        if (tried <= times) throw new FedwayError("STORE_FAILED", "The store is away.");
        return store.delete(key, options);
      },
    };
    return { failing, tried: () => tried };
  };
  const paused: number[] = [];
  const pause = async (ms: number): Promise<void> => void paused.push(ms);

  it.each([1, 2, 3])("is not sent again when the store is back after %i failures", async (times) => {
    paused.length = 0;
    const { failing: failingStore, tried } = failingDelete(times);
    const service = serviceWith({ store: failingStore, pause });
    await service.tell(opened);
    const id = enqueued[0]?.options?.id ?? "";
    await store.put(`webhook/dead/${id}`, "an earlier round");
    expect(await run(service, 1)).toEqual({ delivered: true, status: 200 });
    expect([sent.length, tried(), outcomes]).toEqual([1, times + 1, ["delivered"]]);
    expect(await store.get(`webhook/dead/${id}`)).toBeUndefined();
    expect(paused).toHaveLength(times);
    expect(paused).toEqual(paused.toSorted((left, right) => left - right));
  });

  it("is sent again under the same id when the store stays away, after a few tries", async () => {
    paused.length = 0;
    const { failing: failingStore, tried } = failingDelete(4);
    const service = serviceWith({ store: failingStore, pause });
    await service.tell(opened);
    await expect(run(service, 1)).rejects.toMatchObject({ code: "STORE_FAILED" });
    expect([tried(), paused.length]).toEqual([4, 3]);
    expect(await run(service, 2)).toEqual({ delivered: true, status: 200 });
    expect(new Set(sent.map(({ headers }) => headers["webhook-id"]))).toEqual(new Set([enqueued[0]?.options?.id]));
    expect(sent).toHaveLength(2);
  });

  it("does not hold up the end of the service", async () => {
    const stop = new AbortController();
    const service = serviceWith({ store: failingDelete(9).failing });
    await service.tell(opened);
    answer = async () => {
      stop.abort(new FedwayError("CANCELLED", "The service is shutting down."));
      return { status: 200 };
    };
    await expect(run(service, 1, stop.signal)).rejects.toMatchObject({ code: "STORE_FAILED" });
    expect(sent).toHaveLength(1);
  });
});

const failing = (code: FedwayError["code"], fault?: "dns" | "timeout") => async (): Promise<JsonReply> => {
  throw new FedwayError(code, `${urls[0]} did something`, {
    ...(fault !== undefined && { fault }),
    cause: new Error(`at ${urls[0]}`),
  });
};
const answering = (reply: JsonReply) => async (): Promise<JsonReply> => reply;

describe("a delivery that fails", () => {
  it.each([
    ["503", answering({ status: 503 }), 12, "The receiver answered 503."],
    ["429", answering({ status: 429, retryAfterMs: 7000 }), 12, "The receiver answered 429."],
    ["408", answering({ status: 408 }), 12, "The receiver answered 408."],
    ["no name", failing("ENDPOINT_UNREACHABLE", "dns"), 12, "The receiver did not answer (dns)."],
    ["time-out", failing("DEADLINE_EXCEEDED", "timeout"), 12, "The receiver did not answer (timeout)."],
    ["anything else", failing("INTERNAL"), 12, "The receiver did not answer."],
    ["400", answering({ status: 400 }), 3, "The receiver answered 400."],
    ["404", answering({ status: 404 }), 3, "The receiver answered 404."],
    ["a redirect", answering({ status: 307 }), 3, "The receiver answered 307."],
    [
      "a private address",
      failing("ADDRESS_REFUSED"),
      3,
      "The receiver's address is not allowed: FEDWAY_ALLOW_ADDRESSES has to name it.",
    ],
    ["410", answering({ status: 410 }), 1, "The receiver answered 410."],
  ] as const)("by %s is given up after its time", async (_, how, attempts, says) => {
    const service = serviceWith();
    await service.tell(opened);
    answer = how;
    for (let attempt = 1; attempt < attempts; attempt += 1) {
      const error = await run(service, attempt).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: "WEBHOOK_FAILED", message: says, kind: { retryable: true } });
      expect(await service.dead()).toEqual([]);
    }
    const error = await run(service, attempts).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "WEBHOOK_GIVEN_UP", kind: { retryable: false } });
    expect(JSON.stringify([error, String(error), (error as Error).cause])).not.toMatch(/secret|example/);
    expect(await service.dead()).toEqual([
      {
        id: enqueued[0]?.options?.id,
        type: "incident.opened",
        incident: "people-1",
        endpoint: "people",
        receiver: enqueued[0]?.options?.id?.split(".").at(-1),
        givenUpAt: "2026-03-01T10:31:00.700Z",
        attempts,
        reason: says,
      },
    ]);
    expect(outcomes).toEqual([...Array.from({ length: attempts - 1 }, () => "failed"), "dead"]);
    expect(new Set(sent.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
    expect(new Set(sent.map(({ body }) => body)).size).toBe(1);
  });

  it("is not given up for one refusal amid an outage", async () => {
    const service = serviceWith();
    await service.tell(opened);
    for (const [at, code] of [500, 500, 404, 500, 404, 500].entries()) {
      answer = answering({ status: code });
      await expect(run(service, at + 1)).rejects.toMatchObject({ code: "WEBHOOK_FAILED" });
    }
    answer = answering({ status: 404 });
    await expect(run(service, 7)).rejects.toMatchObject({ code: "WEBHOOK_GIVEN_UP" });
  });

  it("gets three refusals again when it is sent again", async () => {
    const service = serviceWith();
    await service.tell(opened);
    answer = answering({ status: 403 });
    for (let round = 0; round < 2; round += 1) {
      const codes: unknown[] = [];
      for (let attempt = 1; attempt <= 3; attempt += 1) {
        codes.push(await run(service, attempt).catch((error: unknown) => error instanceof FedwayError && error.code));
      }
      expect(codes).toEqual(["WEBHOOK_FAILED", "WEBHOOK_FAILED", "WEBHOOK_GIVEN_UP"]);
      enqueued.splice(0, 2);
      await service.redeliver((await service.dead())[0]?.id ?? "");
    }
  });

  it("waits as long as the receiver asks for", async () => {
    const service = serviceWith();
    await service.tell(opened);
    answer = answering({ status: 429, retryAfterMs: 7000 });
    await expect(run(service, 1)).rejects.toMatchObject({ details: { retryAfterMs: 7000, upstreamStatus: 429 } });
  });
});

describe("dead letters", () => {
  const giveUp = async (service: WebhookService, id: string): Promise<void> => {
    enqueued.length = 0;
    await service.tell({ kind: "incident-opened", incident: incident({ id }) });
    answer = answering({ status: 410 });
    await expect(run(service, 1)).rejects.toMatchObject({ code: "WEBHOOK_GIVEN_UP" });
  };

  it("are sent again under their id, and gone once they were taken", async () => {
    const service = serviceWith();
    await giveUp(service, "people-7");
    const [letter] = await service.dead();
    const before = enqueued[0];
    enqueued.length = 0;
    const job = await service.redeliver(letter?.id ?? "");
    expect(job?.id).toBe(letter?.id);
    expect(enqueued).toEqual([{ ...before, payload: { ...Object(before?.payload), round: 1 } }]);
    expect(await service.dead()).toHaveLength(1);
    answer = answering({ status: 204 });
    expect(await run(service, 1)).toEqual({ delivered: true, status: 204 });
    expect(await service.dead()).toEqual([]);
    expect(await service.redeliver(letter?.id ?? "")).toBeUndefined();
  });

  it.each(["", "nothing", "../jobs/job/x"])("do not know %j", async (id) => {
    expect(await serviceWith().redeliver(id)).toBeUndefined();
  });

  it("are the newest thousand, newest first", async () => {
    const service = serviceWith({ urls: urls.slice(0, 1) });
    for (let index = 0; index < 1060; index += 1) {
      clock.nowMs += 1000;
      await giveUp(service, `i-${index}`);
    }
    const letters = await service.dead();
    expect(letters).toHaveLength(1000);
    expect([letters[0]?.incident, letters.at(-1)?.incident]).toEqual(["i-1059", "i-60"]);
    expect((await store.list("webhook/dead/", { limit: 5000 })).length).toBeLessThan(1050);
  });

  it("that cannot be read are left out", async () => {
    await store.put("webhook/dead/x", "{}");
    await store.put("webhook/dead/y", "damaged");
    const service = serviceWith();
    expect(await service.dead()).toEqual([]);
    expect(await service.redeliver("y")).toBeUndefined();
  });
});
