import { join } from "node:path";
import type { Logger } from "pino";
import type { Config } from "../config/config.ts";
import { type EndpointPool, storeMemoryMb } from "../hosting/endpoint-pool.ts";
import type { LocalDispatch } from "../outbound/local-answer.ts";
import { ShardHost } from "../shards/service/host.ts";
import { shardTaskRunner } from "../shards/service/run-task.ts";
import { createShardService } from "../shards/service/shard-service.ts";
import { faultLog } from "../telemetry/log.ts";
import { scriptBeside } from "../workers/child-process.ts";
import type { Foundation, Registry } from "./open-registry.ts";

/** The shards of the service before there is a catalogue: what is hosted can be asked. */
type HostedShards = Awaited<ReturnType<typeof hostShards>>;

/** Hosts the finished shards of the data folder and of `FEDWAY_SHARDS`. */
export async function hostShards({ dataDir, limits, publicUrl, shards }: Config, log: Logger, pool: EndpointPool) {
  const host = new ShardHost({
    root: join(dataDir, "shards"),
    folders: shards,
    hostShard: (dataset, { id, triples, path, sha256, lineBytes: bytes }) =>
      pool.endpoint({
        id: `${dataset}/${id}`,
        source: { kind: "files", files: [{ path, sha256 }], bytes },
        memoryMb: storeMemoryMb({ bytes, triples }, limits.hostedMemoryMb),
      }),
    onRefused: (folder, reason) => log.warn({ folder, reason }, "shards are not hosted"),
  });
  await host.scan();
  const prefix = `${publicUrl}/shards/`;
  /** Answers this service's own `/shards/{dataset}/{shard}/sparql` URLs in-process. */
  const local: LocalDispatch = (url) => {
    if (!url.startsWith(prefix)) return undefined;
    const [dataset = "", shard = "", last, ...more] = url.slice(prefix.length).split("/");
    const endpoint = last === "sparql" && more.length === 0 ? host.endpoint(dataset, shard) : undefined;
    return endpoint && ((query) => endpoint.query(query));
  };
  return { host, local };
}

/** Opens the shards of the service: registered, built and verified on request; their work runs in processes of `shard-process.ts`. */
export function openShards(foundation: Foundation, { host }: HostedShards, { catalog, descriptions }: Registry) {
  const { config, log, jobs, state } = foundation;
  return createShardService({
    config,
    host,
    catalog,
    descriptions,
    jobs,
    ...state,
    runTask: shardRunner(config),
    log,
    onFault: faultLog(log, "background work failed"),
  });
}

/** Runs pieces of work on shards in processes of their own. */
export const shardRunner = ({ limits }: { readonly limits: Pick<Config["limits"], "shardMemoryMb"> }) =>
  shardTaskRunner(scriptBeside(import.meta.url, "shard-process"), limits.shardMemoryMb);
