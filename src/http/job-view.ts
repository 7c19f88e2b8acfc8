import type { FastifyReply, FastifyRequest } from "fastify";
import { FedwayError } from "../errors/fedway-error.ts";
import type { Job, JobQueue } from "../jobs/job-queue.ts";
import { sendJson, uncached } from "./common-headers.ts";
import type { HttpDeps } from "./http-deps.ts";
import { firstOf, placeOf } from "./paging.ts";
import { hasAccess } from "./write-access.ts";

/** @throws FedwayError `JOB_UNKNOWN` */
export async function knownJob(jobs: HttpDeps["jobs"], id: string): Promise<Job> {
  const job = await jobs.get(id);
  if (job) return job;
  throw new FedwayError("JOB_UNKNOWN", "The job is not known; finished jobs are kept for a while only.", {
    next: "GET /api/jobs lists all jobs.",
  });
}

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

interface JobFilter extends NonNullable<Parameters<JobQueue["list"]>[0]> {
  readonly cursor?: string | undefined;
}

/** All jobs that a queue has: those that are finished are kept for a while only. */
const mostJobs = 10_000;
const placeOfJob = ({ createdAt, id }: Job) => ({ atMs: Date.parse(createdAt) || 0, id });

/** A page of jobs, newest first. @throws FedwayError `REQUEST_INVALID` */
export async function listedJobs(jobs: HttpDeps["jobs"], { cursor, limit = 100, ...wanted }: JobFilter) {
  const from = cursor === undefined ? undefined : placeOf(cursor);
  const found = await jobs.list({ ...wanted, limit: from === undefined ? limit + 1 : mostJobs });
  return firstOf(from === undefined ? found : behind(found, from), limit, placeOfJob);
}

/** Jobs of one millisecond have an order that only the queue knows; where the job itself is gone, some are given again. */
function behind(found: readonly Job[], { atMs, id }: ReturnType<typeof placeOf>): readonly Job[] {
  const at = found.findIndex((job) => job.id === id);
  return at === -1 ? found.filter((job) => placeOfJob(job).atMs <= atMs) : found.slice(at + 1);
}

/** Points to the job; its work has not been done yet. */
export const sendAccepted = (reply: FastifyReply, job: Job): FastifyReply =>
  sendJson(reply.headers({ ...uncached, Location: `/api/jobs/${job.id}` }), job, 202);
