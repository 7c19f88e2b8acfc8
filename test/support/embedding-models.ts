import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/** Both are read by engines/fetch-embedding-model.sh. */
const modelsVersion = "1.8.0-beta15";
const runtimeVersion = "1.30.0";

/**
 * Folder of a model that engines/fetch-embedding-model.sh has fetched.
 * @throws Error when it is not there
 */
export function embeddingModelFolder(name = "all-minilm-l6-v2-q"): string {
  const cache = process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache");
  const folder = join(cache, "fedway", `embedding-models-${modelsVersion}`, name);
  if (!existsSync(join(folder, "complete")) || !existsSync(join(folder, "..", `runtime-${runtimeVersion}`))) {
    throw new Error(`There is no ${folder}; run test/support/engines/fetch-embedding-model.sh ${name}`);
  }
  return folder;
}
