import { afterEach, describe, expect, it } from "vitest";
import { createHttpServer, type HttpServer } from "../../../src/http/server.ts";
import { EmbeddedJobQueue } from "../../../src/jobs/embedded/embedded-job-queue.ts";
import type { Job, JobContext, JobQueue } from "../../../src/jobs/job-queue.ts";
import { openSqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";
import { createFakeDeps } from "../../support/http-deps.ts";

/** Work that does what the test tells it to, a step at a time. */
interface Steps {
  readonly run: (payload: unknown, context: JobContext) => Promise<unknown>;
  /** Lets the job report this much, or end. */
  readonly next: (step: { done: number } | { result: unknown }) => void;
}

function stepwise(): Steps {
  const waiting: ({ done: number } | { result: unknown })[] = [];
  let wake = (): void => undefined;
  return {
    async run(_payload, { progress, signal }) {
      signal.addEventListener("abort", () => wake());
      for (;;) {
        signal.throwIfAborted();
        const step = waiting.shift();
        if (step === undefined) await new Promise<void>((resolve) => (wake = resolve));
        else if ("result" in step) return step.result;
        else progress({ stage: "counting", done: step.done, total: 3 });
      }
    },
    next(step) {
      waiting.push(step);
      wake();
    },
  };
}

interface ServerSentEvent {
  readonly name: string;
  readonly job: Job;
}

/** The events of a stream as they come; comments and `retry` are left out. */
async function* eventsOf(response: Response): AsyncGenerator<ServerSentEvent> {
  let text = "";
  for await (const chunk of (response.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
    text += chunk;
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const [, name, data] = /^event: (\w+)\ndata: (.*)$/.exec(text.slice(0, end)) ?? [];
      text = text.slice(end + 2);
      if (name !== undefined && data !== undefined) yield { name, job: JSON.parse(data) as Job };
    }
  }
}

async function firstWhere(
  events: AsyncGenerator<ServerSentEvent>,
  wanted: (event: ServerSentEvent) => boolean,
): Promise<ServerSentEvent> {
  for (;;) {
    const { value, done } = await events.next();
    if (done === true) throw new Error("the stream ended before");
    if (wanted(value)) return value;
  }
}

let server: HttpServer | undefined;
let jobs: JobQueue | undefined;

async function serve(): Promise<{ url: string; steps: Steps; queue: JobQueue }> {
  const steps = stepwise();
  const queue = new EmbeddedJobQueue({ store: openSqliteStore({ path: ":memory:" }), progressMs: 10, watchMs: 10 });
  await queue.start([{ name: "count", validate: () => undefined, run: steps.run }]);
  jobs = queue;
  server = await createHttpServer(await createFakeDeps({ jobs: queue }));
  return { url: await server.listen(), steps, queue };
}

afterEach(async () => {
  await server?.close(100);
  await jobs?.close(100);
  server = jobs = undefined;
});

describe("the events of a job", () => {
  it("begin with its state, tell of its progress and end with its result", async () => {
    const { url, steps, queue } = await serve();
    const { id } = await queue.enqueue("count", {});
    const response = await fetch(`${url}/api/jobs/${id}/events`);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    const events = eventsOf(response);
    const first = await events.next();
    expect(first.value).toMatchObject({ name: "progress", job: { id, kind: "count" } });
    steps.next({ done: 1 });
    await firstWhere(events, ({ job }) => job.progress?.done === 1);
    steps.next({ done: 2 });
    await firstWhere(events, ({ job }) => job.progress?.done === 2);
    steps.next({ result: { counted: 3 } });
    const last = await firstWhere(events, ({ name }) => name === "end");
    expect(last.job).toMatchObject({ state: "done", result: { counted: 3 } });
    expect(await events.next()).toStrictEqual({ done: true, value: undefined });
  });

  it("of a finished job are its end alone", async () => {
    const { url, steps, queue } = await serve();
    const { id } = await queue.enqueue("count", {});
    steps.next({ result: "at once" });
    await expect.poll(async () => (await queue.get(id))?.state).toBe("done");
    const events: ServerSentEvent[] = [];
    for await (const event of eventsOf(await fetch(`${url}/api/jobs/${id}/events`))) events.push(event);
    expect(events).toMatchObject([{ name: "end", job: { state: "done", result: "at once" } }]);
  });

  it("end when the job is cancelled", async () => {
    const { url, queue } = await serve();
    const { id } = await queue.enqueue("count", {});
    const events = eventsOf(await fetch(`${url}/api/jobs/${id}/events`));
    await firstWhere(events, ({ job }) => job.state === "running");
    expect((await fetch(`${url}/api/jobs/${id}`, { method: "DELETE" })).status).toBe(204);
    const last = await firstWhere(events, ({ name }) => name === "end");
    expect(last.job.state).toBe("cancelled");
  });

  it("of an unknown job are a problem", async () => {
    const { url } = await serve();
    const response = await fetch(`${url}/api/jobs/nobody/events`);
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ code: "JOB_UNKNOWN" });
  });

  it("end when the service stops, and do not hold it up", async () => {
    const { url, queue } = await serve();
    const { id } = await queue.enqueue("count", {});
    const events = eventsOf(await fetch(`${url}/api/jobs/${id}/events`));
    await events.next();
    const closed = server?.close(60_000);
    for await (const { name } of events) expect(name).toBe("progress");
    await closed;
    expect((await queue.get(id))?.state).toBe("running");
  });

  it("are followed by many, and clients that leave are forgotten", async () => {
    const { url, steps, queue } = await serve();
    const { id } = await queue.enqueue("count", {});
    const leaver = new AbortController();
    const left = await fetch(`${url}/api/jobs/${id}/events`, { signal: leaver.signal });
    const stay = await Promise.all([1, 2, 3].map(async () => eventsOf(await fetch(`${url}/api/jobs/${id}/events`))));
    await Promise.all(stay.map((events) => events.next()));
    leaver.abort();
    await expect(left.text()).rejects.toThrow();
    steps.next({ result: 7 });
    const ends = await Promise.all(stay.map((events) => firstWhere(events, ({ name }) => name === "end")));
    expect(ends.map(({ job }) => job.result)).toStrictEqual([7, 7, 7]);
  });
});
