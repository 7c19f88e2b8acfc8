import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type { FastifyInstance, FastifyReply } from "fastify";
import { FedwayError } from "../errors/fedway-error.ts";
import type { Job as JobRecord } from "../jobs/job-queue.ts";
import { answers, sendJson } from "./api-routes.ts";
import type { HttpDeps } from "./http-deps.ts";
import { addJobEvents } from "./job-events.ts";
import { knownEntry } from "./registry-routes.ts";
import { DescribeWish, Job, JobFilter, JobList, LinksWish } from "./registry-schemas.ts";
import { IdPath, Problem } from "./schemas.ts";
import { guarded, requireWriteAccess } from "./write-access.ts";

const tags = ["Jobs"];

const unknownJob = (): FedwayError =>
  new FedwayError("JOB_UNKNOWN", "The job is not known; finished jobs are kept for a while only.", {
    next: "GET /api/jobs lists all jobs.",
  });

/** Where to look for the job that was asked for; the work has not been done yet. */
const accepted = (reply: FastifyReply, job: JobRecord): FastifyReply =>
  reply.code(202).header("Location", `/api/jobs/${job.id}`).header("Cache-Control", "no-store").send(job);

function addReading(untyped: FastifyInstance, { jobs }: HttpDeps): void {
  const app = untyped.withTypeProvider<TypeBoxTypeProvider>();
  app.get("/api/jobs", {
    schema: { tags, summary: "List jobs, newest first", querystring: JobFilter, response: answers(JobList) },
    handler: async (request, reply) =>
      sendJson(reply.header("Cache-Control", "no-store"), { jobs: await jobs.list(request.query as object) }),
  });
  app.get("/api/jobs/:id", {
    schema: { tags, summary: "Get a job with its progress and result", params: IdPath, response: answers(Job) },
    handler: async (request, reply) => {
      const job = await jobs.get(request.params.id);
      if (job) return sendJson(reply.header("Cache-Control", "no-store"), job);
      throw unknownJob();
    },
  });
}

function addAsking(untyped: FastifyInstance, deps: HttpDeps): void {
  const app = untyped.withTypeProvider<TypeBoxTypeProvider>();
  const { jobs, descriptions, capabilities, linksets } = deps;
  const onRequest = requireWriteAccess(deps);
  const response = { 202: Job, "4xx": Problem, "5xx": Problem };
  app.post("/api/endpoints/:id/describe", {
    ...guarded,
    onRequest,
    schema: { tags, summary: "Have an endpoint described", params: IdPath, querystring: DescribeWish, response },
    handler: async (request, reply) => {
      const { id } = request.params;
      knownEntry(deps, id);
      return accepted(reply, await descriptions.request(id, { priority: 1, again: request.query.again ?? false }));
    },
  });
  app.post("/api/endpoints/:id/capabilities", {
    ...guarded,
    onRequest,
    schema: { tags, summary: "Have an endpoint's capabilities probed", params: IdPath, response },
    handler: async (request, reply) => {
      const { id } = request.params;
      knownEntry(deps, id);
      return accepted(reply, await capabilities.request(id));
    },
  });
  app.post("/api/endpoints/:id/linksets", {
    ...guarded,
    onRequest,
    schema: {
      tags,
      summary: "Look for links from an endpoint to another one",
      params: IdPath,
      querystring: LinksWish,
      response,
    },
    handler: async (request, reply) => {
      knownEntry(deps, request.params.id);
      knownEntry(deps, request.query.to);
      return accepted(reply, await linksets.request(request.params.id, request.query.to));
    },
  });
  app.delete("/api/jobs/:id", {
    ...guarded,
    onRequest,
    schema: { tags, summary: "Cancel a job", params: IdPath },
    handler: async (request, reply) => {
      const { id } = request.params;
      if (await jobs.cancel(id)) return reply.code(204).send();
      if ((await jobs.get(id)) === undefined) throw unknownJob();
      throw new FedwayError("REQUEST_INVALID", "The job is finished already.");
    },
  });
}

/** Background work: to ask for it, to watch it, to cancel it. */
export function addJobRoutes(app: FastifyInstance, deps: HttpDeps): void {
  addReading(app, deps);
  addJobEvents(app, deps, unknownJob);
  addAsking(app, deps);
}
