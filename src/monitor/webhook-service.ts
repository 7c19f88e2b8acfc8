import { type ErrorDetails, type FaultKind, FedwayError, toFedwayError } from "../errors/fedway-error.ts";
import { jobKind } from "../jobs/job-kind.ts";
import type { Job, JobContext, JobQueue } from "../jobs/job-queue.ts";
import type { Store } from "../store/store.ts";
import { systemClock, sleep } from "../clock.ts";
import { type Static, Type } from "typebox";
import { type Collection, createCollection } from "../store/collection.ts";
import type { JsonClient } from "../outbound/json-client.ts";
import type { Catalog } from "../registry/catalog.ts";
import type { IncidentNotice } from "./health-record.ts";
import { subjectOf } from "./subjects.ts";
import {
  type Delivery,
  deliverySchema,
  deliveryId,
  receiverOf,
  groupedDelivery,
  webhookMessage,
  withUnsubscribe,
  createWebhookSigner,
  type WebhookSigner,
} from "./webhook-message.ts";

import { createDeadLetters } from "./dead-letters.ts";
import { createMutes } from "./webhook-mutes.ts";

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

interface Context extends WebhookServiceOptions {
  readonly letters: ReturnType<typeof createDeadLetters>;
  readonly waiting: Collection<Delivery>;
  readonly mutes: ReturnType<typeof createMutes>;
  readonly enqueue: (payload: Delivery) => Promise<Job>;
  readonly sign: WebhookSigner | undefined;
  readonly urlsByReceiver: ReadonlyMap<string, string>;
}

/**
 * A service for these URLs.
 * @throws FedwayError `CONFIG_INVALID` when there are URLs and no secret, or a secret that cannot be read
 */
export function createWebhookService(options: WebhookServiceOptions) {
  const { catalog, jobs, publicUrl, secret, urls } = options;
  if (urls.length > 0 && secret === undefined) {
    throw new FedwayError("CONFIG_INVALID", "Webhooks need a secret that their messages are signed with.");
  }
  const letters = createDeadLetters(options);
  const urlsByReceiver = new Map(urls.map((url) => [receiverOf(url), url]));
  const sign = secret === undefined ? undefined : createWebhookSigner(secret);
  const enqueue = (payload: Delivery): Promise<Job> => jobs.enqueue(kindName, payload, { id: payload.id });
  const waiting = createCollection({
    store: options.store,
    prefix: "webhook/waiting/",
    schema: deliverySchema,
    lost: "A message is not sent.",
  });
  const mutes = createMutes(options);
  const context: Context = { ...options, letters, waiting, mutes, enqueue, sign, urlsByReceiver };
  const kind = jobKind(deliverySchema, {
    name: kindName,
    needs: "a webhook's message",
    run: (payload, job) => deliver(payload, job, context),
    concurrency,
    maxAttempts,
  });
  const groupKind = jobKind(groupSchema, {
    name: groupKindName,
    needs: "a receiver and a moment",
    run: (payload, job) => sendGroup(payload, job, context),
    concurrency,
    maxAttempts,
  });
  const send = async (payload: Delivery): Promise<void> => {
    const { groupMs = 0, clock } = options;
    if (groupMs === 0) return void (await enqueue(payload));
    await waiting.put(`${payload.receiver}/${payload.id}`, payload);
    // The window is that of a moment after the message was written, so that the job finds it.
    const untilMs = (Math.floor(clock.now() / groupMs) + 1) * groupMs + lateMs;
    const { receiver } = payload;
    await jobs.enqueue(groupKindName, { receiver, untilMs }, { id: `group.${untilMs.toString(36)}.${receiver}` });
  };
  return {
    /** Receivers' endpoints whose messages are not wanted. */
    mutes,
    /** The job that delivers; to be started with the queue also when there are no URLs, as old jobs may be there. */
    kinds: [kind, groupKind],
    /** Enqueues one delivery per URL, under the same ids when it is called again. @throws FedwayError `STORE_FAILED` */
    async tell(event: IncidentNotice): Promise<void> {
      const message = webhookMessage(event, { entryOf: (id) => catalog.byId(id), publicUrl });
      const { endpoint } = event.incident;
      const isNetwork = subjectOf(event.incident).kind === "network";
      for (const receiver of urlsByReceiver.keys()) {
        if (await mutes.isMuted(receiver, endpoint)) continue;
        const unsubscribe = isNetwork ? undefined : mutes.link(receiver, endpoint);
        const addressed = withUnsubscribe(message, unsubscribe);
        await send({ id: deliveryId(event, receiver), receiver, about: endpoint, message: addressed });
      }
    },
    /** Messages given up, newest first. @throws FedwayError `STORE_FAILED` */
    dead: () => letters.list(),
    /** Sends a message that was given up again, under the same id; undefined when it is not there. @throws FedwayError `STORE_FAILED` */
    async redeliver(id: string): Promise<Job | undefined> {
      const payload = await letters.payload(id);
      return payload && enqueue({ ...payload, round: (payload.round ?? 0) + 1 });
    },
  };
}

const groupSchema = Type.Object({ receiver: Type.String(), untilMs: Type.Number() });

/** Waits for the end of the window, and enqueues waiting messages as few deliveries; a repetition finds the rest. */
async function sendGroup(
  { receiver, untilMs }: Static<typeof groupSchema>,
  job: JobContext,
  { waiting, mutes, enqueue, clock, pause: wait = pausing }: Context,
): Promise<object> {
  const leftMs = untilMs - clock.now();
  if (leftMs > 0) await wait(Math.min(leftMs, longestWindowMs), job.signal);
  job.signal.throwIfAborted();
  let sent = 0;
  const found: (readonly [string, Delivery])[] = [];
  for await (const [id, payload] of waiting.entries(`${receiver}/`)) {
    // It may have been muted while it waited.
    if (await mutes.isMuted(receiver, payload.about ?? "")) await waiting.delete(id);
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
  readonly details: Pick<ErrorDetails, "upstreamStatus" | "retryAfterMs" | "fault">;
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
  const { letters, pause: wait = pausing } = context;
  for (const ms of retryMs) {
    try {
      await letters.remove(id);
      return;
    } catch {
      await wait(ms, signal);
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
    const { status, retryAfterMs } = await send({ url, headers, body, signal: job.signal, timeoutMs });
    const details = { upstreamStatus: status, ...(retryAfterMs !== undefined && { retryAfterMs }) };
    const refused = status < 500 && status !== 408 && status !== 429;
    return { status, details, text: `The receiver answered ${status}.`, refused };
  } catch (thrown) {
    if (job.signal.aborted) throw thrown;
    // Neither message nor cause is handed on: both may name the receiver.
    const { code, details } = toFedwayError(thrown);
    const { fault } = details;
    const refused = code === "ADDRESS_REFUSED";
    const text = refused ? "The receiver's address is not allowed." : `The receiver did not answer${because(fault)}.`;
    return { details: fault === undefined ? {} : { fault }, text, refused };
  }
}

const because = (fault: FaultKind | undefined): string => (fault === undefined ? "" : ` (${fault})`);
