import { get, type IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { BenchServers } from "./bench-servers.ts";
import { type CannedBody, sha256 } from "./bodies.ts";
import { residentBytes } from "../../support/child-processes.ts";
import { servicePath } from "./queries.ts";

const pieceBytes = 4_096;
const pieceEveryMs = 10;

/**
 * Lets the upstream send the 28 MB answer in pieces of 4 KiB, one every 10 ms, until the client has its first byte.
 * @returns the share of the answer, in percent, that the upstream had sent by then; 100 when nothing came before the end
 */
export async function measureFirstByte(servers: BenchServers, body: CannedBody): Promise<number> {
  const path = servicePath(servers.endpointUrl("slow"));
  const upstream = servers.slow.nextRequest();
  const arrival = { first: false };
  const received = receive(`${servers.fedway.origin}${path}`, () => {
    arrival.first = true;
  });
  const response = await upstream;
  response.writeHead(200, {
    "content-type": "application/sparql-results+json",
    "content-length": body.bytes.length,
  });
  let sent = 0;
  while (!arrival.first && sent < body.bytes.length / 20) {
    response.write(body.bytes.subarray(sent, sent + pieceBytes));
    sent += pieceBytes;
    await sleep(pieceEveryMs);
  }
  const share = arrival.first ? (100 * sent) / body.bytes.length : 100;
  response.end(body.bytes.subarray(sent));
  if (sha256(await received) !== body.sha256) throw new Error("the slowly sent answer arrived changed");
  return share;
}

function receive(url: string, onFirstByte: () => void): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const request = get(url, { headers: { accept: "application/sparql-results+json" } }, (response) => {
      const chunks: Buffer[] = [];
      response.once("data", onFirstByte);
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.once("end", () => resolve(Buffer.concat(chunks)));
      response.once("error", reject);
    });
    request.once("error", reject);
  });
}

/** Resident memory of the service, in bytes. */
export interface MemoryUse {
  readonly beforeBytes: number;
  readonly peakBytes: number;
  readonly afterBytes: number;
  readonly passedBytes: number;
}

/** Reads the 28 MB answer over two connections until `passBytes` have passed, and samples the process every 20 ms. */
export async function measureMemory(servers: BenchServers, body: CannedBody, passBytes: number): Promise<MemoryUse> {
  const { origin, pid } = servers.fedway;
  const url = `${origin}${servicePath(servers.endpointUrl(body.id))}`;
  const beforeBytes = residentBytes(pid);
  let peakBytes = beforeBytes;
  const sampling = setInterval(() => {
    peakBytes = Math.max(peakBytes, residentBytes(pid));
  }, 20);
  let passedBytes = 0;
  const reader = async (): Promise<void> => {
    while (passedBytes < passBytes) {
      const bytes = await drain(url);
      if (bytes !== body.bytes.length) throw new Error(`${bytes} bytes arrived instead of ${body.bytes.length}`);
      passedBytes += bytes;
    }
  };
  try {
    await Promise.all([reader(), reader()]);
  } finally {
    clearInterval(sampling);
  }
  await sleep(500);
  const afterBytes = residentBytes(pid);
  return { beforeBytes, peakBytes: Math.max(peakBytes, afterBytes), afterBytes, passedBytes };
}

/** Reads an answer and throws its bytes away. @returns how many there were */
function drain(url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = get(url, { headers: { accept: "application/sparql-results+json" } }, (response) => {
      let bytes = 0;
      response.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
      });
      response.once("close", () => finish(response, () => resolve(bytes), reject));
    });
    request.once("error", reject);
  });
}

function finish(response: IncomingMessage, done: () => void, failed: (error: Error) => void): void {
  if (response.complete && response.statusCode === 200) done();
  else failed(new Error(`an answer with status ${response.statusCode} was cut off`));
}
