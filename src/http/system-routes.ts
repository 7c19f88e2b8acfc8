import { Type } from "typebox";
import { anyOriginHeaders, plainHeaders, sendJson, sendNow, uncached } from "./common-headers.ts";
import type { HttpDeps, HttpShell, TypedApp } from "./http-deps.ts";
import { Readiness } from "./readiness.ts";
import { answersAs, documented } from "./schemas.ts";
import { openToAll } from "./write-access.ts";

const doc = documented("Operation");

const alive: unknown = { 200: Type.Object({ live: Type.Boolean() }) };
const readyOrNot: unknown = { 200: Readiness, 503: Readiness };

/** Of health, for everybody and never behind others. */
const atAllTimes = { config: { role: "none", withoutTurn: true } } as const;

/** Health and metrics: all that a worker answers about. */
export function addHealth(app: TypedApp, { config, ready, metrics }: HttpDeps): void {
  app.get("/health/live", {
    ...atAllTimes,
    schema: { ...doc("getLiveness", "Whether the process answers at all"), response: alive },
    handler: (_request, reply) => sendNow(reply, { live: true }),
  });
  app.get("/health/ready", {
    ...atAllTimes,
    schema: {
      ...doc("getReadiness", "Whether queries can be answered now, with reasons when not"),
      response: readyOrNot,
    },
    handler: (_request, reply) => {
      const readiness = ready();
      return sendNow(reply, readiness, readiness.ready ? 200 : 503);
    },
  });
  // Those who may see the metrics need not be those who may ask.
  if (config.metricsPort !== undefined) return;
  app.get("/metrics", {
    config: { withoutTurn: true },
    schema: { ...doc("getMetrics", "Metrics for Prometheus"), response: answersAs(["text/plain"]) },
    handler: async (_request, reply) => {
      const text = await metrics.render();
      return reply
        .headers({ ...plainHeaders, ...uncached })
        .type(metrics.contentType)
        .send(text);
    },
  });
}

/** Health, metrics and the OpenAPI document. */
export function addSystemRoutes(app: TypedApp, shell: HttpShell): void {
  addHealth(app, shell);
  app.get("/openapi.json", {
    schema: { ...doc("getOpenApi", "This API as an OpenAPI 3.1 document", Type.Object({})) },
    handler: (_request, reply) => sendJson(reply, app.swagger()),
  });
  // Browsers ask for it unbidden; an empty answer keeps the log clean.
  app.get("/favicon.ico", { ...openToAll, schema: { hide: true } }, (_request, reply) =>
    reply.code(204).headers(anyOriginHeaders).send(),
  );
}
