import { FedwayError } from "../errors/fedway-error.ts";
import { sendNothing, sendNow } from "./common-headers.ts";
import type { HttpShell, TypedApp } from "./http-deps.ts";
import { addJobEvents } from "./job-events.ts";
import { jobView, knownJob, listedJobs, sendAccepted } from "./job-view.ts";
import { knownEntry } from "./registry-routes.ts";
import { accepted, DescribeParameters, JobView, JobFilter, JobList, LinksParameters } from "./registry-schemas.ts";
import { IdPath, JobPath, nothing, documented } from "./schemas.ts";
import { guarded } from "./write-access.ts";

const doc = documented("Jobs");

function addReading(app: TypedApp, { jobs }: HttpShell): void {
  app.get("/api/jobs", {
    schema: { ...doc("listJobs", "List jobs, newest first", JobList), querystring: JobFilter },
    handler: async (request, reply) => {
      const { items, next } = await listedJobs(jobs, request.query);
      return sendNow(reply, { jobs: items.map(jobView(request)), next });
    },
  });
  app.get("/api/jobs/:id", {
    schema: { ...doc("getJob", "Get a job with its progress and result", JobView), params: JobPath },
    handler: async (request, reply) => sendNow(reply, jobView(request)(await knownJob(jobs, request.params.id))),
  });
}

function addAsking(app: TypedApp, shell: HttpShell): void {
  const { descriptions, capabilities, linksets } = shell;
  app.post("/api/endpoints/:id/describe", {
    ...guarded,
    schema: {
      ...doc("describeEndpoint", "Have an endpoint described"),
      params: IdPath,
      querystring: DescribeParameters,
      response: accepted,
    },
    handler: async ({ params: { id }, query: { again, retrieve, ...limits } }, reply) => {
      knownEntry(shell, id);
      const budget = Object.keys(limits).length > 0 && { budget: limits };
      return sendAccepted(reply, await descriptions.request(id, { priority: 1, again, retrieve, ...budget }));
    },
  });
  app.post("/api/endpoints/:id/capabilities", {
    ...guarded,
    schema: {
      ...doc("probeCapabilities", "Have an endpoint's capabilities probed"),
      params: IdPath,
      response: accepted,
    },
    handler: async (request, reply) => {
      const { id } = knownEntry(shell, request.params.id);
      return sendAccepted(reply, await capabilities.request(id));
    },
  });
  app.post("/api/endpoints/:id/linksets", {
    ...guarded,
    schema: {
      ...doc("findLinksets", "Look for links from an endpoint to another one"),
      params: IdPath,
      querystring: LinksParameters,
      response: accepted,
    },
    handler: async (request, reply) => {
      knownEntry(shell, request.params.id);
      knownEntry(shell, request.query.to);
      return sendAccepted(reply, await linksets.request(request.params.id, request.query.to));
    },
  });
}

function addCancelling(app: TypedApp, { jobs }: HttpShell): void {
  app.delete("/api/jobs/:id", {
    ...guarded,
    schema: { ...doc("cancelJob", "Cancel a job"), params: JobPath, response: nothing },
    handler: async (request, reply) => {
      const { id } = request.params;
      if (await jobs.cancel(id)) return sendNothing(reply);
      await knownJob(jobs, id);
      throw new FedwayError("JOB_FINISHED", "Only a job that waits or runs can be cancelled.", {
        next: `GET /api/jobs/${id} gives its result.`,
      });
    },
  });
}

/** Background work: to ask for it, to watch it, to cancel it. */
export function addJobRoutes(app: TypedApp, shell: HttpShell): void {
  addReading(app, shell);
  addJobEvents(app, shell);
  addAsking(app, shell);
  addCancelling(app, shell);
}
