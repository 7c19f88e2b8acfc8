import type { FastifyInstance, FastifyRequest } from "fastify";
import { FedwayError } from "../errors/fedway-error.ts";

/** Share of the budget that one client may have. */
const clientShare = 0.25;
const retryAfterMs = 2_000;
/** Bodies up to this share of the budget are not counted: on all connections together they fit. */
const smallShare = 1 / 16_384;

/**
 * Bounds the bytes of request bodies that are under way, of the whole process and of each client. Received bytes count until
 * their request is answered, whatever route it is for. A body that no longer fits is refused with 503 and `Retry-After`.
 */
export function addBodyBudget(app: FastifyInstance, maxBytes: number): void {
  const mostOfClient = maxBytes * clientShare;
  // Only clients that are sending have an entry.
  const clients = new Map<string, number>();
  let total = 0;

  const lacksRoom = (owner: string, bytes: number): boolean =>
    total + bytes > maxBytes || (clients.get(owner) ?? 0) + bytes > mostOfClient;
  const add = (owner: string, bytes: number): void => {
    const held = (clients.get(owner) ?? 0) + bytes;
    total += bytes;
    if (held > 0) clients.set(owner, held);
    else clients.delete(owner);
  };

  app.addHook("preParsing", (request, reply, payload, done) => {
    const announced = announcedBytes(request);
    if (announced > 0 && announced <= maxBytes * smallShare) {
      done(null, payload);
      return;
    }
    const { owner } = request.caller;
    // One that can never fit is too large for its route as well, which says so.
    if (announced <= mostOfClient && lacksRoom(owner, announced)) {
      reply.raw.setHeader("Connection", "close");
      done(noRoom());
      return;
    }
    let received = 0;
    const count = (chunk: Buffer): void => {
      // Whoever read the body has left it: what still comes is dropped, and an error would have no listener.
      if (payload.listenerCount("error") === 0) {
        payload.off("data", count);
        return;
      }
      received += chunk.length;
      add(owner, chunk.length);
      if (!lacksRoom(owner, 0)) return;
      payload.off("data", count);
      if (!reply.raw.headersSent) reply.raw.setHeader("Connection", "close");
      payload.emit("error", noRoom());
    };
    payload.on("data", count);
    reply.raw.once("close", () => {
      payload.off("data", count);
      add(owner, -received);
    });
    done(null, payload);
  });
}

const announcedBytes = ({ headers }: FastifyRequest): number => Number(headers["content-length"] ?? 0) || 0;

const noRoom = (): FedwayError =>
  new FedwayError("SERVICE_BUSY", "Too many bytes of request bodies are under way.", {
    retryAfterMs,
    next: "Send the request again in a few seconds, or send fewer at once.",
  });
