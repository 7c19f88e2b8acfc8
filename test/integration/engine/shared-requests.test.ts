import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createSharingClient } from "../../../src/engine/evaluators/sharing-client.ts";
import { createSparqlClient } from "../../../src/outbound/client.ts";
import type { SparqlAnswer, SparqlRequest } from "../../../src/outbound/sparql-request.ts";
import { steadyClock } from "../../../src/clock.ts";
import { bytesOf } from "../../../src/results/gathered-body.ts";
import { until } from "../../support/eventually.ts";
import { listening } from "../../support/listening.ts";

// Equal requests of several evaluations, and answers that are kept, over real sockets.

type Answer = (response: ServerResponse, request: IncomingMessage) => void;

const head = '{"head":{"vars":["x"]},"results":{"bindings":[';
const tail = "]}}";
const row = (text: string): string => `{"x":{"type":"literal","value":"${text}"}}`;
const document = (rows: number, width = 1): string =>
  head + Array.from({ length: rows }, (_, n) => row(String(n).padStart(width, "0"))).join(",") + tail;
const json = { "content-type": "application/sparql-results+json" };

const upstream = { url: "", seen: 0, closed: 0, answer: (() => {}) as Answer };
const server = createServer((request, response) => {
  upstream.seen++;
  response.once("close", () => {
    if (!response.writableFinished) upstream.closed++;
  });
  request.resume().once("end", () => upstream.answer(response, request));
});
const outbound = createSparqlClient({ version: "0", allowAddresses: ["127.0.0.0/8"], clock: steadyClock });
let close: () => Promise<void>;
beforeAll(async () => {
  const { origin, close: end } = await listening(server);
  upstream.url = origin;
  close = end;
});
afterAll(async () => {
  await outbound.close();
  await close();
});
beforeEach(() => Object.assign(upstream, { seen: 0, closed: 0 }));

const client = (keepMs = 0) => createSharingClient({ client: outbound, now: steadyClock.now, keepMs });

let tests = 0;
const request = (changes: Partial<SparqlRequest> = {}): SparqlRequest => ({
  endpoint: { url: `${upstream.url}/${tests}` },
  query: "SELECT ?x { ?s ?p ?x }",
  kind: "bindings",
  accept: "application/sparql-results+json",
  encoding: "decode",
  signal: new AbortController().signal,
  deadlineMs: steadyClock.now() + 20_000,
  ...changes,
});
beforeEach(() => void tests++);

async function textOf({ body }: SparqlAnswer): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of bytesOf(body)) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

/** Answers when it is told to, in chunks of unknown length. */
function gate() {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { open: resolve, opened: promise };
}

describe("equal requests under way", () => {
  it("are one, and say so", async () => {
    const answered = gate();
    upstream.answer = (response) => void answered.opened.then(() => response.writeHead(200, json).end(document(10)));
    const shared = client();
    const all = Array.from({ length: 20 }, () => shared.query(request()));
    await until(async () => upstream.seen === 1 || undefined);
    answered.open();
    const answers = await Promise.all(all);
    expect(new Set(await Promise.all(answers.map(textOf)))).toEqual(new Set([document(10)]));
    expect(upstream.seen).toBe(1);
    expect(answers.reduce((sum, { requests }) => sum + requests, 0)).toBe(1);
    expect(answers.filter(({ saved }) => saved === "shared")).toHaveLength(19);
  });
  it("are one also when the body comes in pieces", async () => {
    const rest = gate();
    upstream.answer = (response) => {
      response.writeHead(200, json).write(document(10).slice(0, 60));
      void rest.opened.then(() => response.end(document(10).slice(60)));
    };
    const shared = client();
    const first = await shared.query(request());
    const others = [shared.query(request()), shared.query(request())];
    rest.open();
    const texts = await Promise.all([textOf(first), ...others.map(async (one) => textOf(await one))]);
    expect(texts).toEqual([document(10), document(10), document(10)]);
    expect(upstream.seen).toBe(1);
  });
  it("are not, when something about them differs", async () => {
    upstream.answer = (response) => response.writeHead(200, json).end(document(1));
    const shared = client();
    const [, other] = await Promise.all([
      shared.query(request()),
      shared.query(request({ query: "SELECT ?x { ?x ?p ?s }" })),
      shared.query(request({ acceptPartial: true })),
      shared.query(request({ fresh: true })),
    ]);
    expect(other?.saved).toBeUndefined();
    expect(upstream.seen).toBe(4);
  });
  it("fail together", async () => {
    upstream.answer = (response) => response.writeHead(500).end("broken");
    const shared = client();
    const results = await Promise.allSettled([1, 2, 3].map(() => shared.query(request())));
    expect(results.map((one) => one.status === "rejected" && one.reason.code)).toEqual(
      Array(3).fill("ENDPOINT_FAILED"),
    );
    expect(upstream.seen).toBe(1);
  });
});

describe("one reader of three that leaves", () => {
  const shouldLeaveOthers = (name: string, leaves: number) =>
    it(`leaves the others their answer: ${name}`, async () => {
      const answered = gate();
      upstream.answer = (response) => void answered.opened.then(() => response.writeHead(200, json).end(document(5)));
      const shared = client();
      const readers = [1, 2, 3].map(() => new AbortController());
      const all = readers.map(({ signal }) => shared.query(request({ signal })));
      const settled = Promise.allSettled(all);
      await until(async () => upstream.seen === 1 || undefined);
      readers[leaves]?.abort(new Error("left"));
      await expect(all[leaves]).rejects.toBeDefined();
      answered.open();
      const states = (await settled).map(({ status }) => status);
      expect(states).toEqual([0, 1, 2].map((reader) => (reader === leaves ? "rejected" : "fulfilled")));
      const kept = all.filter((_, reader) => reader !== leaves);
      for (const one of kept) expect(await textOf(await one)).toBe(document(5));
      expect([upstream.seen, upstream.closed]).toEqual([1, 0]);
    });
  shouldLeaveOthers("the first", 0);
  shouldLeaveOthers("a later one", 1);

  it("while the body comes leaves them theirs, too", async () => {
    const rest = gate();
    upstream.answer = (response) => {
      response.writeHead(200, json).write(document(10).slice(0, 60));
      void rest.opened.then(() => response.end(document(10).slice(60)));
    };
    const shared = client();
    const first = await shared.query(request());
    const second = shared.query(request());
    if (!Buffer.isBuffer(first.body)) first.body.destroy();
    rest.open();
    expect(await textOf(await second)).toBe(document(10));
    expect(upstream.seen).toBe(1);
  });
  it("is the last one: the request is cancelled", async () => {
    upstream.answer = () => {};
    const shared = client();
    const readers = [1, 2, 3].map(() => new AbortController());
    const settled = Promise.allSettled(readers.map(({ signal }) => shared.query(request({ signal }))));
    await until(async () => upstream.seen === 1 || undefined);
    for (const reader of readers) reader.abort(new Error("left"));
    await settled;
    await until(async () => upstream.closed === 1 || undefined);
  });
  it("has a deadline of its own", async () => {
    const answered = gate();
    upstream.answer = (response) => void answered.opened.then(() => response.writeHead(200, json).end(document(5)));
    const shared = client();
    const long = shared.query(request());
    const short = shared.query(request({ deadlineMs: steadyClock.now() + 100 }));
    await expect(short).rejects.toMatchObject({ code: "DEADLINE_EXCEEDED" });
    answered.open();
    expect(await textOf(await long)).toBe(document(5));
  });
});

describe("a body that is too large or too slow to be waited for", () => {
  it("is read by its first reader; the others ask for themselves", async () => {
    const large = document(20_000, 40);
    upstream.answer = (response) => {
      response.writeHead(200, json).write(large.slice(0, 1_000));
      setTimeout(() => response.end(large.slice(1_000)), 50);
    };
    const shared = client();
    const answers = await Promise.all([1, 2, 3].map(() => shared.query(request())));
    const texts = await Promise.all(answers.map(textOf));
    expect(texts.every((text) => text === large)).toBe(true);
    expect(upstream.seen).toBe(3);
    expect(answers.every(({ saved }) => saved === undefined)).toBe(true);
  });
  it("waits for a slow first reader, and is cancelled when that one leaves", async () => {
    upstream.answer = (response) => {
      response.writeHead(200, json).write(head);
      const more = (): void => {
        while (!response.destroyed && response.write(`${row("x".repeat(10_000))},`));
        response.once("drain", more);
      };
      more();
    };
    const shared = client();
    const { body } = await shared.query(request());
    await until(async () => (!Buffer.isBuffer(body) && body.readableLength > 256 * 1024) || undefined);
    if (!Buffer.isBuffer(body)) {
      expect(body.readableLength).toBeLessThan(4_000_000);
      body.destroy();
    }
    await until(async () => upstream.closed === 1 || undefined);
  });
});

describe("answers that are kept", () => {
  const ask = async (shared: ReturnType<typeof client>, changes?: Partial<SparqlRequest>) => {
    const answer = await shared.query(request(changes));
    return [answer.saved ?? "asked", answer.requests, (await textOf(answer)) === document(3)];
  };
  const asked = ["asked", 1, true];
  const cached = ["cached", 0, true];
  const answerWith =
    (headers: Readonly<Record<string, string>>, status = 200): Answer =>
    (response) =>
      response.writeHead(status, { ...json, ...headers }).end(document(3));
  const shouldGive = (name: string, headers: Readonly<Record<string, string>>, keepMs: number, second: unknown) =>
    it(name, async () => {
      upstream.answer = answerWith(headers);
      const shared = client(keepMs);
      expect(await ask(shared)).toEqual(asked);
      expect(await ask(shared)).toEqual(second);
    });
  shouldGive("are none by default", {}, 0, asked);
  shouldGive("are those of the operator's time", {}, 10_000, cached);
  shouldGive("are those that the endpoint allows", { "cache-control": "public, max-age=30" }, 0, cached);
  shouldGive("are not those that it forbids", { "cache-control": "no-store" }, 10_000, asked);
  shouldGive("are not somebody's own", { "cache-control": "private, max-age=30" }, 10_000, asked);
  shouldGive("are not those that were old when they came", { "cache-control": "max-age=5", age: "9" }, 10_000, asked);

  it("are not for whoever wants fresh ones, nor of endpoints that forbid it, nor partial", async () => {
    upstream.answer = answerWith({});
    const shared = client(10_000);
    await ask(shared);
    expect(await ask(shared, { fresh: true })).toEqual(asked);
    const endpoint = { url: `${upstream.url}/never`, neverKept: true as const };
    await ask(shared, { endpoint });
    expect(await ask(shared, { endpoint })).toEqual(asked);
    upstream.answer = answerWith({}, 206);
    await ask(shared, { acceptPartial: true });
    expect(await ask(shared, { acceptPartial: true })).toEqual(asked);
  });
  it("are not given any more once their endpoint forbids it", async () => {
    upstream.answer = answerWith({});
    const shared = client(10_000);
    const endpoint = { url: `${upstream.url}/later` };
    await ask(shared, { endpoint });
    expect(await ask(shared, { endpoint })).toEqual(cached);
    expect(await ask(shared, { endpoint: { ...endpoint, neverKept: true as const } })).toEqual(asked);
  });
  it("are not those of a request that a fresh one has overtaken", async () => {
    const late = gate();
    const shared = client(10_000);
    upstream.answer = (response) => void late.opened.then(() => response.writeHead(200, json).end(document(1)));
    const early = shared.query(request());
    await until(async () => upstream.seen === 1 || undefined);
    upstream.answer = answerWith({});
    await ask(shared, { fresh: true });
    late.open();
    expect(await textOf(await early)).toBe(document(1));
    expect(await ask(shared)).toEqual(cached);
  });
  it("are given for their time only", async () => {
    upstream.answer = answerWith({});
    const start = steadyClock.now();
    let now = start;
    const shared = createSharingClient({ client: outbound, now: () => now, keepMs: 1_000 });
    await ask(shared);
    now = start + 999;
    expect(await ask(shared)).toEqual(cached);
    now = start + 2_000;
    expect(await ask(shared)).toEqual(asked);
  });
});
