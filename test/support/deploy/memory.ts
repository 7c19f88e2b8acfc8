import type { Config } from "../../../src/config/config.ts";

const units: Readonly<Record<string, number>> = { m: 2 ** 20, mi: 2 ** 20, g: 2 ** 30, gi: 2 ** 30 };

/** Bytes of a size as Compose (`2g`) and Kubernetes (`2Gi`) write it. */
export function inBytes(size: unknown): number {
  const [, count, unit = ""] = /^(\d+)([a-z]+)$/.exec(String(size).toLowerCase()) ?? [];
  return Number(count) * (units[unit] ?? Number.NaN);
}

const mebibyte = 2 ** 20;
/** What a process has beside its heap, measured at rest: code, buffers, the young generation. */
const besideMb = { main: 200, child: 100 };
/** The build and one of its parts, or a verification. */
const shardProcesses = 2;
const hostedMb = 768;

/** Bytes that the processes of a container may have together, given its environment. */
export function plannedBytes({ role, limits }: Config, nodeOptions: string | undefined): number {
  const heapMb = Number(/^--max-old-space-size=(\d+)$/.exec(nodeOptions ?? "")?.[1]);
  const main = heapMb + besideMb.main;
  const children =
    role === "worker"
      ? shardProcesses * (limits.shardMemoryMb + besideMb.child)
      : limits.evaluators * (limits.evaluatorMemoryMb + besideMb.child) + hostedMb;
  return (main + children) * mebibyte;
}
