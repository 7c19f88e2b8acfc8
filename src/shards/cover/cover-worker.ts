/**
 * The worker thread for covers that are too large to be solved to the end. Input: `workerData` (`CoverInstance`). Output:
 * `CoverMessage`s: one cover, then bounds that rise. It runs from source (Node strips the types) and compiled.
 */
import { parentPort, workerData } from "node:worker_threads";
import { branchCover } from "./branch-cover.ts";
import type { CoverInstance } from "./cover-instance.ts";
import type { CoverMessage } from "./cover-protocol.ts";
import { linearBound } from "./linear-bound.ts";
import { maxQuadraticRules, quadraticMinorant } from "./quadratic-bound.ts";
import { searchCover } from "./search-cover.ts";

const instance: CoverInstance = workerData;
const searchSteps = 200_000;
/** About 300 bytes each. */
const maxNodes = 500_000;

function send(message: CoverMessage): void {
  parentPort?.postMessage(message, []);
}
const better = (lowerBound: number): void => send({ kind: "bound", lowerBound });

const chosen = searchCover(instance, searchSteps);
send({ kind: "cover", chosen });
const linear = linearBound(instance, chosen.length);
better(linear);
if (linear < chosen.length && instance.rules.length <= maxQuadraticRules) {
  const minorant = quadraticMinorant(instance, better);
  if (minorant !== undefined) branchCover(instance, minorant, { target: chosen.length, nodes: maxNodes, better });
}
