import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { listening } from "./listening.ts";

/** A message that arrived. */
export interface ReceivedMessage {
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
  /** Its signature is that of its id, timestamp and body. */
  readonly authentic: boolean;
}

/** How one message is answered. */
export type Reaction = (response: ServerResponse, request: IncomingMessage) => void;

export const status =
  (code: number, headers: Readonly<Record<string, string>> = {}): Reaction =>
  (response) =>
    void response.writeHead(code, headers).end("a few words");

/** Never answers. */
export const hang: Reaction = () => {};

/** Breaks the connection. */
export const reset: Reaction = (_, request) => void request.socket.resetAndDestroy();

const isSigned = ({ headers }: IncomingMessage, body: string, key: string): boolean => {
  const signed = `${String(headers["webhook-id"])}.${String(headers["webhook-timestamp"])}.${body}`;
  const expected = Buffer.from(`v1,${createHmac("sha256", key).update(signed).digest("base64")}`);
  const given = Buffer.from(String(headers["webhook-signature"]));
  return given.length === expected.length && timingSafeEqual(given, expected);
};

export type WebhookReceiver = Awaited<ReturnType<typeof startWebhookReceiver>>;

/**
 * A receiver of Standard Webhooks on a free port of 127.0.0.1.
 * @param key the secret as the HMAC takes it
 */
export async function startWebhookReceiver(key: string) {
  const received: ReceivedMessage[] = [];
  const next: Reaction[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("error", () => {});
    request.on("end", () => {
      const body = Buffer.concat(chunks).toString();
      const { headers, url = "" } = request;
      received.push({ path: url, headers, body, authentic: isSigned(request, body, key) });
      (next.shift() ?? status(204))(response, request);
    });
  });
  const listener = await listening(server);
  return {
    origin: listener.origin,
    received: received as readonly ReceivedMessage[],
    /** Answers to the next messages, in order; 204 when there are none left. */
    react: (...reactions: readonly Reaction[]): void => void next.push(...reactions),
    close: listener.close,
  };
}
