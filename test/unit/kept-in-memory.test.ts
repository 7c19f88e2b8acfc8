import { readdirSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { expect, it } from "vitest";
import { parseAst } from "vitest/node";

// Everything that outlives a request has a bound in bytes: the table in src/README.md says which. What is not in the table is
// here, with the reason why nobody outside can make it grow.

const root = new URL("../..", import.meta.url).pathname;

/** A file, the names of some of its fields or variables behind #, or a folder; of `src` where nothing else is said. */
const elsewhere: Readonly<Record<string, readonly string[]>> = {
  "lives as long as one query, answer or document, whose account or bytes bound it": [
    "agent/ask/asking.ts",
    "completion/read-query.ts",
    "diagnosis/check/table-query.ts#properties",
    "diagnosis/check/type-check.ts",
    "diagnosis/why/prober.ts#known",
    "engine/clause-executor.ts#gone #firsts",
    "plan/fill-prefixes.ts#counted",
    "engine/evaluated-clause.ts",
    "engine/evaluator/buffered-join.ts",
    "engine/evaluator/existence.ts",
    "engine/evaluator/group.ts",
    "engine/evaluator/join-blocks.ts",
    "engine/evaluator/ordered-join.ts",
    "engine/evaluator/query-use.ts",
    "engine/evaluators/flight.ts",
    "engine/execution-account.ts",
    "engine/expressions/backtracking.ts",
    "engine/expressions/xpath-pattern.ts",
    "engine/bound-target.ts",
    "engine/shared-answers.ts#open #batches",
    "engine/sources/key-routes.ts",
    "engine/sources/merged-graph.ts",
    "engine/sources/pattern-units.ts",
    "engine/sources/property-path.ts",
    "engine/sources/subject-homes.ts",
    "engine/sources/term-spaces.ts",
    "hosting/held-answers.ts",
    "hosting/store-thread.ts#composedOf",
    "outbound/answer.ts",
    "outbound/credentials.ts#sentTokens",
    "outbound/exchange.ts",
    "plan/adapted-keys.ts",
    "plan/portable-plan.ts",
    "plan/pruned-keys.ts",
    "query/run-log.ts#sources #steps",
    "rdf/turtle.ts",
    "rdf/write-turtle.ts",
    "results/answer-reader.ts",
    "results/encoders.ts",
    "results/item-reader.ts#batch",
    "results/json-structure.ts",
    "results/read-json-ld.ts",
    "results/read-json.ts#signs",
    "results/read-records.ts",
    "results/read-xml.ts#signs #names",
    "results/serialize.ts",
    "results/xml-rows.ts#open #triples #rows #row",
    "selection/member-view.ts",
    "sparql/structure/analysis.ts",
    "sparql/dialect/stumble.ts",
    "sparql/patterns/joined-patterns.ts",
    "sparql/patterns/monotone.ts",
    "sparql/parse/parse-tree.ts#exists",
    "sparql/parse/term-reader.ts#places",
    "sparql/rewrite/spelled-query.ts",
    "sparql/rewrite/substitution.ts",
  ],
  "one entry for each call, thread, socket or listener at once, which are bounded where they are let in": [
    "app/lifecycle.ts",
    "clients/quotas.ts#settling",
    "diagnosis/why/share-work.ts",
    "engine/evaluators/evaluator-process.ts",
    "engine/evaluators/evaluators.ts",
    "engine/evaluators/sharing-client.ts#flights",
    "engine/sources/pattern-source.ts#underWay",
    "hosting/endpoint-pool.ts#jobs",
    "http/client-turns.ts",
    "http/server.ts",
    "jobs/bullmq/bullmq-worker.ts",
    "jobs/embedded/runner.ts",
    "jobs/watchers.ts",
    "mcp/http-handler.ts",
    "outbound/documents.ts",
    "outbound/endpoint-states.ts#listeners",
    "outbound/host-rates.ts#queue",
    "outbound/network.ts#tasks",
    "outbound/scheduler.ts",
    "query/admission.ts",
    "registry/catalog/open-catalog.ts#listeners",
    "registry/model/endpoint-models.ts#listeners",
    "registry/descriptions/description-service.ts",
    "results/item-reader.ts#waiting",
    "selection/existence.ts#asking",
    "selection/source-verifier.ts",
    "store/redis/redis-watch.ts",
    "store/sqlite/sqlite-store.ts",
    "store/sqlite/write-batch.ts",
    "telemetry/otlp-tracing.ts",
    "workers/child-process.ts",
    "workers/fair-queue.ts",
    "workers/peer.ts",
    "workers/threads.ts",
  ],
  "as large as the catalogue and the descriptions of its endpoints, which an operator chooses": [
    "agent/container/container.ts#kept",
    "completion/known-terms.ts",
    "dataset/registry-graphs.ts",
    "diagnosis/check/vocabulary.ts",
    "hosting/endpoint-pool.ts#slots",
    "hosting/spelled-data.ts",
    "jobs/bullmq/schedules.ts",
    "jobs/embedded/embedded-job-queue.ts#schedules",
    "monitor/apply-health.ts",
    "monitor/create-monitor.ts",
    "monitor/prober.ts",
    "monitor/turns.ts",
    "monitor/watchdog.ts",
    "outbound/credentials.ts#known",
    "registry/capabilities/capability-service.ts",
    "registry/catalog/index-catalog.ts",
    "registry/catalog/open-catalog.ts#overlays",
    "registry/catalog/resolve-catalog.ts",
    "registry/find/tables/example-index.ts",
    "registry/find/read/example-service.ts",
    "registry/find/tables/known-federations.ts",
    "registry/find/tables/endpoint-tables.ts",
    "registry/find/rank/rank-endpoints.ts",
    "registry/model/endpoint-models.ts#models",
    "registry/model/text-pool.ts",
    "registry/find/tables/texts.ts",
    "registry/find/tables/value-index.ts",
    "registry/descriptions/due-descriptions.ts",
    "registry/find/tables/text-vectors.ts",
    "selection/check-drift.ts",
    "selection/fact-table.ts",
    "selection/follow-facts.ts",
    "selection/open-sources.ts",
    "store/mirror.ts",
    "telemetry/instruments.ts",
    "shards/src/service/host.ts",
  ],
  "lives as long as one job on an endpoint or a build, whose settings bound it": [
    "registry/descriptions/compute/batches.ts",
    "registry/descriptions/compute/todo.ts",
    "registry/descriptions/compute/read-whole.ts",
    "registry/find/read/harvester.ts",
    "registry/descriptions/linkset-finder.ts",
    "registry/descriptions/quad-writer.ts",
    "registry/descriptions/void-retriever.ts",
    "shards/src/load/",
    "shards/src/materialise/",
    "shards/src/package/",
    "shards/src/questions/",
    "shards/src/report/",
    "shards/src/rules/",
    "shards/src/solver/",
    "shards/src/variants/",
    "shards/src/verify/",
  ],
  "a constant, or filled from constants": [
    "shards/src/evaluate/score/question-score.ts#noCalls",
    "engine/clause-executor.ts#noBindings",
    "engine/evaluator/expressions.ts",
    "engine/expressions/character-sets.ts",
    "http/gatekeeping.ts",
    "http/pages/strip.ts",
    "http/protocol-operation.ts",
    "http/write-access.ts",
    "jobs/embedded/embedded-job-queue.ts",
    "outbound/attempt.ts",
    "plan/create-planner.ts#noVariants",
    "query/run-log.ts#noRepairs #none",
    "registry/descriptions/compute/observation.ts",
    "registry/descriptions/compute/read-whole.ts#noTypes",
    "registry/find/words/words.ts",
    "results/negotiation.ts#acceptHeaders",
    "results/xml-rows.ts#noAttributes",
    "shards/src/target-lock.ts",
  ],
};

/** A part of the syntax tree (ESTree). */
interface Node {
  readonly type: string;
  readonly [part: string]: unknown;
}

const isNode = (part: unknown): part is Node => typeof part === "object" && part !== null && "type" in part;
const nameOf = (part: unknown): string => {
  const name = isNode(part) ? (part["name"] ?? part["value"]) : undefined;
  return typeof name === "string" || typeof name === "number" ? String(name) : "";
};

/** A cache, or an empty map, set or list: it is there to be filled. */
function isContainer(part: unknown): part is Node {
  if (!isNode(part)) return false;
  const given = part["arguments"] ?? part["elements"];
  if (part.type === "ArrayExpression") return Array.isArray(given) && given.length === 0;
  if (part.type !== "NewExpression") return false;
  const made = nameOf(part["callee"]);
  return made === "LRUCache" || ((made === "Map" || made === "Set") && Array.isArray(given) && given.length === 0);
}

/** Functions of these names make what lives on; their own variables outlive the call. */
const makers = /^(?:create|keep|open|share|start)[A-Z]/u;

/** The variables that a list of statements declares and that are to be filled. */
function declaredIn(body: unknown): readonly Node[] {
  const statements = Array.isArray(body) ? body.filter(isNode) : [];
  return statements
    .map((statement) => ("declaration" in statement ? statement["declaration"] : statement))
    .flatMap((inner) => (isNode(inner) && inner.type === "VariableDeclaration" ? inner["declarations"] : []))
    .filter((variable): variable is Node => isNode(variable) && isContainer(variable["init"]));
}

/** Variables of a module and of a maker's body, or fields of a class, that are to be filled. */
function keptBy(part: Node): readonly Node[] {
  if (part.type === "Program") return declaredIn(part["body"]);
  if (part.type === "PropertyDefinition") return isContainer(part["value"]) ? [part] : [];
  const isMaker = part.type === "FunctionDeclaration" && makers.test(nameOf(part["id"]));
  return isMaker && isNode(part["body"]) ? declaredIn(part["body"]["body"]) : [];
}

const isCache = (part: unknown): part is Node => isContainer(part) && nameOf(part["callee"]) === "LRUCache";

function nodesIn(part: unknown): readonly Node[] {
  if (typeof part !== "object" || part === null) return [];
  return [...(isNode(part) ? [part] : []), ...Object.values(part).flatMap(nodesIn)];
}

/** The names of what outlives a call; a cache wherever it is made, by the name of what it is given to. */
function containersIn(program: unknown): readonly string[] {
  const nodes = nodesIn(program);
  const found = new Map<unknown, string>(nodes.filter(isCache).map((cache) => [cache, "cache"]));
  for (const { left, right } of nodes) if (isCache(right) && isNode(left)) found.set(right, nameOf(left["property"]));
  for (const { init, value, id, key } of nodes.flatMap(keptBy)) found.set(init ?? value, nameOf(id ?? key));
  return [...found.values()];
}

const containers = ["src", "shards/src"].flatMap((folder) =>
  readdirSync(posix.join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && !name.startsWith("http/pages/browser/"))
    .flatMap((name) => {
      const path = posix.join(folder, name).replace(/^src\//u, "");
      const source = readFileSync(posix.join(root, folder, name), "utf8");
      return containersIn(parseAst(source, { lang: "ts", astType: "ts" })).map((found) => `${path}#${found}`);
    }),
);

/** The places in the second column of the table. */
const tabled = Array.from(
  /## What is kept in memory\n(.*?)(?:\n## |$)/su
    .exec(readFileSync(posix.join(root, "src/README.md"), "utf8"))?.[1]
    ?.matchAll(/^\|[^|]*\|([^|]*)\|/gmu) ?? [],
  ([, cell = ""]) => Array.from(cell.matchAll(/`([^`]+)`/gu), ([, place = ""]) => place),
).flat();

const listed = Object.values(elsewhere)
  .flat()
  .flatMap((place) => {
    const [file = "", ...names] = place.split(/ ?#/u);
    return names.length === 0 ? [file] : names.map((name) => `${file}#${name}`);
  });

const covers = (place: string, container: string): boolean =>
  place.endsWith("/") ? container.startsWith(place) : container === place || container.split("#")[0] === place;

it("everything that outlives a request is in the table of bounds, or is listed with a reason", () => {
  expect(containers.length).toBeGreaterThan(200);
  const places = [...tabled, ...listed];
  expect(containers.filter((container) => !places.some((place) => covers(place, container)))).toEqual([]);
});

it("no place is listed that is not there any more", () => {
  expect([...tabled, ...listed].filter((place) => !containers.some((one) => covers(place, one)))).toEqual([]);
});

it("finds caches, fields and variables, and leaves those of one call alone", () => {
  const source = `const a = new Map(); export const b = []; class C { #c = new Set(); constructor() { this.#d = new LRUCache({}); } }
    function createX() { const e = []; const f = () => { const g = new Map(); }; } function other() { const h = []; const i = new Map([[1, 2]]); }`;
  expect(containersIn(parseAst(source, { lang: "ts", astType: "ts" })).toSorted()).toEqual(["a", "b", "c", "d", "e"]);
});
