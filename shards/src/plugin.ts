import { join } from "node:path";
import type { Logger } from "pino";
import type { Config } from "../../src/config/config.ts";
import { type EndpointPool, storeMemoryMb } from "../../src/hosting/endpoint-pool.ts";
import type { HostedEndpoint } from "../../src/hosting/hosted-endpoint.ts";
import type { LocalDispatch } from "../../src/outbound/local-answer.ts";
import { faultLog } from "../../src/telemetry/log.ts";
import { scriptBeside } from "../../src/workers/child-process.ts";
import { ShardHost } from "./service/host.ts";
import { shardRoutes } from "./service/routes.ts";
import { shardTaskRunner } from "./service/run-task.ts";
import { createShardService, type ShardServiceParts } from "./service/shard-service.ts";

/** Parts from `app/`: the catalogue, the queue and the state of the service. */
type ServiceParts = Pick<ShardServiceParts<HostedEndpoint>, "catalog" | "descriptions" | "jobs" | "soleOwner">;

/**
 * Hosts the finished shards of the data folder and of `FEDWAY_SHARDS`, before there is a catalogue; `open` registers, builds
 * and verifies shards once there is one.
 */
export async function hostShards(config: Config, log: Logger, pool: EndpointPool) {
  const { dataDir, limits, publicUrl, shards: folders } = config;
  const host = new ShardHost({
    root: join(dataDir, "shards"),
    folders: folders === "off" ? [] : folders,
    hostShard: (dataset, { id, triples, path, sha256, lineBytes: bytes }) =>
      pool.endpoint({
        id: `${dataset}/${id}`,
        source: { kind: "files", files: [{ path, sha256 }], triples },
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
    return last === "sparql" && more.length === 0 ? host.endpoint(dataset, shard) : undefined;
  };
  const open = (parts: ServiceParts) => {
    const onFault = faultLog(log, "background work failed");
    const { service, ...opened } = createShardService({
      ...parts,
      config,
      host,
      runTask: shardRunner(config),
      log,
      onFault,
    });
    return { ...opened, routes: shardRoutes(service) };
  };
  return { local, open };
}

/** Runs pieces of work on shards in processes of their own. */
export const shardRunner = ({ limits }: { readonly limits: Pick<Config["limits"], "shardMemoryMb"> }) =>
  shardTaskRunner(scriptBeside(import.meta.url, "shard-process"), limits.shardMemoryMb);
