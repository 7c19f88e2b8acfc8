import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { FedwayError } from "../errors/fedway-error.ts";
import type { Job } from "../jobs/job-queue.ts";
import { anyOriginHeaders } from "./common-headers.ts";
import type { HttpDeps } from "./http-deps.ts";
import { IdPath } from "./schemas.ts";

/** Bounds of the event streams. */
const limits = {
  /** Streams open at once. */
  streams: 500,
  /** A comment is sent when nothing else was, so that proxies keep the connection. */
  quietMs: 15_000,
  /** What browsers wait before they connect again. */
  retryMs: 2_000,
  /** Not taken by the client; one that lags behind gets the latest state only. */
  pendingBytes: 65_536,
};

const isOver = ({ state }: Job): boolean => state === "done" || state === "failed" || state === "cancelled";

/** One event (HTML Living Standard, 9.2.6). JSON has no line breaks of its own. */
const event = (name: string, job: Job): string => `event: ${name}\ndata: ${JSON.stringify(job)}\n\n`;

/** One open stream; `end` may be called at any time and more than once. */
interface Stream {
  send(job: Job): void;
  end(): void;
}

function openStream(reply: FastifyReply, onEnd: () => void): Stream {
  const { raw } = reply;
  reply.hijack();
  raw.writeHead(200, {
    ...anyOriginHeaders,
    "Content-Type": "text/event-stream",
    "Cache-Control": "no-store",
    // Proxies that gather answers would hold events back.
    "X-Accel-Buffering": "no",
  });
  raw.write(`retry: ${limits.retryMs}\n\n`);
  let open = true;
  const quiet = setInterval(() => {
    if (raw.writableLength < limits.pendingBytes) raw.write(": still here\n\n");
  }, limits.quietMs);
  const end = (): void => {
    if (!open) return;
    open = false;
    clearInterval(quiet);
    onEnd();
    raw.end();
  };
  raw.once("close", end);
  return {
    send(job) {
      if (!open) return;
      if (isOver(job)) {
        raw.write(event("end", job));
        end();
      } else if (raw.writableLength < limits.pendingBytes) raw.write(event("progress", job));
    },
    end,
  };
}

/**
 * `GET /api/jobs/{id}/events`: a job as server-sent events: `progress` with the job whenever it changes, `end` with the
 * finished job and its result, after which the stream ends. The first event comes at once.
 */
export function addJobEvents(
  app: FastifyInstance,
  { jobs }: Pick<HttpDeps, "jobs">,
  unknownJob: () => FedwayError,
): void {
  const streams = new Set<Stream>();
  // Open streams would keep the service from stopping; browsers connect again, to whoever answers then.
  app.addHook("preClose", (done) => {
    for (const stream of streams) stream.end();
    done();
  });
  app.get<{ Params: { id: string } }>("/api/jobs/:id/events", {
    schema: { tags: ["Jobs"], summary: "Follow a job as server-sent events", params: IdPath },
    handler: async (request: FastifyRequest<{ Params: { id: string } }>, reply) => {
      const { id } = request.params;
      if ((await jobs.get(id)) === undefined) throw unknownJob();
      if (streams.size >= limits.streams) {
        throw new FedwayError("SERVICE_BUSY", `${limits.streams} event streams are open already.`, {
          next: `GET /api/jobs/${id} gives the state of the job at once.`,
          retryAfterMs: 5_000,
        });
      }
      follow({ reply, id, jobs, streams });
      return reply;
    },
  });
}

const nothing = (): void => undefined;

interface Following {
  readonly reply: FastifyReply;
  readonly id: string;
  readonly jobs: HttpDeps["jobs"];
  readonly streams: Set<Stream>;
}

function follow({ reply, id, jobs, streams }: Following): void {
  let ignore = nothing;
  const stream = openStream(reply, () => {
    streams.delete(stream);
    ignore();
  });
  streams.add(stream);
  ignore = jobs.watch(id, (job) => stream.send(job));
  // Read again, as the job may have ended before it was watched.
  jobs.get(id).then(
    (job) => (job === undefined ? stream.end() : stream.send(job)),
    () => stream.end(),
  );
}
