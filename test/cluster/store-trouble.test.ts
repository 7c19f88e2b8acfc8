import { afterEach, describe, expect, it } from "vitest";
import { type BuiltService, startBuiltService, startProgram } from "../support/built-program.ts";
import { withToken, clusterToken } from "../support/cluster.ts";
import { type RedisServer, startRedis } from "../support/engines/start-redis.ts";
import { freePort } from "../support/listening.ts";
import { openSlowLink } from "../support/slow-link.ts";
import { newFolder } from "../support/scratch-folder.ts";

const env = { FEDWAY_ADMIN_TOKEN: clusterToken, FEDWAY_MONITOR: "off", FEDWAY_LOG_LEVEL: "warn" };
const headers = { "Content-Type": "application/json" };

const closings: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closings.splice(0).toReversed()) await close();
});

/** The README's smallest question to an example endpoint. */
async function answers(service: BuiltService): Promise<number> {
  const query = "ASK { SERVICE <people> { ?s ?p ?o } }";
  const response = await fetch(`${service.url}/sparql`, {
    method: "POST",
    body: new URLSearchParams({ query }),
  });
  return response.status;
}

function add(service: BuiltService, id: string, description: string): Promise<Response> {
  const body = JSON.stringify({ id, title: id, description, url: `https://${id}.example.org/sparql` });
  return fetch(`${service.url}/api/endpoints`, withToken({ method: "POST", body, headers }));
}

const statusOf = async (service: BuiltService, id: string): Promise<number> =>
  (await fetch(`${service.url}/api/endpoints/${id}`)).status;

const mebi = 1024 * 1024;

/** Answered by a service whose data folder is a disk of that many bytes; `unshare` lets this process alone see it. */
async function startOnDisk(bytes: number): Promise<BuiltService> {
  const mount = `mount -t tmpfs -o size=${bytes} tmpfs "$FEDWAY_DATA_DIR" && exec "$@"`;
  const service = await startBuiltService(
    { ...env, FEDWAY_DATA_DIR: newFolder() },
    `exec unshare --user --map-root-user --mount bash -c '${mount}' bash "$@"`,
  );
  closings.push(() => service.stop());
  return service;
}

const stateOf = async (service: BuiltService): Promise<{ ok: boolean; detail: string }> =>
  (
    (await (await fetch(`${service.url}/health/ready`)).json()) as {
      checks: { state: { ok: boolean; detail: string } };
    }
  ).checks.state;

describe("a full disk", () => {
  it("still takes deletes, is told as such, and is noticed when there is room again", async () => {
    const service = await startOnDisk(5.25 * mebi);
    const text = "What an entry is about. ".repeat(60);
    const acknowledged: string[] = [];
    let refused = 0;
    for (let index = 0; index < 5_000 && refused < 20; index += 1) {
      // Ever shorter ones: in the end there is no room for anything, so that no write in the background succeeds.
      const response = await add(service, `entry-${index}`, `${index} ${text.slice(72 * refused)}`);
      const { status } = response;
      if (status === 201) acknowledged.push(`entry-${index}`);
      else refused += 1;
    }
    process.stdout.write(`${acknowledged.length} entries were acknowledged before the disk was full\n`);
    expect(acknowledged.length).toBeGreaterThan(100);
    expect(await stateOf(service)).toMatchObject({ ok: false, detail: expect.stringContaining("writes fail since") });
    expect(await (await fetch(`${service.url}/status`)).text()).toContain("cannot store anything");
    expect(await (await fetch(`${service.url}/metrics`)).text()).toMatch(/^fedway_store_writes_failing(\{.*\})? 1$/m);
    expect(service.log()).toContain("nothing can be stored any more");
    expect(await answers(service)).toBe(200);
    for (const id of acknowledged) {
      const removed = await fetch(`${service.url}/api/endpoints/${id}`, withToken({ method: "DELETE" }));
      expect([id, removed.status]).toEqual([id, 204]);
    }
    await service.until(async () => (await stateOf(service)).ok || undefined);
    expect((await add(service, "one-more", "There is room again.")).status).toBe(201);
  });

  it("refuses changes with a clear error, keeps what was acknowledged and goes on answering", async () => {
    const folder = newFolder();
    // No file may grow beyond 1 MiB; the write fails as on a full disk, instead of a signal.
    const full = await startBuiltService(
      { ...env, FEDWAY_DATA_DIR: folder },
      `trap '' XFSZ; ulimit -f 1024; exec "$@"`,
    );
    closings.push(() => full.stop());
    const text = "What an entry is about. ".repeat(60);
    const acknowledged: string[] = [];
    let refusal: Response | undefined;
    for (let index = 0; index < 1_000 && refusal === undefined; index++) {
      const response = await add(full, `entry-${index}`, `${index} ${text}`);
      if (response.status === 201) acknowledged.push(`entry-${index}`);
      else refusal = response;
    }
    process.stdout.write(`${acknowledged.length} entries were acknowledged before the disk was full\n`);
    expect(acknowledged.length).toBeGreaterThan(10);
    expect(refusal?.status).toBe(503);
    expect(await refusal?.json()).toMatchObject({ code: "STORE_FAILED" });
    expect(await answers(full)).toBe(200);
    for (const id of acknowledged) expect(await statusOf(full, id)).toBe(200);
    await full.stop();

    const roomy = await startBuiltService({ ...env, FEDWAY_DATA_DIR: folder });
    closings.push(() => roomy.stop());
    for (const id of acknowledged) expect(await statusOf(roomy, id)).toBe(200);
    expect((await add(roomy, "one-more", "There is room again.")).status).toBe(201);
  });
});

describe("a slow store", () => {
  let redis: RedisServer;
  let link: Awaited<ReturnType<typeof openSlowLink>>;

  it("slows down changes, and nothing else", async () => {
    redis = await startRedis();
    closings.push(() => redis.stop());
    link = await openSlowLink(redis.port);
    closings.push(() => link.close());
    const service = await startBuiltService({ ...env, REDIS_URL: `redis://127.0.0.1:${link.port}` });
    closings.push(() => service.stop());
    link.setDelay(400);
    const startedMs = performance.now();
    for (let index = 0; index < 10; index++) expect(await answers(service)).toBe(200);
    const queriesMs = performance.now() - startedMs;
    expect((await add(service, "slowly", "It takes its time.")).status).toBe(201);
    const changeMs = performance.now() - startedMs - queriesMs;
    process.stdout.write(`ten queries ${queriesMs.toFixed(0)} ms, one change ${changeMs.toFixed(0)} ms\n`);
    expect(changeMs).toBeGreaterThan(800);
    expect((await fetch(`${service.url}/health/ready`)).status).toBe(200);
    link.setDelay(0);
    expect(await statusOf(service, "slowly")).toBe(200);
  });
});

describe("a store that is not there yet", () => {
  const start = async (role: string, redis: RedisServer) => {
    const port = await freePort();
    const program = startProgram([process.execPath, "dist/main.js"], {
      ...env,
      PORT: String(port),
      ROLE: role,
      REDIS_URL: `redis://127.0.0.1:${redis.port}`,
    });
    closings.push(() => program.stop());
    return { ...program, url: `http://127.0.0.1:${port}` };
  };

  it("makes a worker wait until it answers, and a web process end with the reason", async () => {
    const redis = await startRedis();
    closings.push(() => redis.stop());
    redis.freeze();
    const worker = await start("worker", redis);
    await worker.until(() => worker.log().includes("starts when it answers") || undefined);
    const web = await start("web", redis);
    expect(await web.ended).toBe(1);
    expect(web.log()).toContain("STORE_FAILED");
    expect(worker.process.exitCode).toBeNull();
    redis.thaw();
    await worker.until(async () => (await fetch(`${worker.url}/health/ready`).catch(() => undefined))?.ok || undefined);
    expect(await worker.stop()).toBe(0);
  });

  it("does not keep a worker that waits from ending when it is told to", async () => {
    const redis = await startRedis();
    await redis.stop();
    const worker = await start("worker", redis);
    await worker.until(() => worker.log().includes("starts when it answers") || undefined);
    expect(await worker.stop()).toBe(0);
  });
});
