import type { FastifyRequest } from "fastify";
import type { Static } from "typebox";
import { FedwayError } from "../errors/fedway-error.ts";
import type { Job } from "../jobs/job-queue.ts";
import type { HttpShell, TypedApp } from "./http-deps.ts";
import { addJobEvents } from "./job-events.ts";
import { jobView, knownJob, listedJobs } from "./job-view.ts";
import { knownEntry } from "./registry-routes.ts";
import { DescribeParameters, JobView, JobFilter, LinksParameters } from "./registry-schemas.ts";
import { resource } from "./resource.ts";
import { IdPath, JobPath } from "./schemas.ts";

/** Background work: to ask for it, to watch it, and to cancel it. */
export function addJobRoutes(app: TypedApp, shell: HttpShell): void {
  const { jobs } = shell;
  const show = (job: Job, request: FastifyRequest) => jobView(request)(job);
  const routes = resource(app, "jobs", { heading: "Jobs", params: JobPath, view: JobView, filter: JobFilter, show });
  routes.list("List jobs, newest first", ({ query }) => listedJobs(jobs, query));
  routes.get("Get a job with its progress and result", (id) => knownJob(jobs, id));
  routes.remove("cancel", "Cancel a job", async (id) => {
    if (await jobs.cancel(id)) return;
    await knownJob(jobs, id);
    throw new FedwayError("JOB_FINISHED", "Only a job that waits or runs can be cancelled.", {
      next: `GET /api/jobs/${id} gives its result.`,
    });
  });
  addJobEvents(app, shell);
  addEndpointJobs(app, shell);
}

/** Work on an endpoint. */
function addEndpointJobs(app: TypedApp, shell: HttpShell): void {
  const { descriptions, capabilities, linksets } = shell;
  const idOf = (id: string): string => knownEntry(shell, id).id;
  const show = (job: Job) => job;
  const routes = resource(app, "endpoints", { heading: "Jobs", params: IdPath, view: JobView, show });
  const describe = async (id: string, { again, retrieve, ...limits }: Static<typeof DescribeParameters>) => {
    const budget = Object.keys(limits).length > 0 && { budget: limits };
    return descriptions.request(idOf(id), { priority: 1, again, retrieve, ...budget });
  };
  routes.job(["describe"], "Have an endpoint described", (id, { query }) => describe(id, query), DescribeParameters);
  routes.job(["capabilities", "probeCapabilities"], "Have an endpoint's capabilities probed", async (id) =>
    capabilities.request(idOf(id)),
  );
  routes.job(
    ["linksets", "findLinksets"],
    "Look for links from an endpoint to another one",
    async (id, { query }) => linksets.request(idOf(id), idOf(query.to)),
    LinksParameters,
  );
}
