import { createHash } from "node:crypto";
import { createServer, get, type IncomingMessage, type ServerResponse } from "node:http";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { createGunzip, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { resultsOf } from "../support/hostile-bodies.ts";
import { type RunningService, startService } from "../support/running-service.ts";
import { type Listening, listening } from "../support/listening.ts";

// The memory of what was received is given back as soon as it is written on: not a byte of it may be missed by whoever
// still needs it, however the pieces of one read are shared out, and however slowly a client takes them.
// Round numbers of rows would be looked into.
const bodies: Readonly<Record<string, Buffer>> = {
  large: Buffer.from(resultsOf(60_001)),
  middling: Buffer.from(resultsOf(1_001)),
};

/** Ways in which an endpoint sends a body. */
const manners: Readonly<Record<string, (response: ServerResponse, body: Buffer) => Promise<void> | void>> = {
  length(response, body) {
    response.setHeader("content-length", body.length);
    response.end(body);
  },
  async slivers(response, body) {
    // Many chunks in one read.
    for (let at = 0, size = 1; at < body.length; at += size, size = (size * 7 + 13) % 5_003) {
      size = Math.max(1, size);
      if (!response.write(body.subarray(at, at + size))) await new Promise((done) => response.once("drain", done));
    }
    response.end();
  },
  async slabs(response, body) {
    for (let at = 0; at < body.length; at += 200_000) {
      if (!response.write(body.subarray(at, at + 200_000))) await new Promise((done) => response.once("drain", done));
    }
    response.end();
  },
  gzip(response, body) {
    response.setHeader("content-encoding", "gzip");
    response.end(gzipSync(body));
  },
};

let endpoint: Listening;
let service: RunningService;

beforeAll(async () => {
  const server = createServer((request, response) => {
    const [, size = "", manner = ""] = (request.url ?? "").split("/");
    request.resume();
    response.setHeader("content-type", "application/sparql-results+json");
    void manners[manner]!(response, bodies[size]!);
  });
  endpoint = await listening(server);
  const names = Object.keys(bodies).flatMap((size) => Object.keys(manners).map((manner) => [size, manner] as const));
  const urls = names.map(([size, manner]) => [`${size}-${manner}`, `${endpoint.origin}/${size}/${manner}`]);
  service = await startService(Object.fromEntries(urls));
});
afterAll(async () => {
  await service.close();
  await endpoint.close();
});

const hashOf = (body: Buffer): string => createHash("sha256").update(body).digest("hex");

const path = (id: string): string => `/endpoints/${id}/sparql?query=${encodeURIComponent("SELECT ?x { ?x ?p ?o }")}`;

function ask(id: string, coding = "identity"): Promise<IncomingMessage> {
  const headers = { accept: "application/sparql-results+json", "accept-encoding": coding };
  return new Promise((resolve, reject) => {
    get(`${service.url}${path(id)}`, { headers }, resolve).once("error", reject);
  });
}

/** Reads an answer, with rests in between when it is `slow`. */
async function read(response: IncomingMessage, slow: boolean): Promise<Buffer> {
  const plain = response.headers["content-encoding"] === "gzip" ? response.pipe(createGunzip()) : response;
  const chunks: Buffer[] = [];
  let unrested = 0;
  for await (const chunk of plain as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    unrested += chunk.length;
    if (slow && unrested > 500_000) {
      unrested = 0;
      await sleep(5);
    }
  }
  expect(response.statusCode).toBe(200);
  return Buffer.concat(chunks);
}

const cases = Object.keys(bodies).flatMap((size) =>
  Object.keys(manners).flatMap((manner) => ["identity", "gzip"].map((coding) => ({ size, manner, coding }))),
);

describe("every byte of an answer arrives", () => {
  it.each(cases)("$size, sent by $manner, asked for in $coding, by clients fast and slow", async (asked) => {
    const { size, manner, coding } = asked;
    const clients = [false, true, false, true, false, true];
    const answers = clients.map(async (slow) => read(await ask(`${size}-${manner}`, coding), slow));
    const hashes = (await Promise.all(answers)).map(hashOf);
    expect(new Set(hashes)).toEqual(new Set([hashOf(bodies[size]!)]));
  });

  it("also while others leave in the middle", async () => {
    const leave = async (): Promise<void> => {
      const response = await ask("large-slivers");
      await new Promise((resolve) => response.once("data", resolve));
      response.destroy();
    };
    const whole = async (): Promise<string> => hashOf(await read(await ask("large-slivers"), true));
    const [first, second] = await Promise.all([whole(), whole(), ...Array.from({ length: 10 }, leave)]);
    expect([first, second]).toEqual([hashOf(bodies["large"]!), hashOf(bodies["large"]!)]);
  });
});

/** Reads an answer into the same memory all along. @returns the number of bytes, head included */
function drain(id: string): Promise<number> {
  const { hostname, port } = new URL(service.url);
  let bytes = 0;
  const onread = {
    buffer: Buffer.alloc(65_536),
    callback: (count: number): boolean => {
      bytes += count;
      return true;
    },
  };
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), onread });
    socket.once("error", reject).once("close", () => resolve(bytes));
    socket.write(`GET ${path(id)} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
  });
}

it("an answer that is under way occupies little memory", async () => {
  const { length } = bodies["large"]!;
  // What earlier tests have left may go meanwhile.
  let least = process.memoryUsage().arrayBuffers;
  let most = 0;
  const sampling = setInterval(() => {
    const { arrayBuffers } = process.memoryUsage();
    least = Math.min(least, arrayBuffers);
    most = Math.max(most, arrayBuffers - least);
  }, 1);
  for (let round = 0; round < 10; round += 1) expect(await drain("large-length")).toBeGreaterThan(length);
  clearInterval(sampling);
  expect(most).toBeGreaterThan(0);
  expect(most).toBeLessThan(2 * length);
});
