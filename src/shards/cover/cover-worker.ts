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
/** With so few rules the function without cuts is there in a second, and its sparse matrix branches fast. */
const quickRules = 150;
const quickNodes = 50_000;

function send(message: CoverMessage): void {
  parentPort?.postMessage(message, []);
}
const better = (lowerBound: number): void => send({ kind: "bound", lowerBound });

const chosen = searchCover(instance, searchSteps);
send({ kind: "cover", chosen });
const target = chosen.length;
let proven = linearBound(instance, target);
better(proven);
const rules = instance.rules.length;
if (proven < target && rules <= quickRules) proven = raise({ nodes: quickNodes, cuts: false });
if (proven < target && rules <= maxQuadraticRules) raise({ nodes: maxNodes, cuts: true });

/** The quadratic bound, then branching over it. */
function raise({ nodes, cuts }: { readonly nodes: number; readonly cuts: boolean }): number {
  const minorant = quadraticMinorant(instance, better, cuts ? { target } : undefined);
  return minorant === undefined ? 0 : branchCover(instance, minorant, { target, nodes, better });
}
