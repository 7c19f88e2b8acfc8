import type { FastifyReply } from "fastify";
import { Type } from "typebox";
import { FedwayError } from "../errors/fedway-error.ts";
import type { Job } from "../jobs/job-queue.ts";
import { anyOriginHeaders, uncached } from "./common-headers.ts";
import type { HttpShell, TypedApp } from "./http-deps.ts";
import { jobView, knownJob } from "./job-view.ts";
import { JobPath, documented } from "./schemas.ts";

const events: Readonly<Record<number, object>> = {
  200: {
    content: {
      "text/event-stream": {
        schema: Type.Object({
          event: Type.Enum(["progress", "end"]),
          data: Type.String({ contentMediaType: "application/json", description: "The job." }),
        }),
      },
    },
  },
};

/** Bounds of the event streams. */
const limits = {
  /** Streams open at once. */
  streams: 500,
  /** How often a sign of life is sent, so that proxies keep the connection, and what was missed is made up for. */
  quietMs: 15_000,
  /** Delay of browsers before they connect again. */
  retryMs: 2_000,
  /** Not taken by the client; one that lags behind gets the latest state when it has caught up. */
  pendingBytes: 65_536,
};

const isOver = ({ state }: Job): boolean => state === "done" || state === "failed" || state === "cancelled";

/** One event (HTML Living Standard, 9.2.6). JSON has no line breaks of its own. */
const event = (name: string, job: object): string => `event: ${name}\ndata: ${JSON.stringify(job)}\n\n`;

const streamHeaders = {
  ...anyOriginHeaders,
  "Content-Type": "text/event-stream",
  ...uncached,
  // Proxies that gather answers would hold events back.
  "X-Accel-Buffering": "no",
};

/** One open stream; `end` may be called at any time and more than once. */
type Stream = ReturnType<typeof openStream>;

function openStream(raw: Following["raw"], view: Following["view"], onEnd: () => void) {
  raw.writeHead(200, streamHeaders);
  raw.write(`retry: ${limits.retryMs}\n\n`);
  let open = true;
  let told = "";
  const write = (text: string): boolean => {
    if (!open || raw.writableLength >= limits.pendingBytes) return false;
    raw.write(text);
    return true;
  };
  const end = (): void => {
    if (!open) return;
    open = false;
    onEnd();
    raw.end();
  };
  raw.once("close", end);
  return {
    /** Sends a state that was not sent before. */
    send(job: Job): void {
      if (!open) return;
      if (isOver(job)) {
        raw.write(event("end", view(job)));
        end();
        return;
      }
      const text = event("progress", view(job));
      if (text !== told && write(text)) told = text;
    },
    /** Shows that the connection lives. */
    breathe: (): void => void write(": still here\n\n"),
    end,
  };
}

/** Streams that are open, until there is to be none any more. */
interface OpenStreams {
  readonly all: Set<Stream>;
  closing: boolean;
}

/**
 * `GET /api/jobs/{id}/events`: a job as server-sent events: `progress` with the job whenever it changes, `end` with the
 * finished job and its result, after which the stream ends. The first event comes at once. The stream of a job that is
 * lost ends without an `end`.
 */
export function addJobEvents(app: TypedApp, { jobs }: HttpShell): void {
  const streams: OpenStreams = { all: new Set(), closing: false };
  // Open streams would keep the service from stopping; browsers connect again, to whoever answers then.
  app.addHook("preClose", (done) => {
    streams.closing = true;
    for (const stream of streams.all) stream.end();
    done();
  });
  app.get("/api/jobs/:id/events", {
    schema: {
      ...documented("Jobs")("watchJob", "Follow a job as server-sent events"),
      params: JobPath,
      response: events,
    },
    handler: async (request, reply) => {
      const { id } = request.params;
      await knownJob(jobs, id);
      if (request.method === "HEAD") return reply.headers(streamHeaders).send();
      if (streams.all.size >= limits.streams) {
        throw new FedwayError("SERVICE_BUSY", `${limits.streams} event streams are open already.`, {
          next: `GET /api/jobs/${id} gives the state of the job at once.`,
          retryAfterMs: 5_000,
        });
      }
      reply.hijack();
      request.endTurn?.();
      // A client that left meanwhile closes nothing any more.
      if (!reply.raw.destroyed) follow({ raw: reply.raw, view: jobView(request), id, jobs, streams });
      return reply;
    },
  });
}

interface Following {
  readonly raw: FastifyReply["raw"];
  /** The part of a job that the client may see. */
  readonly view: (job: Job) => object;
  readonly id: string;
  readonly jobs: HttpShell["jobs"];
  readonly streams: OpenStreams;
}

function follow({ raw, view, id, jobs, streams }: Following): void {
  let heard = 0;
  const look = async (): Promise<void> => {
    const before = heard;
    const job = await jobs.get(id);
    if (job === undefined) stream.end();
    // What was heard meanwhile is newer.
    else if (heard === before) stream.send(job);
  };
  const stream = openStream(raw, view, () => {
    clearInterval(timer);
    streams.all.delete(stream);
    ignore();
  });
  const timer = setInterval(() => {
    stream.breathe();
    // While the store fails there is nothing to tell.
    look().catch(() => {});
  }, limits.quietMs);
  streams.all.add(stream);
  const ignore = jobs.watch(id, (job) => {
    heard += 1;
    stream.send(job);
  });
  // Read again, as the job may have ended before it was watched.
  look().catch(() => stream.end());
  if (streams.closing) stream.end();
}
