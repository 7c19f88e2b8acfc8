import type { FastifyReply, FastifyRequest } from "fastify";
import type { Job } from "../jobs/job-queue.ts";
import { sendJson, uncached } from "./common-headers.ts";
import { hasAccess } from "./write-access.ts";

/** A job as everybody may see it. What it was asked, how far it is, what it found or failed with, only the operator sees. */
const publicView = ({ id, kind, state, attempts, createdAt, startedAt, finishedAt }: Job): Partial<Job> => ({
  id,
  kind,
  state,
  attempts,
  createdAt,
  startedAt,
  finishedAt,
});

/** How jobs are shown to the sender of a request. */
export const jobView = (request: FastifyRequest): ((job: Job) => Partial<Job>) =>
  hasAccess(request) ? (job) => job : publicView;

/** Tells where to look for the job that was asked for; the work has not been done yet. */
export const sendAccepted = (reply: FastifyReply, job: Job): FastifyReply =>
  sendJson(reply.headers({ ...uncached, Location: `/api/jobs/${job.id}` }), job, 202);
