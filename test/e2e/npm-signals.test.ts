import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type BuiltService, startBuiltService } from "../support/built-program.ts";
import { type CatalogFolder, createCatalogFolder, endpointTurtle } from "../support/catalog-folder.ts";
import { listening } from "../support/listening.ts";
import { newFolder } from "../support/scratch-folder.ts";

// `npm start` as a person or a process manager ends it: by a signal to npm, or by Ctrl-C to all of the terminal's group.

/** Answers when it is told to, so that a query is under way for as long as a test needs it. */
async function startSlowEndpoint() {
  const server = createServer((request) => request.resume());
  const { origin, close } = await listening(server);
  return {
    url: `${origin}/sparql`,
    close,
    /** The next request, not answered yet. */
    async asked(): Promise<ServerResponse> {
      const [, response] = (await once(server, "request")) as [unknown, ServerResponse];
      return response;
    },
  };
}

let folder: string;
let catalog: CatalogFolder;
let endpoint: Awaited<ReturnType<typeof startSlowEndpoint>>;
let env: Readonly<Record<string, string>>;

beforeAll(async () => {
  folder = newFolder();
  catalog = await createCatalogFolder();
  endpoint = await startSlowEndpoint();
  await catalog.write({ "slow.ttl": endpointTurtle("slow", endpoint.url) });
  env = {
    // npm on the machine's own Node, not on that of node_modules, which is first in the path of npm scripts.
    PATH: (process.env["PATH"] ?? "")
      .split(":")
      .filter((path) => !path.includes("node_modules"))
      .join(":"),
    FEDWAY_CATALOG: catalog.path,
    FEDWAY_DATA_DIR: join(folder, "state"),
    FEDWAY_EXAMPLES: "off",
    FEDWAY_ALLOW_ADDRESSES: "127.0.0.0/8",
  };
});
afterAll(async () => {
  await endpoint?.close();
});

function signalGroup({ process: { pid } }: BuiltService, signal: NodeJS.Signals): void {
  if (pid === undefined || pid <= 1) throw new Error("there is no process");
  process.kill(-pid, signal);
}

const row = '{"head":{"vars":["s"]},"results":{"bindings":[{"s":{"type":"uri","value":"urn:x:late"}}]}}';

/** A query is under way when the service is told to end: it is answered, then all of it is gone. */
async function shouldDrainAndEnd(service: BuiltService, end: () => void): Promise<void> {
  const arrived = endpoint.asked();
  const answer = fetch(`${service.url}/endpoints/slow/sparql?query=${encodeURIComponent("SELECT ?s { ?s ?p ?o }")}`);
  const request = await arrived;
  const ended = once(service.process, "exit");
  end();
  const alive = (): Promise<string> =>
    fetch(`${service.url}/health/live`).then(
      ({ status }) => `${status}`,
      () => "refused",
    );
  await expect.poll(alive).toBe("refused");
  request.writeHead(200, { "content-type": "application/sparql-results+json" }).end(row);
  const response = await answer;
  expect({ status: response.status, text: await response.text() }).toMatchObject({
    status: 200,
    text: expect.stringContaining("urn:x:late"),
  });
  await ended;
  // It would be refused if anything held the port or the data folder.
  const next = await startBuiltService({ ...env, PORT: new URL(service.url).port });
  expect(await next.stop()).toBe(0);
}

let started: BuiltService | undefined;

/** All that comes of a command is one process group, as it is in a terminal. */
async function start(command: string): Promise<BuiltService> {
  started = await startBuiltService(env, `exec setsid ${command} --silent`);
  return started;
}

// Nothing is left behind when a test has failed.
afterEach(() => {
  if (started === undefined) return;
  try {
    signalGroup(started, "SIGKILL");
  } catch {
    // There is no such group any more, as it should be.
  }
});

describe.each(["npm start", "npm run serve"])("%s", (command) => {
  it.each(["SIGTERM", "SIGINT"] as const)(
    "ends with all that it started on %s to npm",
    async (signal) => {
      const service = await start(command);
      await shouldDrainAndEnd(service, () => service.process.kill(signal));
    },
    180_000,
  ); // `npm start` compiles the program first.
});

it("ends so on Ctrl-C, which reaches every process of the terminal and is handed on by npm besides", async () => {
  const service = await start("npm start");
  await shouldDrainAndEnd(service, () => signalGroup(service, "SIGINT"));
});
