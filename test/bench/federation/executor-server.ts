import { createServer } from "node:http";
import { pipeline } from "node:stream";
import { createComunicaEngine } from "../../../src/engine/comunica/comunica-engine.ts";
import { Evaluators } from "../../../src/engine/evaluators/evaluators.ts";
import { type Executor, createInProcessExecutor } from "../../../src/engine/executor.ts";
import { createPlanner } from "../../../src/plan/create-planner.ts";
import type { FederatedPlan } from "../../../src/plan/query-plan.ts";
import { resultFormats } from "../../../src/results/formats.ts";
import { bytesOf } from "../../../src/results/gathered-body.ts";
import { createSparqlClient } from "../../../src/outbound/client.ts";
import { createCatalog } from "../../support/catalog-entry.ts";

// A server that does nothing but evaluate: in its own process ("in-process") or in evaluators ("evaluators N"). Prints
// its origin when it is ready. GET /health answers at once; POST / evaluates the query in the body.

const [mode = "in-process", processes = "2"] = process.argv.slice(2);
const now = (): number => performance.timeOrigin + performance.now();
const client = createSparqlClient({ version: "bench", allowAddresses: ["127.0.0.0/8"], endpointConcurrency: 64 });
const publicUrl = "http://fedway.example";
const planner = createPlanner({ catalog: createCatalog([], [], { publicUrl }), egress: "public", publicUrl });
const json = resultFormats.find(({ name }) => name === "json");
const limits = { maxSolutions: 5_000_000, maxHeldBytes: 128 * 1024 * 1024, heldHeadBytes: 16_384 };

function openExecutor(): Executor<FederatedPlan> {
  if (mode === "in-process") return createInProcessExecutor(createComunicaEngine({ client, now, ...limits }));
  const documents = { read: () => Promise.reject(new Error("no documents here")) };
  const evaluators = new Evaluators({
    processes: Number(processes),
    memoryMb: 512,
    maxRunning: 64,
    limits,
    world: { client, documents, now },
  });
  evaluators.start();
  return evaluators;
}

const executor = openExecutor();

async function evaluate(text: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
  const { plan } = planner.plan({ text, strict: false, defaultGraphs: [], namedGraphs: [] });
  if (plan.kind !== "federated" || !json) throw new Error(`a ${plan.kind} plan`);
  const bounds = { signal, deadlineMs: now() + 600_000, partial: false, sources: new Map() };
  return bytesOf((await executor.fetch(plan, { format: json }, bounds)).body);
}

const server = createServer((request, response) => {
  if (request.url === "/health") {
    response.end("ok");
    return;
  }
  const pieces: Buffer[] = [];
  const leaving = new AbortController();
  response.on("close", () => leaving.abort());
  request.on("data", (piece: Buffer) => pieces.push(piece));
  request.on("end", () => {
    evaluate(Buffer.concat(pieces).toString(), leaving.signal).then(
      (body) => pipeline(body, response, () => {}),
      (error: Error) => response.writeHead(500).end(error.message),
    );
  });
});
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (address !== null && typeof address === "object") process.stdout.write(`http://127.0.0.1:${address.port}\n`);
});
