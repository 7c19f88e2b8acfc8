import type { CommandPlugin } from "../cli/cli-io.ts";
import type { Config } from "../config/config.ts";
import { FedwayError } from "../errors/fedway-error.ts";
import type { PluginRoutes } from "../http/http-deps.ts";

/** The benchmark factory; undefined, and nothing of it is loaded, with `FEDWAY_SHARDS=off`. */
export const loadShards = async ({ shards }: Pick<Config, "shards">) =>
  shards === "off" ? undefined : import("../../shards/src/plugin.ts");

/** The commands of the benchmark factory, `shards` and `evaluate`; the rest of it is loaded when one of them is run. */
export async function shardCommands(isOff: boolean, config: () => Pick<Config, "dataDir">): Promise<CommandPlugin> {
  if (isOff) return addOffCommand;
  const [{ addShards, loadShardCommands }, { addEvaluate }] = await Promise.all([
    import("../../shards/src/cli/shards-program.ts"),
    import("../../shards/src/cli/evaluate-program.ts"),
  ]);
  return (program, running) => {
    addShards(program, running, () => loadShardCommands(config().dataDir));
    addEvaluate(program, running);
  };
}

const switchedOff = (code: "SHARDS_UNKNOWN" | "CONFIG_INVALID") =>
  new FedwayError(code, "Shards are switched off (FEDWAY_SHARDS=off).", { next: "Start without FEDWAY_SHARDS=off." });

/** Stands in for the routes of shards that are switched off. */
export const offRoutes: PluginRoutes = {
  addRoutes(app) {
    for (const url of ["/api/shards", "/api/shards/*", "/shards", "/shards/*"]) {
      app.all(url, { schema: { hide: true } }, () => {
        throw switchedOff("SHARDS_UNKNOWN");
      });
    }
  },
};

const addOffCommand: CommandPlugin = (program) => {
  for (const name of ["shards", "evaluate"]) {
    program
      .command(name, { hidden: true })
      .argument("[words...]")
      .allowUnknownOption()
      .action(() => {
        throw switchedOff("CONFIG_INVALID");
      });
  }
};
