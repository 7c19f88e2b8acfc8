import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type BuiltService, startBuiltService } from "./built-program.ts";
import { type RedisServer, startRedis } from "./engines/start-redis.ts";
import { newFolder } from "./scratch-folder.ts";
import { entryTurtle } from "./running-service.ts";

/** A deployment: processes of the built service that share one Redis. */
export interface Cluster {
  readonly redis: RedisServer;
  readonly webs: BuiltService[];
  readonly workers: BuiltService[];
  /** One more process; it joins the list. */
  start(role: "web" | "worker", env?: Readonly<Record<string, string>>): Promise<BuiltService>;
  /** Ends a process as a crash does, and takes it from its list. */
  kill(service: BuiltService): Promise<void>;
  /** Ends a process in order, and takes it from its list. */
  stop(service: BuiltService): Promise<number | null>;
  close(): Promise<void>;
}

/** What a deployment is started with. */
export interface ClusterOptions {
  /** URLs of endpoints by id. */
  readonly endpoints: Readonly<Record<string, string>>;
  readonly webs: number;
  readonly workers: number;
  readonly env?: Readonly<Record<string, string>>;
}

/** The token of changes. */
export const clusterToken = "cluster-test-token";

/** Starts Redis, then the processes. */
export async function startCluster({ endpoints, webs, workers, env = {} }: ClusterOptions): Promise<Cluster> {
  const redis = await startRedis();
  const folder = newFolder();
  for (const [id, url] of Object.entries(endpoints)) await writeFile(join(folder, `${id}.ttl`), entryTurtle(id, url));
  const lists: Record<"web" | "worker", BuiltService[]> = { web: [], worker: [] };
  const leave = (service: BuiltService): void => {
    for (const list of Object.values(lists)) {
      const index = list.indexOf(service);
      if (index >= 0) list.splice(index, 1);
    }
  };
  const cluster: Cluster = {
    redis,
    webs: lists.web,
    workers: lists.worker,
    async start(role, more = {}) {
      const service = await startBuiltService({
        ROLE: role,
        REDIS_URL: redis.url,
        FEDWAY_CATALOG: folder,
        FEDWAY_EXAMPLES: "off",
        FEDWAY_MONITOR: "on",
        FEDWAY_ALLOW_ADDRESSES: "127.0.0.0/8",
        FEDWAY_ADMIN_TOKEN: clusterToken,
        FEDWAY_LOG_LEVEL: "warn",
        ...env,
        ...more,
      });
      lists[role].push(service);
      return service;
    },
    async kill(service) {
      leave(service);
      const gone = new Promise((resolve) => service.process.once("exit", resolve));
      service.process.kill("SIGKILL");
      await gone;
    },
    stop(service) {
      leave(service);
      return service.stop();
    },
    async close() {
      await Promise.all([...lists.web, ...lists.worker].map((service) => service.stop()));
      await redis.stop();
    },
  };
  try {
    for (let index = 0; index < webs; index++) await cluster.start("web");
    for (let index = 0; index < workers; index++) await cluster.start("worker");
    return cluster;
  } catch (error) {
    await cluster.close();
    throw error;
  }
}

/** A change or a wish, with the token. */
export const withToken = (
  init: Omit<RequestInit, "headers"> & { readonly headers?: Readonly<Record<string, string>> } = {},
): RequestInit => ({
  ...init,
  headers: { Authorization: `Bearer ${clusterToken}`, ...init.headers },
});
