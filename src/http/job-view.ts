import type { FastifyReply, FastifyRequest } from "fastify";
import type { Job } from "../jobs/job-queue.ts";
import { sendJson, uncached } from "./common-headers.ts";
import type { HttpSettings } from "./http-deps.ts";
import { hasAccess } from "./write-access.ts";

/** What these were asked and found, anybody may read; that of other kinds, such as messages to webhooks, the operator. */
const openKinds: ReadonlySet<string> = new Set([
  "build-shards",
  "describe-endpoint",
  "find-linksets",
  "gather-slice",
  "gather-slices",
  "probe-capabilities",
  "probe-due-capabilities",
  "verify-shards",
]);

/** A job as it is shown to whom the operator has not given the token. */
function publicView(job: Job): Omit<Job, "payload"> {
  if (openKinds.has(job.kind)) return job;
  const { payload: _hidden, result: _alsoHidden, ...shown } = job;
  return shown;
}

/** How jobs are shown to the sender of a request. */
export const jobView = (request: FastifyRequest, config: HttpSettings): ((job: Job) => Omit<Job, "payload">) =>
  hasAccess(request, config) ? (job) => job : publicView;

/** Tells where to look for the job that was asked for; the work has not been done yet. */
export const sendAccepted = (reply: FastifyReply, job: Job): FastifyReply =>
  sendJson(reply.headers({ ...uncached, Location: `/api/jobs/${job.id}` }), job, 202);
