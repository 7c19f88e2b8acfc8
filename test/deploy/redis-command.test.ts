import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { inBytes } from "../support/deploy/memory.ts";
import { renderOverlay } from "../support/deploy/rendered.ts";
import { requireProgram, type ServerProcess, startServer } from "../support/engines/server-process.ts";
import { freePort } from "../support/listening.ts";
import { newFolder } from "../support/scratch-folder.ts";

const password = "3f9c1e0d7b";

/** The shell text of the command that starts Redis, and of the one that asks how it is; what its container may hold. */
interface Scripts {
  readonly start: string;
  readonly ping: string;
  readonly memory: string;
}

function composeScripts(): Scripts {
  const file = fileURLToPath(new URL("../../deploy/compose.yaml", import.meta.url));
  const { redis } = (
    parse(readFileSync(file, "utf8"), { merge: true }) as {
      services: {
        redis: {
          command: readonly string[];
          healthcheck: { test: readonly string[] };
          deploy: { resources: { limits: { memory: string } } };
        };
      };
    }
  ).services;
  expect(redis.command.slice(0, 2)).toEqual(["/bin/sh", "-c"]);
  const plain = (text: string | undefined): string => (text ?? "").replaceAll("$$", "$");
  return {
    start: plain(redis.command[2]),
    ping: plain(redis.healthcheck.test[1]),
    memory: redis.deploy.resources.limits.memory,
  };
}

function kubernetesScripts(): Scripts {
  const { command = [], readinessProbe, resources } = renderOverlay("dev").workload("fedway-redis").container;
  const { exec } = readinessProbe as unknown as { exec: { command: readonly string[] } };
  expect([command.slice(0, 2), exec.command.slice(0, 2)]).toEqual([
    ["/bin/sh", "-c"],
    ["/bin/sh", "-c"],
  ]);
  return { start: command[2] ?? "", ping: exec.command[2] ?? "", memory: String(resources.limits["memory"]) };
}

const restoreScript = fileURLToPath(new URL("../../deploy/restore-redis.sh", import.meta.url));

describe.each([
  { where: "compose.yaml", scripts: composeScripts },
  { where: "the Redis component", scripts: kubernetesScripts },
])("Redis as $where starts it", ({ scripts }) => {
  let server: ServerProcess;
  let scratch: string;
  let port = 0;
  let ping = "";
  let processes = "";
  let memory = "";
  let start: () => Promise<ServerProcess>;

  const shell = (script: string, env: Readonly<Record<string, string>> = {}) =>
    spawnSync("/bin/sh", ["-c", script], { encoding: "utf8", env: { PATH: process.env["PATH"], ...env } });
  const setting = (name: string): string | undefined =>
    shell(`redis-cli -p ${port} config get ${name}`, { REDISCLI_AUTH: password }).stdout.split("\n")[1];

  beforeAll(async () => {
    requireProgram("redis-server", "apt-get install redis-server");
    scratch = newFolder();
    port = await freePort();
    const { start: script, ping: asked, memory: limit } = scripts();
    memory = limit;
    // Only where it keeps its data and listens differs here.
    expect(script).toContain(" --dir /data ");
    ping = asked.replace("redis-cli", `redis-cli -p ${port}`);
    expect(ping).not.toBe(asked);
    const here = script.replace(" --dir /data ", ` --dir ${scratch} --port ${port} --bind 127.0.0.1 `);
    start = () =>
      startServer({
        name: "redis-command",
        command: "/bin/sh",
        args: ["-c", here],
        cwd: scratch,
        env: { REDIS_PASSWORD: password },
        ready: async () => shell(ping, { REDISCLI_AUTH: password }).status === 0,
        readyWithinMs: 30_000,
      });
    server = await start();
    processes = readFileSync(`/proc/${server.pid}/cmdline`, "utf8");
  });

  afterAll(async () => {
    await server?.stop();
  });

  it("is the process itself, with the password nowhere in its command line", () => {
    expect(processes).toMatch(/^redis-server/);
    expect(processes).not.toContain(password);
  });

  it("asks for the password", () => {
    expect(setting("requirepass")).toBe(password);
    expect(shell(ping).status).not.toBe(0);
    expect(shell(ping, { REDISCLI_AUTH: "guess" }).status).not.toBe(0);
    expect(shell(`redis-cli -p ${port} get x`).stdout).toContain("NOAUTH");
  });

  it("writes what it acknowledges to the disk first, and forgets nothing for want of memory", () => {
    const names = ["appendonly", "appendfsync", "save", "maxmemory-policy", "dir"];
    expect(names.map(setting)).toEqual(["yes", "always", "", "noeviction", scratch]);
    expect(shell(`ls ${join(scratch, "appendonlydir")}`).stdout).toContain("appendonly.aof");
  });

  it("refuses writes well before its container is ended for its memory", () => {
    const refusesAt = Number(setting("maxmemory"));
    expect(refusesAt).toBeGreaterThanOrEqual(inBytes(memory) / 4);
    expect(refusesAt).toBeLessThanOrEqual(inBytes(memory) / 2);
  });

  it("is restored from a backup by restore-redis.sh, and from nothing else", async () => {
    const pairsOf = (count: number): string =>
      Array.from({ length: count }, (_, at) => `set key${at} value${at}\n`).join("");
    const redisCli = (args: string, input = "") =>
      spawnSync("/bin/sh", ["-c", `redis-cli -p ${port} ${args}`], {
        input,
        env: { PATH: process.env["PATH"], REDISCLI_AUTH: password },
      });
    redisCli("", pairsOf(1_000));
    const backup = redisCli("--rdb -").stdout;
    expect(backup.subarray(0, 5).toString()).toBe("REDIS");
    redisCli("set key7 lost");
    redisCli("set later lost");
    await server.stop();
    const restore = (input: Buffer | string) =>
      spawnSync("/bin/sh", [restoreScript, String(port)], { cwd: scratch, input, timeout: 30_000 });
    expect(restore("<html>").status).toBe(1);
    const { status, stdout } = restore(backup);
    expect({ status, stdout: stdout.toString() }).toEqual({ status: 0, stdout: "restored 1000 keys\n" });
    server = await start();
    expect(redisCli("mget key0 key7 key999 later").stdout.toString()).toBe("value0\nvalue7\nvalue999\n\n");
  });
});
