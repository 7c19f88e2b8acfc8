import { createHash } from "node:crypto";
import type { FaultCounts } from "./fault-counts.ts";
import type { Incident, MonitorEvent, Observation } from "./monitor.ts";

/** What is told to webhooks. */
export type IncidentEvent = Extract<MonitorEvent, { readonly incident: Incident }>;

/** An observation with its moment in ISO 8601. */
export interface WebhookObservation extends Omit<Observation, "atMs"> {
  readonly at: string;
}

/** The body of a webhook; moments in ISO 8601. */
export interface WebhookMessage {
  readonly type: "incident.opened" | "incident.closed";
  /** When it was opened or closed. */
  readonly timestamp: string;
  readonly data: {
    readonly id: string;
    readonly state: "open" | "closed";
    readonly endpoint: { readonly id: string; readonly title: string; readonly url: string };
    readonly started: string;
    readonly opened: string;
    readonly closed?: string;
    readonly closedBy?: NonNullable<Incident["closedBy"]>;
    /** Kind of the first fault. */
    readonly fault: Incident["fault"];
    readonly faults: FaultCounts;
    readonly evidence: readonly WebhookObservation[];
    readonly links: { readonly incident: string; readonly endpoint: string; readonly status: string };
  };
}

/** What a message is made from. */
export interface MessageContext {
  /** Title of the endpoint; its id when it is no longer in the catalogue. */
  readonly title: string;
  /** Without a trailing slash. */
  readonly publicUrl: string;
}

const iso = (ms: number): string => new Date(ms).toISOString();

const evidenceOf = ({ atMs, ...rest }: Observation): WebhookObservation => ({ at: iso(atMs), ...rest });

/** The moment of an event: that of the incident's beginning or end. */
export const momentOf = ({ kind, incident }: IncidentEvent): number =>
  kind === "incident-closed" ? (incident.closedMs ?? incident.openedMs) : incident.openedMs;

/** The message of an event; the same for every receiver and every delivery. */
export function webhookMessage(event: IncidentEvent, { title, publicUrl }: MessageContext): WebhookMessage {
  const { incident, kind } = event;
  const { id, endpoint, url, closedMs, closedBy, fault, faults, evidence } = incident;
  return {
    type: kind === "incident-opened" ? "incident.opened" : "incident.closed",
    timestamp: iso(momentOf(event)),
    data: {
      id,
      state: kind === "incident-opened" ? "open" : "closed",
      endpoint: { id: endpoint, title, url },
      started: iso(incident.startedMs),
      opened: iso(incident.openedMs),
      ...(closedMs !== undefined && { closed: iso(closedMs) }),
      ...(closedBy !== undefined && { closedBy }),
      fault,
      faults,
      evidence: evidence.map(evidenceOf),
      links: {
        incident: `${publicUrl}/api/incidents/${encodeURIComponent(id)}`,
        endpoint: `${publicUrl}/endpoints/${encodeURIComponent(endpoint)}`,
        status: `${publicUrl}/status`,
      },
    },
  };
}

/** Names a receiver without its URL, which may hold a key. */
export const receiverOf = (url: string): string => shortHash(url);

const shortHash = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 16);
const mostIdLength = 90;

/** The same for the same event and receiver, whoever tells it and however often; fit for the id of a job. */
export function deliveryId({ kind, incident }: IncidentEvent, receiver: string): string {
  const { id } = incident;
  const name = /^[\w.-]+$/.test(id) && id.length <= mostIdLength ? id : shortHash(id);
  return `${name}.${kind === "incident-opened" ? "opened" : "closed"}.${receiver}`;
}
