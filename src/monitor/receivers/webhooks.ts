import { createHmac, timingSafeEqual } from "node:crypto";
import { type Static, Type } from "typebox";
import { sleep, systemClock } from "../../clock.ts";
import { type ErrorDetails, type FaultKind, FedwayError, toFedwayError } from "../../errors/fedway-error.ts";
import { jobKind } from "../../jobs/job-kind.ts";
import type { Job, JobContext, JobQueue } from "../../jobs/job-queue.ts";
import type { JsonClient } from "../../outbound/json-client.ts";
import type { Catalog } from "../../registry/catalog.ts";
import { createCollection } from "../../store/collection.ts";
import type { Store } from "../../store/store.ts";
import type { IncidentNotice } from "../health-record.ts";
import { subjectOf } from "../subjects.ts";
import {
  createWebhookSigner,
  type Delivery,
  deliveryId,
  deliverySchema,
  groupedDelivery,
  receiverOf,
  webhookMessage,
  type WebhookSigner,
} from "./message.ts";

/** How one delivery went: `failed` ones are tried again, `dead` ones are given up. */
export type DeliveryOutcome = "delivered" | "failed" | "dead";

/** Options of the service. */
export interface WebhookServiceOptions {
  /** Absolute http(s) URLs; each may hold a key and is never shown. */
  readonly urls: readonly string[];
  /** There whenever there are URLs. */
  readonly secret: string | undefined;
  /** Without a trailing slash; for links. */
  readonly publicUrl: string;
  readonly catalog: Pick<Catalog, "byId">;
  readonly jobs: Pick<JobQueue, "enqueue">;
  readonly store: Store;
  readonly send: JsonClient["post"];
  readonly clock: { now(): number };
  readonly observe?: (outcome: DeliveryOutcome) => void;
  /** Milliseconds within which messages are sent as one; default 0: each alone. */
  readonly groupMs?: number;
  /** Time limit of one try; default 15 s. */
  readonly timeoutMs?: number;
  /** Waits between two tries to note in the store that a message was taken; ends early when the signal aborts. */
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** Notifies receivers of incidents, at least once each, in any order, under a constant delivery id. */
export type WebhookService = ReturnType<typeof createWebhookService>;

const kindName = "deliver-webhook";
/** With the queue's back-off some twenty minutes, or longer where the receiver says so. */
const maxAttempts = 12;
/** Tries at a receiver that refuses: its set-up may be wrong, and corrected soon. */
const mostRefusals = 3;
const defaultTimeoutMs = 15_000;
const concurrency = 4;
/** Waits before further tries of what the store did not take, while the queue keeps the job's lease. */
const retryMs = [250, 1_000, 5_000];
const dayMs = 24 * 3_600_000;
const groupKindName = "group-webhooks";
/** Messages in one; more go out in further ones. */
const mostGrouped = 20;
/** Time for messages written at the end of a window by a process whose clock is late. */
const lateMs = 1_000;

/**
 * A service for these URLs.
 * @throws FedwayError `CONFIG_INVALID` when there are URLs and no secret, or a secret that cannot be read
 */
export function createWebhookService(options: WebhookServiceOptions) {
  const context = contextOf(options);
  const { publicUrl, urlsByReceiver, entryOf, letters, mutes, enqueue } = context;
  return {
    /** Receivers' endpoints whose messages are not wanted. */
    mutes,
    /** Jobs that deliver; to be started with the queue also when there are no URLs, as old jobs may be there. */
    kinds: [
      jobKind(deliverySchema, {
        name: kindName,
        needs: "a webhook's message",
        run: (payload, job) => deliver(payload, job, context),
        concurrency,
        maxAttempts,
      }),
      jobKind(groupSchema, {
        name: groupKindName,
        needs: "a receiver and a moment",
        run: (payload, job) => sendGroup(payload, job, context),
        concurrency,
        maxAttempts,
      }),
    ],
    /** Enqueues one delivery per URL, under the same ids when it is called again. @throws FedwayError `STORE_FAILED` */
    async tell(event: IncidentNotice): Promise<void> {
      const { endpoint } = event.incident;
      const isNetwork = subjectOf(event.incident).kind === "network";
      for (const receiver of urlsByReceiver.keys()) {
        if (await mutes.isMuted(receiver, endpoint)) continue;
        const unsubscribe = isNetwork ? undefined : mutes.link(receiver, endpoint);
        const message = webhookMessage(event, { entryOf, publicUrl, unsubscribe });
        const delivery = { id: deliveryId(event, receiver), receiver, about: endpoint, message };
        if (options.groupMs) await wait(delivery, options.groupMs, context);
        else await enqueue(delivery);
      }
    },
    /** Messages given up, newest first. @throws FedwayError `STORE_FAILED` */
    dead: () => letters.list(),
    /** Sends a message that was given up again, under the same id; undefined when it is not there. @throws FedwayError `STORE_FAILED` */
    async redeliver(id: string): Promise<Job | undefined> {
      const payload = await letters.payload(id);
      if (payload === undefined) return undefined;
      const { round = 0 } = payload;
      return enqueue({ ...payload, round: round + 1 });
    },
  };
}

type Context = ReturnType<typeof contextOf>;

function contextOf(options: WebhookServiceOptions) {
  const { jobs, secret, store, urls } = options;
  if (urls.length > 0 && secret === undefined) {
    throw new FedwayError("CONFIG_INVALID", "Webhooks need a secret that their messages are signed with.");
  }
  return {
    ...options,
    sign: secret === undefined ? undefined : createWebhookSigner(secret),
    urlsByReceiver: new Map(urls.map((url) => [receiverOf(url), url])),
    mutes: createMutes(options),
    letters: createDeadLetters(options),
    waiting: createCollection({
      store,
      prefix: "webhook/waiting/",
      schema: deliverySchema,
      lost: "A message is not sent.",
    }),
    entryOf: (id: string) => options.catalog.byId(id),
    enqueue: (payload: Delivery): Promise<Job> => jobs.enqueue(kindName, payload, { id: payload.id }),
  };
}

/** Stores a message until the end of its window, when those of its receiver are sent as one. */
async function wait(payload: Delivery, groupMs: number, { waiting, clock, jobs }: Context): Promise<void> {
  const { id, receiver } = payload;
  await waiting.put(`${receiver}/${id}`, payload);
  // The window is that of a moment after the message was written, so that the job finds it.
  const untilMs = (Math.floor(clock.now() / groupMs) + 1) * groupMs + lateMs;
  await jobs.enqueue(groupKindName, { receiver, untilMs }, { id: `group.${untilMs.toString(36)}.${receiver}` });
}

const groupSchema = Type.Object({ receiver: Type.String(), untilMs: Type.Number() });

/** Waits for the end of the window, and enqueues waiting messages as few deliveries; a repetition finds the rest. */
async function sendGroup(
  { receiver, untilMs }: Static<typeof groupSchema>,
  job: JobContext,
  { waiting, mutes, enqueue, clock, pause = pausing }: Context,
): Promise<object> {
  const leftMs = untilMs - clock.now();
  if (leftMs > 0) await pause(Math.min(leftMs, longestWindowMs), job.signal);
  job.signal.throwIfAborted();
  let sent = 0;
  const found: (readonly [string, Delivery])[] = [];
  for await (const [id, payload] of waiting.entries(`${receiver}/`)) {
    // It may have been muted while it waited.
    if (payload.about !== undefined && (await mutes.isMuted(receiver, payload.about))) await waiting.delete(id);
    else found.push([id, payload]);
  }
  for (let at = 0; at < found.length; at += mostGrouped) {
    const group = found.slice(at, at + mostGrouped);
    const payloads = group.map(([, payload]) => payload);
    const [only] = payloads;
    await enqueue(payloads.length === 1 && only ? only : groupedDelivery(payloads, receiver));
    for (const [id] of group) await waiting.delete(id);
    sent += 1;
  }
  return { messages: found.length, sent };
}

/** How the receiver took it; without a status it did not answer. */
interface Reply {
  readonly status?: number;
  readonly details: ErrorDetails;
  /** One sentence without URL or address. */
  readonly text: string;
  /** The same again would not help, but for a change at the receiver. */
  readonly refused: boolean;
}

/** Runs one delivery. The result is what readers of the job see. */
async function deliver(payload: Delivery, job: JobContext, context: Context): Promise<object> {
  const { letters, observe, sign, store, urlsByReceiver } = context;
  const url = urlsByReceiver.get(payload.receiver);
  if (url === undefined || sign === undefined)
    return { delivered: false, why: "The receiver is not configured any more." };
  const reply = await post({ url, payload, sign }, job, context);
  if (isTaken(reply)) {
    observe?.("delivered");
    await removeLetter(payload.id, job, context);
    return { delivered: true, status: reply.status };
  }
  const { id, round = 0 } = payload;
  const refusals = (): Promise<number> => store.increment(`webhook/refusals/${id}/${round}`, 1, { ttlMs: dayMs });
  if (!(await isLast(reply, job.attempt, refusals))) {
    observe?.("failed");
    throw new FedwayError("WEBHOOK_FAILED", reply.text, reply.details);
  }
  await letters.put(payload, { attempts: job.attempt, reason: reply.text });
  observe?.("dead");
  throw new FedwayError("WEBHOOK_GIVEN_UP", `${reply.text} It was given up after ${timesText(job.attempt)}.`, {
    next: "When the receiver is mended, it can be sent again from the dead letters.",
  });
}

const longestWindowMs = 3_600_000;

const pausing = (ms: number, signal: AbortSignal): Promise<void> => sleep(ms, { clock: systemClock, signal });

/** A failure makes the queue send the message again, so that a short failure of the store passes. */
async function removeLetter(id: string, { signal }: JobContext, context: Context): Promise<void> {
  const { letters, pause = pausing } = context;
  for (const ms of retryMs) {
    try {
      await letters.remove(id);
      return;
    } catch {
      await pause(ms, signal);
    }
  }
  await letters.remove(id);
}

const timesText = (attempts: number): string => (attempts === 1 ? "one attempt" : `${attempts} attempts`);

const isTaken = ({ status = 0 }: Reply): boolean => status >= 200 && status < 300;

/** 410 says that the receiver is gone for good. Refusals are counted by themselves: one amid an outage is no verdict. */
async function isLast({ refused, status }: Reply, attempt: number, refusals: () => Promise<number>): Promise<boolean> {
  if (status === 410 || attempt >= maxAttempts) return true;
  return refused && (await refusals()) >= mostRefusals;
}

interface Target {
  readonly url: string;
  readonly payload: Delivery;
  readonly sign: WebhookSigner;
}

async function post({ url, payload, sign }: Target, job: JobContext, context: Context): Promise<Reply> {
  const { clock, send, timeoutMs = defaultTimeoutMs } = context;
  const body = JSON.stringify(payload.message);
  const headers = sign({ id: payload.id, timestampS: Math.floor(clock.now() / 1000), body });
  try {
    const { status, retryAfterMs } = await send({
      url,
      urlBy: "operator",
      headers,
      body,
      signal: job.signal,
      timeoutMs,
    });
    const details = { upstreamStatus: status, ...(retryAfterMs !== undefined && { retryAfterMs }) };
    const refused = status < 500 && status !== 408 && status !== 429;
    return { status, details, text: `The receiver answered ${status}.`, refused };
  } catch (thrown) {
    if (job.signal.aborted) throw thrown;
    // Neither message nor cause is handed on: both may name the receiver.
    const { code, details } = toFedwayError(thrown);
    const { fault } = details;
    const refused = code === "ADDRESS_REFUSED";
    const text = refused ? refusedAddress : `The receiver did not answer${because(fault)}.`;
    return { details: fault === undefined ? {} : { fault }, text, refused };
  }
}

const refusedAddress = "The receiver's address is not allowed: FEDWAY_ALLOW_ADDRESSES has to name it.";

const because = (fault: FaultKind | undefined): string => (fault === undefined ? "" : ` (${fault})`);

/** A delivery that was given up. */
interface DeadLetter {
  /** Id of the delivery. */
  readonly id: string;
  readonly type: string;
  /** Id of the incident. */
  readonly incident: string;
  /** Id of its endpoint; absent where it is of a host or the network. */
  readonly endpoint?: string | undefined;
  /** Names the receiver without its URL. */
  readonly receiver: string;
  /** ISO 8601. */
  readonly givenUpAt: string;
  readonly attempts: number;
  /** Why, in one sentence. */
  readonly reason: string;
}

const letterKeptMs = 30 * 24 * 3_600_000;
const mostLetters = 1000;
/** Letters between two looks at how many there are. */
const stride = 50;

const letterSchema = Type.Object({
  givenUpAt: Type.String(),
  attempts: Type.Number(),
  reason: Type.String(),
  payload: deliverySchema,
});

/** Deliveries that were given up, kept for 30 days, the latest 1,000 (and a few more for a while). */
function createDeadLetters({ store, clock }: WebhookServiceOptions) {
  const letters = createCollection({
    store,
    prefix: "webhook/dead/",
    schema: letterSchema,
    lost: "A message that was given up is not listed.",
  });
  const newestFirst = async (): Promise<readonly DeadLetter[]> => {
    const found: DeadLetter[] = [];
    for await (const [, { payload, ...end }] of letters.entries()) {
      const { id, receiver, message } = payload;
      const { type, data } = message;
      found.push({ id, type, incident: data.id, endpoint: data.endpoint?.id, receiver, ...end });
    }
    return found.toSorted((left, right) => Date.parse(right.givenUpAt) - Date.parse(left.givenUpAt));
  };
  return {
    async put(payload: Delivery, end: { readonly attempts: number; readonly reason: string }): Promise<void> {
      const givenUpAt = new Date(clock.now()).toISOString();
      await letters.put(payload.id, { givenUpAt, ...end, payload }, { ttlMs: letterKeptMs });
      if ((await store.increment("webhook/given-up", 1)) % stride !== 0) return;
      for (const { id } of (await newestFirst()).slice(mostLetters)) await letters.delete(id);
    },
    list: async () => (await newestFirst()).slice(0, mostLetters),
    payload: async (id: string) => (await letters.get(id))?.payload,
    remove: (id: string) => letters.delete(id),
  };
}

/** Messages about an endpoint that a receiver does not want. */
interface Muted {
  /** Names the receiver without its URL. */
  readonly receiver: string;
  /** Id of the endpoint, or what stands for a host in its place. */
  readonly endpoint: string;
}

interface Mute extends Muted {
  readonly id: string;
  /** ISO 8601. */
  readonly since: string;
}

/** Target of a message's link, with the signature of this service. */
interface UnsubscribeLink extends Muted {
  readonly signature: string;
}

interface MutesOptions {
  readonly store: Store;
  readonly secret: string | undefined;
  readonly publicUrl: string;
  readonly clock: { now(): number };
}

const muteSchema = Type.Object({ receiver: Type.String(), endpoint: Type.String(), since: Type.String() });
const mostListed = 10_000;

const idOf = ({ receiver, endpoint }: Muted): string => `${receiver}.${endpoint}`;

/** Which receiver wants no messages of which endpoint; known by signed links that their messages carry. */
export function createMutes({ store, secret, publicUrl, clock }: MutesOptions) {
  const mutes = createCollection({
    store,
    prefix: "webhook/muted/",
    schema: muteSchema,
    lost: "Messages that a receiver muted are sent again.",
  });
  const key = secret === undefined ? undefined : createHmac("sha256", secret).update("unsubscribe").digest();
  const signatureOf = (link: Muted): string | undefined =>
    key && createHmac("sha256", key).update(idOf(link)).digest("base64url");
  const isSigned = (link: UnsubscribeLink): boolean => {
    const signature = signatureOf(link);
    if (signature === undefined) return false;
    const [expected, given] = [Buffer.from(signature), Buffer.from(link.signature)];
    return expected.length === given.length && timingSafeEqual(expected, given);
  };
  return {
    /** The address at which a receiver stops the messages of an endpoint; undefined without a secret. */
    link(receiver: string, endpoint: string): string | undefined {
      const signature = signatureOf({ receiver, endpoint });
      if (signature === undefined) return undefined;
      return `${publicUrl}/unsubscribe?${new URLSearchParams({ receiver, endpoint, signature }).toString()}`;
    },
    isSigned,
    isMuted: async (receiver: string, endpoint: string): Promise<boolean> =>
      (await mutes.get(idOf({ receiver, endpoint }))) !== undefined,
    /** False for a link that this service has not made. @throws FedwayError `STORE_FAILED` */
    async mute(link: UnsubscribeLink): Promise<boolean> {
      if (!isSigned(link)) return false;
      const { receiver, endpoint } = link;
      await mutes.put(idOf(link), { receiver, endpoint, since: new Date(clock.now()).toISOString() });
      return true;
    },
    async list(): Promise<readonly Mute[]> {
      const found: Mute[] = [];
      for await (const [id, mute] of mutes.entries()) {
        if (mute !== undefined) found.push({ id, ...mute });
        if (found.length >= mostListed) break;
      }
      return found;
    },
    /** False when there is none. @throws FedwayError `STORE_FAILED` */
    unmute: (id: string): Promise<boolean> => mutes.delete(id),
  };
}
