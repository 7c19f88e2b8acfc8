import { type Static, Type } from "typebox";
import { createHash, createHmac } from "node:crypto";
import { type IncidentNotice, noticedMs } from "../health-record.ts";
import type { Incident, Observation } from "../monitor.ts";
import { kindOf, subjectOf } from "../subjects.ts";
import { FedwayError } from "../../errors/fedway-error.ts";
import { itemAt } from "../../values.ts";

interface MessageContext {
  /** The catalogue's entry of an endpoint; undefined when it is no longer there. */
  readonly entryOf: (id: string) => { readonly title: string; readonly url: string } | undefined;
  /** Without a trailing slash. */
  readonly publicUrl: string;
  /** Link at which the receiver stops messages of this subject. */
  readonly unsubscribe?: string | undefined;
}

const iso = (ms: number): string => new Date(ms).toISOString();

const evidenceOf = ({ atMs, ...rest }: Observation) => ({ at: iso(atMs), ...rest });

/** The body of a webhook; moments in ISO 8601. */
type WebhookMessage = ReturnType<typeof webhookMessage>;

/** The message of an event; the same for every delivery. */
export function webhookMessage(event: IncidentNotice, { entryOf, publicUrl, unsubscribe }: MessageContext) {
  const { incident, kind } = event;
  const { id, closedMs, closedBy, fault, faults, evidence } = incident;
  const about = aboutOf(incident, entryOf);
  return {
    type: kind.replace("-", "."),
    timestamp: iso(noticedMs(event)),
    data: {
      id,
      state: closedMs === undefined ? "open" : "closed",
      ...about,
      started: iso(incident.startedMs),
      opened: iso(incident.openedMs),
      reopened: incident.reopenedMs === undefined ? undefined : iso(incident.reopenedMs),
      closed: closedMs === undefined ? undefined : iso(closedMs),
      closedBy,
      kind: kindOf(incident),
      summary: incident.summary,
      notes: incident.notes,
      repair: incident.repair,
      fault,
      faults,
      evidence: evidence.map(evidenceOf),
      links: {
        incident: `${publicUrl}/api/incidents/${encodeURIComponent(id)}`,
        endpoint: about.endpoint && `${publicUrl}/endpoints/${encodeURIComponent(about.endpoint.id)}`,
        status: `${publicUrl}/status`,
        unsubscribe,
      },
    },
  };
}

/** Subject of the incident: an endpoint, a host with those of its endpoints that failed alike, or the network. */
function aboutOf(incident: Incident, entryOf: MessageContext["entryOf"]) {
  const subject = subjectOf(incident);
  const { endpoint: id, endpoints = [], url } = incident;
  if (subject.kind === "endpoint") {
    return { subject: subject.kind, endpoint: { id, title: entryOf(id)?.title ?? id, url } };
  }
  if (subject.kind === "network") return { subject: subject.kind };
  const named = endpoints.map((each) => ({ id: each, title: entryOf(each)?.title ?? each, url: entryOf(each)?.url }));
  return { subject: subject.kind, host: subject.host, endpoints: named };
}

/** One delivery of several, in the order of their times; links lead to the evidence. */
export function groupedDelivery(deliveries: readonly Delivery[], receiver: string): Delivery {
  const ordered = deliveries.toSorted((left, right) => (left.message.timestamp < right.message.timestamp ? -1 : 1));
  const id = `group-${shortHash(JSON.stringify(deliveries.map((each) => each.id).toSorted()))}.${receiver}`;
  const incidents = ordered.map(({ message: { type, timestamp, data } }) => ({
    type,
    timestamp,
    ...data,
    evidence: undefined,
  }));
  const { timestamp } = itemAt(ordered, ordered.length - 1).message;
  return { id, receiver, message: { type: "incidents", timestamp, data: { id, incidents } } };
}

/** Names a receiver without its URL, which may hold a key. */
export const receiverOf = (url: string): string => shortHash(url);

const shortHash = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 16);
const mostIdLength = 90;

/** The same for the same event and receiver, in every process and every time; fit for the id of a job. */
export function deliveryId({ kind, incident, atMs }: IncidentNotice, receiver: string): string {
  const { id } = incident;
  const name = /^[\w.-]+$/.test(id) && id.length <= mostIdLength ? id : shortHash(id);
  const what = kind.slice("incident-".length);
  return `${name}.${what}${atMs === undefined ? "" : `-${atMs.toString(36)}`}.${receiver}`;
}

interface GroupMessage {
  readonly type: "incidents";
  readonly timestamp: string;
  readonly data: { readonly id: string; readonly incidents: readonly object[]; readonly endpoint?: undefined };
}

/** The parts of a message that are read again; the rest is sent as it was kept. */
const messageSchema = Type.Unsafe<WebhookMessage | GroupMessage>(
  Type.Object({
    type: Type.String(),
    timestamp: Type.String(),
    data: Type.Object({ id: Type.String(), endpoint: Type.Optional(Type.Object({ id: Type.String() })) }),
  }),
);

/** Payload of a job that delivers a webhook; shown to readers of jobs, so it names the receiver without its URL. */
export const deliverySchema = Type.Object({
  /** Id of the delivery and of its job; the same at every try. */
  id: Type.String(),
  receiver: Type.String(),
  /** Id of the endpoint, or what stands for a host or the network in its place; of a group, absent. */
  about: Type.Optional(Type.String()),
  message: messageSchema,
  /** How often it was asked for again after it had been given up; 0 when absent. */
  round: Type.Optional(Type.Number()),
});

export type Delivery = Readonly<Static<typeof deliverySchema>>;

/** Signed parts of a message. */
interface SignedMessage {
  readonly id: string;
  /** Seconds since the epoch, of this delivery. */
  readonly timestampS: number;
  readonly body: string;
}

/** Makes the headers of one delivery. */
export type WebhookSigner = (message: SignedMessage) => Readonly<Record<string, string>>;

const base64 =
  /^(?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$|^[A-Za-z0-9+/]{2}==$|^[A-Za-z0-9+/]{3}=$/;
const prefix = "whsec_";

/** A secret with the prefix is Base64, as the specification has it; any other is taken as the text that it is. */
function keyOf(secret: string): Buffer {
  if (!secret.startsWith(prefix)) return Buffer.from(secret, "utf8");
  const encoded = secret.slice(prefix.length);
  if (base64.test(encoded)) return Buffer.from(encoded, "base64");
  throw new FedwayError("CONFIG_INVALID", `FEDWAY_WEBHOOK_SECRET begins with ${prefix} but is not Base64 after that.`);
}

/**
 * Signs as Standard Webhooks (version 1, symmetric): `v1,` and the Base64 of the HMAC-SHA-256 of `id.timestamp.body`.
 * @throws FedwayError `CONFIG_INVALID` for a secret that cannot be read
 */
export function createWebhookSigner(secret: string): WebhookSigner {
  const key = keyOf(secret);
  return ({ id, timestampS, body }) => ({
    "webhook-id": id,
    "webhook-timestamp": String(timestampS),
    "webhook-signature": `v1,${createHmac("sha256", key).update(`${id}.${timestampS}.${body}`).digest("base64")}`,
  });
}
