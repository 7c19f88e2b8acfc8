import { rm } from "node:fs/promises";
import { createConnection } from "node:net";
import { join } from "node:path";
import { requireProgram, type ServerProcess, startServer } from "./server-process.ts";
import { freePort } from "../listening.ts";
import { newFolder } from "../scratch-folder.ts";

/** A Redis server of the test's own, with an empty database. */
export interface RedisServer {
  readonly port: number;
  /** `redis://` URL; with the password, when one was asked for. */
  readonly url: string;
  /**
   * Ends the server as if its machine had died, and starts it again on the same port: with what it had saved, or `empty`,
   * as if its disk were gone too.
   */
  restart(options?: { readonly empty?: boolean }): Promise<void>;
  /** Ends the server; `restart` starts it again. */
  kill(): Promise<void>;
  /** Freezes the server: connections stay and are accepted, nothing is answered. */
  freeze(): void;
  /** Lets a frozen server go on. */
  thaw(): void;
  /** Ends the server and removes its files. */
  stop(): Promise<void>;
}

/** Starts a Redis server, in a folder with data where one is given. @throws Error that says what to install when there is none */
export async function startRedis(
  options: { readonly password?: string; readonly dir?: string } = {},
): Promise<RedisServer> {
  const command = requireProgram("redis-server", "apt-get install redis-server");
  const scratch = options.dir ?? newFolder();
  const port = await freePort();
  const { password } = options;
  const args = ["--port", `${port}`, "--bind", "127.0.0.1", "--dir", scratch, "--save", "", "--appendonly", "yes"];
  args.push(
    "--appendfsync",
    "always",
    "--daemonize",
    "no",
    ...(password === undefined ? [] : ["--requirepass", password]),
  );
  const start = (): Promise<ServerProcess> =>
    startServer({
      name: "redis-server",
      command,
      args,
      cwd: scratch,
      ready: () => pings(port),
      readyWithinMs: 10_000,
    });
  let server = await start();
  return {
    port,
    url: `redis://${password === undefined ? "" : `:${encodeURIComponent(password)}@`}127.0.0.1:${port}`,
    async restart({ empty = false } = {}) {
      await server.kill();
      if (empty) await rm(join(scratch, "appendonlydir"), { recursive: true });
      server = await start();
    },
    kill: () => server.kill(),
    freeze: () => void process.kill(server.pid, "SIGSTOP"),
    thaw: () => void process.kill(server.pid, "SIGCONT"),
    async stop() {
      await server.stop();
    },
  };
}

/** True when the server answers PING, if only to ask for a password. */
function pings(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ host: "127.0.0.1", port, timeout: 1_000 });
    const end = (ready: boolean): void => {
      socket.destroy();
      resolve(ready);
    };
    socket.once("connect", () => socket.write("PING\r\n"));
    socket.once("data", (reply) => end(/^(\+PONG|-NOAUTH)/.test(reply.toString("latin1"))));
    socket.once("timeout", () => end(false));
    socket.once("error", () => end(false));
  });
}
