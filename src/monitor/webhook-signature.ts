import { createHmac } from "node:crypto";
import { FedwayError } from "../errors/fedway-error.ts";

/** What is signed. */
export interface SignedMessage {
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
