import { get, type IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Engine } from "../support/engines/engine.ts";
import { startFuseki } from "../support/engines/fuseki.ts";
import { startVirtuoso } from "../support/engines/virtuoso.ts";
import { numbers, prefixes, texts, virtuosoGraph } from "./data.ts";
import { type Fedway, startFedway } from "../support/fedway.ts";
import { readAnswer } from "../support/read-answer.ts";

const json = "application/sparql-results+json";
/** 30 MB, far more than sockets and read-ahead can hold on the way, in few rows: Virtuoso writes 5,000 rows a second. */
const largeRows = 20_000;
const large = `${prefixes}SELECT ?t ?x WHERE { ?a ex:text ?t . ?b ex:n ?x } LIMIT ${largeRows}`;
const largeBytes = 30_000_000;
const small = `${prefixes}SELECT ?x WHERE { <http://example.org/number/3> ex:n ?x }`;

let engines: Readonly<Record<string, Engine>>;
let fedway: Fedway;

beforeAll(async () => {
  const data = numbers(100) + texts(1_000);
  const [virtuoso, fuseki] = await Promise.all([
    startVirtuoso({ graphs: { [virtuosoGraph]: data } }),
    startFuseki({ data }),
  ]);
  engines = { virtuoso, fuseki };
  fedway = await startFedway({ virtuoso: virtuoso.url, fuseki: fuseki.url });
});

afterAll(async () => {
  await fedway?.close();
  await Promise.all(Object.values(engines ?? {}).map((engine) => engine.stop()));
});

const engine = (name: string): Engine => {
  const found = engines[name];
  if (!found) throw new Error(`no engine ${name}`);
  return found;
};

/** Sends the large query and stops reading after the first bytes, so that most of the answer waits upstream. */
function beginLarge(name: string): Promise<IncomingMessage> {
  const url = `${fedway.url}/endpoints/${name}/sparql?${new URLSearchParams({ query: large }).toString()}`;
  return new Promise((resolve, reject) => {
    const request = get(url, { headers: { accept: json } }, (response) => {
      response.once("data", () => {
        response.pause();
        resolve(response);
      });
    });
    request.once("error", reject);
  });
}

/** How the rest of an answer ends: bytes read, and whether it ended as if it were complete. */
function readRest(response: IncomingMessage): Promise<{ readonly bytes: number; readonly complete: boolean }> {
  return new Promise((resolve) => {
    let bytes = 0;
    response.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
    });
    response.once("error", () => {});
    response.once("close", () => resolve({ bytes, complete: response.complete }));
    response.resume();
  });
}

async function waitForAnswer(name: string): Promise<Response> {
  const endsAt = Date.now() + 30_000;
  for (;;) {
    const response = await fedway.sparql(`/endpoints/${name}/sparql`, { query: small, accept: json });
    if (response.status === 200 || Date.now() > endsAt) return response;
    await response.arrayBuffer();
    await sleep(250);
  }
}

describe.each(["virtuoso", "fuseki"])("%s, killed in the middle of an answer", (name) => {
  let other: string;
  let runId: string | undefined;

  beforeAll(() => {
    other = name === "virtuoso" ? "fuseki" : "virtuoso";
  });

  it("sends the whole large answer when it is left alone", async () => {
    const response = await fedway.sparql(`/endpoints/${name}/sparql`, { query: large, accept: json });
    const run = response.headers.get("fedway-run");
    const answer = await readAnswer(response);
    expect(answer.kind === "bindings" && answer.rows.length).toBe(largeRows);
    const record = await fedway.endedRun(run);
    expect(record).toMatchObject({ status: "ok", rows: largeRows });
    expect(record.bytes).toBeGreaterThan(largeBytes);
  });

  it("leaves the client with a response that is visibly cut off", async () => {
    const response = await beginLarge(name);
    expect(response.statusCode).toBe(200);
    runId = String(response.headers["fedway-run"]);
    await engine(name).kill();
    const { bytes, complete } = await readRest(response);
    expect(complete).toBe(false);
    expect(bytes).toBeLessThan(largeBytes);
  });

  it("is recorded as a failed run", async () => {
    expect(runId).toBeDefined();
    expect(await fedway.endedRun(runId ?? null)).toMatchObject({
      status: "failed",
      code: "ENDPOINT_BROKE_OFF",
      sources: [{ endpoint: name, status: "failed" }],
    });
  });

  it("leaves the service and the other engine at work", async () => {
    expect((await fetch(`${fedway.url}/health/live`)).status).toBe(200);
    const response = await fedway.sparql(`/endpoints/${other}/sparql`, { query: small, accept: json });
    expect(await readAnswer(response)).toEqual({ kind: "bindings", rows: ["?x=3^^integer"] });
  });

  it("is unreachable while it is down, with an error that says so", async () => {
    const response = await fedway.sparql(`/endpoints/${name}/sparql`, { query: small, accept: json });
    expect(response.status).toBe(502);
    expect(await response.json()).toMatchObject({ code: "ENDPOINT_UNREACHABLE", where: { endpoint: name } });
  });

  it("answers again after it was started again", async () => {
    await engine(name).restart();
    expect(await readAnswer(await waitForAnswer(name))).toEqual({ kind: "bindings", rows: ["?x=3^^integer"] });
  });
});
