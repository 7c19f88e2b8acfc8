import { FedwayError } from "../errors/fedway-error.ts";
import { sendJson, sendNothing, uncached } from "./common-headers.ts";
import type { HttpShell, TypedApp } from "./http-deps.ts";
import { addJobEvents } from "./job-events.ts";
import { jobView, listedJobs, sendAccepted } from "./job-view.ts";
import { knownEntry } from "./registry-routes.ts";
import { accepted, DescribeParameters, Job, JobFilter, JobList, LinksParameters } from "./registry-schemas.ts";
import { answers, IdPath, JobPath, nothing, documented } from "./schemas.ts";
import { guarded } from "./write-access.ts";

const doc = documented("Jobs");

const unknownJob = (): FedwayError =>
  new FedwayError("JOB_UNKNOWN", "The job is not known; finished jobs are kept for a while only.", {
    next: "GET /api/jobs lists all jobs.",
  });

function addReading(app: TypedApp, { jobs }: HttpShell): void {
  app.get("/api/jobs", {
    schema: { ...doc("listJobs", "List jobs, newest first"), querystring: JobFilter, response: answers(JobList) },
    handler: async (request, reply) => {
      const { items, next } = await listedJobs(jobs, request.query);
      return sendJson(reply.headers(uncached), { jobs: items.map(jobView(request)), next });
    },
  });
  app.get("/api/jobs/:id", {
    schema: { ...doc("getJob", "Get a job with its progress and result"), params: JobPath, response: answers(Job) },
    handler: async (request, reply) => {
      const job = await jobs.get(request.params.id);
      if (job) return sendJson(reply.headers(uncached), jobView(request)(job));
      throw unknownJob();
    },
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
    handler: async (request, reply) => {
      const { id } = request.params;
      const { again, retrieve, ...budget } = request.query;
      knownEntry(shell, id);
      return sendAccepted(
        reply,
        await descriptions.request(id, {
          priority: 1,
          again,
          retrieve,
          ...(Object.keys(budget).length > 0 && { budget }),
        }),
      );
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
      const { id } = request.params;
      knownEntry(shell, id);
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
      if ((await jobs.get(id)) === undefined) throw unknownJob();
      throw new FedwayError("JOB_FINISHED", "Only a job that waits or runs can be cancelled.", {
        next: `GET /api/jobs/${id} gives its result.`,
      });
    },
  });
}

/** Background work: to ask for it, to watch it, to cancel it. */
export function addJobRoutes(app: TypedApp, shell: HttpShell): void {
  addReading(app, shell);
  addJobEvents(app, shell, unknownJob);
  addAsking(app, shell);
  addCancelling(app, shell);
}
