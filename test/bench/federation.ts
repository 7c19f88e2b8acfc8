import { benchEvaluators } from "./federation/evaluators.ts";
import { type FederationOptions, readOptions } from "./federation/options.ts";
import { runRowsBench } from "./federation/rows.ts";
import { runShapesBench } from "./federation/shapes.ts";
import { runShardsFederationBench } from "./federation/shards.ts";
import { runShopBench } from "./federation/shop.ts";

/** A part of federation that is measured. */
type Part = (options: FederationOptions) => Promise<void>;

const parts: Readonly<Record<string, Part>> = {
  evaluators: benchEvaluators,
  shapes: runShapesBench,
  shards: runShardsFederationBench,
  shop: runShopBench,
  rows: runRowsBench,
};

/**
 * Measures federation, part by part: those that are named, else all.
 * @throws Error for an unknown part or option, when a part cannot measure, and when an answer of Fedway's is wrong
 */
export async function runFederationBench(flags: readonly string[], named: readonly string[]): Promise<void> {
  const unknown = named.find((name) => !Object.hasOwn(parts, name));
  if (unknown !== undefined) throw new Error(`unknown part ${unknown}; there are ${Object.keys(parts).join(", ")}`);
  const options = readOptions(flags);
  for (const [name, run] of Object.entries(parts)) {
    if (named.length > 0 && !named.includes(name)) continue;
    process.stdout.write(`\n${name}\n`);
    await run(options);
  }
}
