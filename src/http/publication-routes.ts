import { Type } from "typebox";
import { FedwayError } from "../errors/fedway-error.ts";
import { incidentFeed } from "./atom-feed.ts";
import { anyOriginHeaders, keptFor, sendNothing, sendNow } from "./common-headers.ts";
import type { HttpShell, TypedApp } from "./http-deps.ts";
import { sendAccepted } from "./job-view.ts";
import { DeadLetters, MutedMessages, SnapshotParameters } from "./monitor-schemas.ts";
import { accepted } from "./registry-schemas.ts";
import { answersAs, IdPath, JobPath, nothing, documented } from "./schemas.ts";
import { adminOnly, guarded } from "./write-access.ts";

const doc = documented("Availability");
const feedPath = "/incidents.atom";
const mostIncidents = 100;

function addFeed(app: TypedApp, { monitor, catalog, publicUrl, config }: HttpShell): void {
  const begunMs = Date.now();
  app.get(feedPath, {
    schema: { ...doc("getIncidentFeed", "Incidents as an Atom feed"), response: answersAs(["application/atom+xml"]) },
    handler: async (_request, reply) => {
      const incidents = await monitor.incidents({ limit: mostIncidents });
      const { entries } = catalog;
      const feed = incidentFeed({ incidents, entries, publicUrl: publicUrl(), path: feedPath, updatedMs: begunMs });
      return reply
        .headers({ ...anyOriginHeaders, ...keptFor(60, config) })
        .type("application/atom+xml; charset=utf-8")
        .send(feed);
    },
  });
}

function addSnapshot(app: TypedApp, { publishSnapshot }: HttpShell): void {
  app.post("/api/snapshot", {
    ...guarded,
    schema: {
      ...doc(
        "publishSnapshot",
        "Publish a snapshot of all endpoints; one that has lost much since the last one is refused",
        Type.Any(),
      ),
      querystring: SnapshotParameters,
    },
    handler: async (request, reply) => {
      const snapshot = await publishSnapshot({ reviewed: request.query.reviewed ?? false });
      return sendNow(reply, snapshot);
    },
  });
}

function addDeadLetters(app: TypedApp, { webhooks }: HttpShell): void {
  // Who is notified of incidents is the operator's business, so reading asks for the token too.
  app.get("/api/webhooks/dead", {
    ...adminOnly,
    schema: { ...doc("listDeadMessages", "List messages that no receiver took", DeadLetters) },
    handler: async (_request, reply) => sendNow(reply, { dead: await webhooks.dead() }),
  });
  app.post("/api/webhooks/dead/:id", {
    ...adminOnly,
    schema: {
      ...doc("resendMessage", "Send a message again that no receiver took"),
      params: JobPath,
      response: accepted,
    },
    handler: async (request, reply) => {
      const job = await webhooks.redeliver(request.params.id);
      if (job === undefined) {
        throw new FedwayError("NOT_FOUND", "There is no such message.", { next: "GET /api/webhooks/dead lists them." });
      }
      return sendAccepted(reply, job);
    },
  });
}

function addMutes(app: TypedApp, { webhooks }: HttpShell): void {
  app.get("/api/webhooks/muted", {
    ...adminOnly,
    schema: { ...doc("listMutedMessages", "List endpoints that receivers want no messages of", MutedMessages) },
    handler: async (_request, reply) => sendNow(reply, { muted: await webhooks.mutes.list() }),
  });
  app.delete("/api/webhooks/muted/:id", {
    ...adminOnly,
    schema: {
      ...doc("unmuteMessages", "Send messages about an endpoint to a receiver again"),
      params: IdPath,
      response: nothing,
    },
    handler: async (request, reply) => {
      if (await webhooks.mutes.unmute(request.params.id)) return sendNothing(reply);
      throw new FedwayError("NOT_FOUND", "These messages are not muted.", {
        next: "GET /api/webhooks/muted lists those that are.",
      });
    },
  });
}

/** Publications about endpoints: the feed, snapshots, messages that were given up. */
export function addPublicationRoutes(app: TypedApp, shell: HttpShell): void {
  addFeed(app, shell);
  addSnapshot(app, shell);
  addDeadLetters(app, shell);
  addMutes(app, shell);
}
