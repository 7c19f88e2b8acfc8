import { isCount, isShape, isText, matches, optional } from "../guards.ts";
import { packageFolder } from "../package/create-packager.ts";
import { datasetPattern } from "../spec.ts";
import { datasetJobs } from "./dataset-jobs.ts";

const isPayload = isShape({
  dataset: matches(datasetPattern),
  baseUrl: isText,
  timeoutMs: optional(isCount),
  folder: isText,
});

/** Jobs that make packages in `packages/` of the data folder, which replace those of before. */
export const packageJobs = datasetJobs({
  name: "package-shards",
  isPayload,
  async run({ dataset, baseUrl, timeoutMs }, { config, folder, scratch, runTask, options }) {
    const { dataDir, limits } = config;
    const output = packageFolder(dataDir, dataset);
    const made = { output, baseUrl, timeoutMs, memoryMb: limits.hostedTotalMb, scratch };
    return runTask({ kind: "package", folder, options: made }, options);
  },
});
