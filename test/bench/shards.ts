import { cpus } from "node:os";
import { writeReport } from "./proxy/report.ts";
import { measureLoading } from "./shards/loading.ts";

/** Measures the shard materialiser. @throws Error when triples are missing */
export async function runShardsBench({ quick }: { readonly quick: boolean }): Promise<void> {
  const loading = await measureLoading({ quick });
  const machine = { node: process.version, processors: cpus().length, model: cpus()[0]?.model ?? "unknown" };
  process.stdout.write(`\nwritten to ${await writeReport("shards", { machine, loading })}\n`);
}
