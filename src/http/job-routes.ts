import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type { FastifyInstance } from "fastify";
import { FedwayError } from "../errors/fedway-error.ts";
import { answers } from "./api-routes.ts";
import { sendJson, plainHeaders } from "./common-headers.ts";
import type { HttpDeps } from "./http-deps.ts";
import { addJobEvents } from "./job-events.ts";
import { jobView, sendAccepted } from "./job-view.ts";
import { knownEntry } from "./registry-routes.ts";
import { DescribeParameters, Job, JobFilter, JobList, LinksParameters } from "./registry-schemas.ts";
import { IdPath, Problem } from "./schemas.ts";
import { guarded } from "./write-access.ts";

const tags = ["Jobs"];

const unknownJob = (): FedwayError =>
  new FedwayError("JOB_UNKNOWN", "The job is not known; finished jobs are kept for a while only.", {
    next: "GET /api/jobs lists all jobs.",
  });

function addReading(untyped: FastifyInstance, { jobs, config }: HttpDeps): void {
  const app = untyped.withTypeProvider<TypeBoxTypeProvider>();
  app.get("/api/jobs", {
    schema: { tags, summary: "List jobs, newest first", querystring: JobFilter, response: answers(JobList) },
    handler: async (request, reply) => {
      const found = await jobs.list(request.query);
      return sendJson(reply.header("Cache-Control", "no-store"), { jobs: found.map(jobView(request, config)) });
    },
  });
  app.get("/api/jobs/:id", {
    schema: { tags, summary: "Get a job with its progress and result", params: IdPath, response: answers(Job) },
    handler: async (request, reply) => {
      const job = await jobs.get(request.params.id);
      if (job) return sendJson(reply.header("Cache-Control", "no-store"), jobView(request, config)(job));
      throw unknownJob();
    },
  });
}

function addAsking(untyped: FastifyInstance, deps: HttpDeps): void {
  const app = untyped.withTypeProvider<TypeBoxTypeProvider>();
  const { jobs, descriptions, capabilities, linksets } = deps;
  const response = { 202: Job, "4xx": Problem, "5xx": Problem };
  app.post("/api/endpoints/:id/describe", {
    ...guarded,
    schema: { tags, summary: "Have an endpoint described", params: IdPath, querystring: DescribeParameters, response },
    handler: async (request, reply) => {
      const { id } = request.params;
      knownEntry(deps, id);
      return sendAccepted(reply, await descriptions.request(id, { priority: 1, again: request.query.again ?? false }));
    },
  });
  app.post("/api/endpoints/:id/capabilities", {
    ...guarded,
    schema: { tags, summary: "Have an endpoint's capabilities probed", params: IdPath, response },
    handler: async (request, reply) => {
      const { id } = request.params;
      knownEntry(deps, id);
      return sendAccepted(reply, await capabilities.request(id));
    },
  });
  app.post("/api/endpoints/:id/linksets", {
    ...guarded,
    schema: {
      tags,
      summary: "Look for links from an endpoint to another one",
      params: IdPath,
      querystring: LinksParameters,
      response,
    },
    handler: async (request, reply) => {
      knownEntry(deps, request.params.id);
      knownEntry(deps, request.query.to);
      return sendAccepted(reply, await linksets.request(request.params.id, request.query.to));
    },
  });
  app.delete("/api/jobs/:id", {
    ...guarded,
    schema: { tags, summary: "Cancel a job", params: IdPath },
    handler: async (request, reply) => {
      const { id } = request.params;
      if (await jobs.cancel(id)) return reply.code(204).headers(plainHeaders).send();
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
