import type { FastifyReply } from "fastify";
import { anyOriginHeaders, plainHeaders } from "./common-headers.ts";

/** Answers with JSON that any origin may read; on guarded routes none. */
export function sendJson(reply: FastifyReply, value: unknown, status = 200): FastifyReply {
  const isGuarded = reply.request.routeOptions.config?.guarded === true;
  const headers = isGuarded ? plainHeaders : anyOriginHeaders;
  return reply.code(status).headers(headers).type("application/json").send(value);
}
