import type { WebhookMessage } from "./webhook-message.ts";

/** Payload of a job that delivers a webhook; shown to readers of jobs, so it names the receiver without its URL. */
export interface DeliveryPayload {
  /** Of the delivery, constant; also of the job. */
  readonly id: string;
  readonly receiver: string;
  readonly message: WebhookMessage;
  /** How often it was asked for again after it had been given up; 0 when absent. */
  readonly round?: number;
}

const isRecord = (value: unknown): value is Readonly<Partial<Record<string, unknown>>> =>
  typeof value === "object" && value !== null;

/** Every part of a message that is read again; the rest is sent as it was kept. */
function isMessage(value: unknown): value is WebhookMessage {
  if (!isRecord(value) || typeof value["type"] !== "string" || typeof value["timestamp"] !== "string") return false;
  const { data } = value;
  if (!isRecord(data) || typeof data["id"] !== "string") return false;
  const { endpoint } = data;
  return isRecord(endpoint) && typeof endpoint["id"] === "string";
}

/** A payload that was kept as JSON; undefined when it is something else. */
export function readDeliveryPayload(value: unknown): DeliveryPayload | undefined {
  if (!isRecord(value)) return undefined;
  const { id, receiver, message, round } = value;
  if (typeof id !== "string" || typeof receiver !== "string" || !isMessage(message)) return undefined;
  return { id, receiver, message, ...(typeof round === "number" && { round }) };
}
