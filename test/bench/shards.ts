import { cpus } from "node:os";
import { writeReport } from "./proxy/report.ts";
import { measureFederating } from "./shards/federating.ts";
import { measureLargeCovers } from "./shards/large-cover.ts";
import { measureLoading } from "./shards/loading.ts";
import { nativeVersion } from "./shards/native-clingo.ts";
import { measureSolving } from "./shards/solving.ts";

/** Measures the shard materialiser. @throws Error when triples are missing, optima differ, or native clingo is missing */
export async function runShardsBench({ quick }: { readonly quick: boolean }): Promise<void> {
  // What is missing is said before anything long is measured.
  const nativeClingo = await nativeVersion();
  const solving = await measureSolving({ quick });
  const largeCovers = await measureLargeCovers({ quick });
  const federating = await measureFederating({ quick });
  const loading = await measureLoading({ quick });
  const machine = { node: process.version, processors: cpus().length, model: cpus()[0]?.model ?? "unknown" };
  const report = {
    machine,
    nativeClingo,
    federating,
    loading,
    solving,
    largeCovers,
  };
  process.stdout.write(`\nwritten to ${await writeReport("shards", report)}\n`);
}
