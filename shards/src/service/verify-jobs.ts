import { toFedwayError } from "../../../src/errors/fedway-error.ts";
import { readOrigins, readReport } from "../finished-folder.ts";
import { isFlag, isShape, isText, matches } from "../guards.ts";
import type { Input } from "../load/input.ts";
import { datasetPattern } from "../spec.ts";
import { readablePath } from "../spec-paths.ts";
import type { VerifiedQuery } from "../verify/compare-answers.ts";
import type { Check, Verification } from "../verify/verification.ts";
import type { Unread } from "../verify/verify.ts";
import { inputFolder } from "./build-jobs.ts";
import { type DatasetResult, datasetJobs } from "./dataset-jobs.ts";
import type { ShardSettings } from "./shard-service.ts";

const answersMs = 30 * 60_000;
const maxAnswerBytes = 16 * 1024 * 1024;
const mostInputs = 1_000;

/** Result of a verification job: the findings, each cut to a readable length. */
export interface VerifyJobResult extends Verification, DatasetResult {}

const isPayload = isShape({ dataset: matches(datasetPattern), answers: isFlag, folder: isText });

/**
 * Jobs that verify shards with inputs from below `shards-input/` of the data folder; `answers`: compare the answers of all
 * queries too.
 */
export const verifyJobs = datasetJobs({
  name: "verify-shards",
  isPayload,
  async run({ answers }, { config, folder, scratch, runTask, options }) {
    const { hostedTimeoutMs, hostedTotalMb } = config.limits;
    const [inputs, queries] = await Promise.all([inputsOf(config, folder), queriesOf(folder)]);
    const limits = { timeoutMs: hostedTimeoutMs, memoryMb: Math.ceil(hostedTotalMb / 2), maxAnswerBytes };
    const verified = { folder, inputs, queries, answers, limits, scratch };
    return inShort(await runTask({ kind: "verify", options: verified, answersMs }, options));
  },
});

const elsewhere =
  "What the shards were made of does not lie below shards-input/ of the data folder (any more). The command " +
  "fedway shards verify reads it anywhere.";

/** The inputs, where all of them lie where jobs may read: the note on where they lay may come from anybody. */
async function inputsOf(config: Pick<ShardSettings, "dataDir">, folder: string): Promise<readonly Input[] | Unread> {
  const baseDir = await inputFolder(config);
  try {
    const origins = await readOrigins(folder);
    if (origins.length > mostInputs) return { unread: elsewhere };
    const paths = await Promise.all(origins.map((path) => readablePath(path, { baseDir, readable: [baseDir] })));
    return paths.map((path) => ({ path }));
  } catch (error) {
    const { code, message } = toFedwayError(error);
    if (code === "REQUEST_INVALID") return { unread: elsewhere };
    if (code === "SHARDS_UNKNOWN" || code === "SHARDS_INVALID") return { unread: message };
    throw error;
  }
}

async function queriesOf(folder: string): Promise<readonly VerifiedQuery[] | Unread> {
  try {
    const { queries } = await readReport(folder);
    return queries.map(({ id, text, federated }) => ({ id, text, federated }));
  } catch (error) {
    const { code, message } = toFedwayError(error);
    if (code === "SHARDS_UNKNOWN" || code === "SHARDS_INVALID") return { unread: message };
    throw error;
  }
}

const longestSubject = 300;
const longestReason = 600;
const cut = (text: string, length: number): string => (text.length > length ? `${text.slice(0, length)}…` : text);

const inFewWords = (check: Check): Check => ({
  ...check,
  findings: check.findings.map(({ subject, reason }) => ({
    subject: cut(subject, longestSubject),
    reason: cut(reason, longestReason),
  })),
});

/** A few dozen findings at most, which fits into a job whatever queries and data are called. */
const inShort = ({ outcome, checks }: Verification): Verification => ({ outcome, checks: checks.map(inFewWords) });
