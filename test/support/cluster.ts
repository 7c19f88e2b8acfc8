import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type BuiltService, startBuiltService } from "./built-program.ts";
import { startRedis } from "./engines/start-redis.ts";
import { newFolder } from "./scratch-folder.ts";
import { entryTurtle } from "./running-service.ts";

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

export type Cluster = Awaited<ReturnType<typeof startCluster>>;

/** A deployment: Redis, and processes of the built service that share it. */
export async function startCluster({ endpoints, webs, workers, env = {} }: ClusterOptions) {
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
  const cluster = {
    redis,
    webs: lists.web,
    workers: lists.worker,
    /** One more process; it joins the list. */
    async start(role: "web" | "worker", more: Readonly<Record<string, string>> = {}): Promise<BuiltService> {
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
    /** Ends a process as a crash does, and takes it from its list. */
    async kill(service: BuiltService): Promise<void> {
      leave(service);
      const gone = new Promise((resolve) => service.process.once("exit", resolve));
      service.process.kill("SIGKILL");
      await gone;
    },
    /** Ends a process in order, and takes it from its list. */
    stop(service: BuiltService): Promise<number | null> {
      leave(service);
      return service.stop();
    },
    async close(): Promise<void> {
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
