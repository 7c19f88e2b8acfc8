import { describe, expect, it } from "vitest";
import { answerMediaType, EndpointPool } from "../../../src/hosting/endpoint-pool.ts";
import type { HostedEndpoint } from "../../../src/hosting/hosted-endpoint.ts";
import type { HostedJob } from "../../../src/hosting/hosted-endpoint.ts";
import type { StoreRunnerOptions } from "../../../src/hosting/store-runner.ts";
import type { AnswerKind } from "../../../src/results/model.ts";

type EndpointPoolOptions = ConstructorParameters<typeof EndpointPool>[0];

const mib = 1_048_576;
/** Of a worker that runs a query with 100 MiB for its store: its thread and an answer besides. */
const runningMb = 100 + 24 + 1;
/** For `running` workers at once, and a quarter more for answers. */
const roomFor = (running: number): number => Math.ceil((running * runningMb * 4) / 3) + 8;

/** A pool over scripted runners: queries run until they are let go, and leave a worker of 10 MiB behind. */
function scripted(options: Partial<EndpointPoolOptions> = {}) {
  const events: string[] = [];
  const running = new Map<string, () => void>();
  const createRunner = ({ id, memoryMb }: StoreRunnerOptions) => {
    let memoryBytes = 0;
    const end = (how: string) => async (): Promise<void> => {
      events.push(`${how} ${id}`);
      memoryBytes = 0;
    };
    return {
      get memoryBytes() {
        return memoryBytes;
      },
      run: (job: HostedJob) =>
        new Promise<void>((resolve) => {
          events.push(job.request.query);
          memoryBytes = memoryMb * mib;
          running.set(job.request.query, () => {
            memoryBytes = 10 * mib;
            running.delete(job.request.query);
            job.succeed({ mediaType: "text/csv", body: Buffer.from(job.request.query) });
            resolve();
          });
        }),
      release: end("end"),
      close: end("close"),
    };
  };
  const pool = new EndpointPool({
    timeoutMs: 60_000,
    totalMb: roomFor(2),
    maxAnswerBytes: mib,
    maxWaiting: 100,
    maxPerClient: 50,
    createRunner,
    ...options,
  });
  const endpoint = (id: string): HostedEndpoint =>
    pool.endpoint({ id, source: { kind: "text", text: "" }, memoryMb: 100 });
  /** Lets a query go and waits until what it kept waiting has started. */
  const letGo = async (query: string): Promise<void> => {
    running.get(query)?.();
    await settled();
  };
  return { pool, endpoint, events, running, letGo };
}

const settled = (): Promise<void> => new Promise((done) => setImmediate(done));

interface Asking {
  readonly client?: string;
  readonly signal?: AbortSignal;
}

async function ask(endpoint: HostedEndpoint, query: string, { client = "a", signal }: Asking = {}): Promise<string> {
  const asked = { query, kind: "bindings", accept: "*/*", client, timeoutMs: 60_000 } as const;
  const { body } = await endpoint.query({ ...asked, signal: signal ?? new AbortController().signal });
  return body.toString();
}

describe("clients", () => {
  it("take turns at an endpoint, however much one of them asks", async () => {
    const { endpoint, events, letGo } = scripted();
    const people = endpoint("people");
    const answers = ["a1", "a2", "a3", "a4"].map((query) => ask(people, query));
    answers.push(ask(people, "b1", { client: "b" }), ask(people, "c1", { client: "c" }));
    expect(events).toEqual(["a1"]);
    for (const query of ["a1", "b1", "c1", "a2", "a3", "a4"]) await letGo(query);
    expect(events).toEqual(["a1", "b1", "c1", "a2", "a3", "a4"]);
    expect(await Promise.all(answers)).toEqual(["a1", "a2", "a3", "a4", "b1", "c1"]);
  });

  it("take turns at all endpoints together where memory is short", async () => {
    const { endpoint, events, letGo } = scripted({ totalMb: roomFor(1) });
    const [people, places] = [endpoint("people"), endpoint("places")];
    const answers = [ask(people, "a1"), ask(people, "a2"), ask(places, "a3"), ask(places, "b1", { client: "b" })];
    for (const query of ["a1", "b1", "a2", "a3"]) await letGo(query);
    expect(events.filter((event) => /^[ab]\d/u.test(event))).toEqual(["a1", "b1", "a2", "a3"]);
    await Promise.all(answers);
  });

  it("may have so many queries waiting, and no client is refused for another", async () => {
    const { endpoint, letGo } = scripted({ maxPerClient: 2 });
    const people = endpoint("people");
    const answers = ["a1", "a2", "a3"].map((query) => ask(people, query));
    await expect(ask(people, "a4")).rejects.toMatchObject({ code: "ENDPOINT_BUSY", details: { retryAfterMs: 1_000 } });
    answers.push(ask(people, "b1", { client: "b" }));
    for (const query of ["a1", "b1", "a2", "a3"]) await letGo(query);
    await Promise.all(answers);
  });

  it("cannot fill the memory with long queries that wait", async () => {
    const { endpoint, letGo } = scripted();
    const people = endpoint("people");
    const long = Array.from({ length: 32 }, (_, n) => ask(people, `${n} ${"x".repeat(mib - 3)}`).catch(String));
    await expect(ask(people, "y".repeat(mib))).rejects.toMatchObject({ code: "ENDPOINT_BUSY" });
    for (let n = 0; n < 32; n += 1) await letGo(`${n} ${"x".repeat(mib - 3)}`);
    await Promise.all(long);
  });

  it("leave the queue when they give up", async () => {
    const { endpoint, events, letGo } = scripted();
    const people = endpoint("people");
    const aborter = new AbortController();
    const [first, second] = [ask(people, "a1"), ask(people, "a2", { signal: aborter.signal })];
    aborter.abort();
    await expect(second).rejects.toMatchObject({ code: "CANCELLED" });
    await letGo("a1");
    expect([await first, events]).toEqual(["a1", ["a1"]]);
  });
});

describe("the memory of a pool", () => {
  it("lets as many queries run as find room, at different endpoints", async () => {
    const { endpoint, events, letGo } = scripted({ totalMb: roomFor(2) });
    const answers = ["x", "y", "z"].map((id) => ask(endpoint(id), id));
    expect(events).toEqual(["x", "y"]);
    await letGo("x");
    // The idle worker of x keeps 34 MiB, which z needs.
    expect(events).toEqual(["x", "y", "end x", "z"]);
    await letGo("y");
    await letGo("z");
    await Promise.all(answers);
  });

  it("keeps idle workers while there is room for them", async () => {
    const { endpoint, events, letGo } = scripted({ totalMb: roomFor(3) });
    const endpoints = ["x", "y", "z"].map(endpoint);
    for (const round of [1, 2]) {
      for (const each of endpoints) {
        const answer = ask(each, `${each.id}${round}`);
        await letGo(`${each.id}${round}`);
        await answer;
      }
    }
    expect(events).toEqual(["x1", "y1", "z1", "x2", "y2", "z2"]);
  });

  it("ends no idle worker when that would not do", async () => {
    const { endpoint, events, letGo } = scripted({ totalMb: roomFor(1) + 50 });
    const [x, y, z] = [endpoint("x"), endpoint("y"), endpoint("z")];
    const answers = [ask(x, "x1")];
    await letGo("x1");
    answers.push(ask(y, "y1"), ask(z, "z1"));
    expect(events).toEqual(["x1", "y1"]);
    await letGo("y1");
    expect(events).toEqual(["x1", "y1", "end x", "z1"]);
    await letGo("z1");
    await Promise.all(answers);
  });

  it("is that of the pool for an endpoint that would need more", async () => {
    const { pool, letGo } = scripted({ totalMb: roomFor(1) });
    const large = pool.endpoint({ id: "large", source: { kind: "text", text: "" }, memoryMb: 5_000 });
    const answer = ask(large, "l1");
    await letGo("l1");
    expect(await answer).toBe("l1");
  });
});

it("a closed pool answers nobody, also who waited", async () => {
  const { pool, endpoint, events } = scripted();
  const people = endpoint("people");
  const answers = [ask(people, "a1"), ask(people, "a2")].map((answer) => answer.catch((error: unknown) => error));
  await pool.close();
  expect(await Promise.all(answers)).toEqual([
    expect.objectContaining({ code: "ENDPOINT_FAILED" }),
    expect.objectContaining({ code: "ENDPOINT_FAILED" }),
  ]);
  await expect(ask(people, "a3")).rejects.toMatchObject({ code: "ENDPOINT_FAILED" });
  expect(events).toEqual(["a1", "close people"]);
});

const shouldChoose = (kind: AnswerKind, accept: string, mediaType: string) => () =>
  expect(answerMediaType(kind, accept)).toBe(mediaType);
const shouldRefuse = (kind: AnswerKind, accept: string, offered: RegExp) => () => {
  const refusal = { code: "NOT_ACCEPTABLE", details: { next: expect.stringMatching(offered) } };
  expect(() => answerMediaType(kind, accept)).toThrow(expect.objectContaining(refusal));
};

describe("answerMediaType", () => {
  it("defaults to JSON", shouldChoose("bindings", "", "application/sparql-results+json"));
  it("defaults to Turtle", shouldChoose("quads", "*/*", "text/turtle"));
  it("takes what is wanted most", shouldChoose("bindings", "text/csv, */*;q=0.1", "text/csv"));
  it("has no CSV for ASK", shouldRefuse("boolean", "text/csv", /\+json, application\/sparql-results\+xml\.$/));
  it("writes RDF/XML", shouldChoose("quads", "application/rdf+xml", "application/rdf+xml"));
  it("writes no HTML", shouldRefuse("bindings", "text/html", /text\/csv/));
});
