/** What a module may import from another. */
interface ModuleImport {
  readonly module: string;
  /** Only these files of the module (paths inside it). */
  readonly files?: readonly string[];
  /** Only as `import type`. */
  readonly typesOnly?: boolean;
}

/** A folder of `src/`, or one of its top-level programs; what lies elsewhere is named from the top of the repository. */
export interface Module {
  readonly name: string;
  readonly imports: readonly ModuleImport[] | "everything";
  readonly packages: readonly string[];
  /** It names no type of a package either. */
  readonly ownTypesOnly?: boolean;
  /** The files that other modules may import; all when absent. Folders behind them are private. */
  readonly publicFiles?: readonly string[];
}

const whole = (...modules: string[]): readonly ModuleImport[] => modules.map((module) => ({ module }));
const tracer: ModuleImport = { module: "telemetry", files: ["tracing.ts"], typesOnly: true };
const catalogTypes: ModuleImport = {
  module: "registry",
  files: ["catalog.ts", "capabilities.ts"],
  typesOnly: true,
};

/**
 * Who may import whom. `AnswerKind` of `results/model.ts` and the bindings of an engine's answer are contract types that
 * plans and shells name too. `node:` modules are free for all.
 */
export const modules: readonly Module[] = [
  { name: "main.ts", imports: whole("app.ts", "config", "html.ts"), packages: [] },
  { name: "app.ts", imports: "everything", packages: [] },
  { name: "app", imports: "everything", packages: ["pino"] },
  { name: "config", imports: [], packages: [] },
  { name: "errors", imports: [], packages: ["typebox"] },
  { name: "cache-size.ts", imports: [], packages: [] },
  { name: "clock.ts", imports: [], packages: [] },
  { name: "lines.ts", imports: [], packages: [] },
  { name: "figures.ts", imports: [], packages: [] },
  { name: "make-folder.ts", imports: [], packages: [] },
  { name: "shapes.ts", imports: [], packages: ["typebox"] },
  { name: "token-estimate.ts", imports: [], packages: [] },
  { name: "values.ts", imports: [], packages: [] },
  { name: "package-file.ts", imports: [], packages: [] },
  // Threads and child processes, and who waits for them.
  { name: "workers", imports: [], packages: [] },
  {
    name: "telemetry",
    imports: [...whole("html.ts"), { module: "clients", files: ["client-name.ts"] }],
    packages: ["prom-client", "@opentelemetry/*", "pino"],
  },
  { name: "rdf", imports: [], packages: ["n3"] },
  {
    name: "sparql",
    publicFiles: ["default-graphs.ts", "patterns.ts", "query.ts", "sendable-condition.ts"],
    imports: whole("rdf"),
    packages: ["lru-cache", "sparqljs", "@traqula/*", "rdf-data-factory"],
  },
  {
    name: "results",
    imports: whole("rdf"),
    packages: ["lru-cache", "n3", "rdf-data-factory", "jsonld-streaming-parser", "rdfxml-streaming-parser"],
  },
  {
    name: "outbound",
    // Circuit breakers are shared through the store.
    imports: [
      ...whole("results"),
      { module: "sparql", files: ["default-graphs.ts"] },
      { module: "store", files: ["store.ts", "collection.ts", "mirror.ts"] },
    ],
    packages: ["undici", "ipaddr.js", "lru-cache", "typebox"],
  },
  { name: "store", imports: [], packages: ["typebox"] },
  {
    // Who may ask: named clients, their keys and quotas.
    name: "clients",
    imports: [{ module: "store", files: ["store.ts", "collection.ts", "mirror.ts"] }],
    packages: ["typebox"],
  },
  { name: "store/redis", imports: whole("store"), packages: ["ioredis"] },
  { name: "jobs", imports: [{ module: "store", files: ["collection.ts", "store.ts"] }], packages: ["typebox"] },
  {
    name: "jobs/bullmq",
    imports: [...whole("jobs"), { module: "store/redis", files: ["redis-connection.ts"] }],
    packages: ["bullmq"],
  },
  {
    // Texts as vectors.
    name: "embeddings",
    imports: whole("outbound", "workers"),
    packages: ["lru-cache", "typebox", "@huggingface/tokenizers", "onnxruntime-node"],
  },
  {
    // One model of each endpoint; what is known of endpoints is read through it.
    name: "registry/model",
    imports: [
      {
        module: "registry",
        files: [
          "catalog/catalog.ts",
          "catalog/published/published-facts.ts",
          "descriptions/description-service.ts",
          "descriptions/void-description.ts",
          "find/read/example.ts",
          "find/read/harvest.ts",
        ],
      },
      { module: "store", files: ["store.ts", "collection.ts"] },
    ],
    packages: [],
  },
  {
    name: "registry",
    imports: [
      ...whole("registry/model", "rdf", "outbound"),
      // The one key and the one writer of terms.
      // Catalogue documents in JSON-LD are read as answers in it are.
      { module: "results", files: ["parse.ts", "terms.ts"] },
      { module: "sparql", files: ["default-graphs.ts"] },
      { module: "store", files: ["store.ts", "collection.ts", "mirror.ts"] },
      { module: "jobs", files: ["job-kind.ts", "job-queue.ts"] },
      { module: "embeddings", files: ["embedder.ts"], typesOnly: true },
    ],
    packages: ["lru-cache", "minisearch", "rdf-validate-shacl", "typebox"],
    publicFiles: [
      "capabilities.ts",
      "catalog.ts",
      "descriptions.ts",
      "find.ts",
      "model.ts",
      "registry.ts",
      "schema.ts",
    ],
  },
  {
    name: "monitor",
    imports: [
      ...whole("registry", "outbound"),
      { module: "store", files: ["store.ts", "collection.ts", "mirror.ts"] },
      { module: "jobs", files: ["job-kind.ts", "job-queue.ts"] },
    ],
    packages: ["typebox"],
  },
  {
    name: "plan",
    publicFiles: [
      "create-planner.ts",
      "known-terms.ts",
      "meant-entries.ts",
      "offer-endpoints.ts",
      "passes.ts",
      "plan-request.ts",
      "portable-plan.ts",
      "pruned-keys.ts",
      "query-plan.ts",
      "source-selection.ts",
    ],
    imports: [
      { module: "sparql" },
      { module: "engine/expressions", files: ["regular-expressions.ts"] },
      { module: "rdf", files: ["key-rule.ts", "term-text.ts", "vocabularies.ts", "well-known-prefixes.ts"] },
      catalogTypes,
      { module: "results", files: ["model.ts"], typesOnly: true },
    ],
    packages: ["lru-cache"],
  },
  {
    // Which endpoints have matches of a pattern: facts of the registry, for the planner.
    name: "selection",
    publicFiles: ["endpoint-keys.ts", "open-sources.ts"],
    imports: [
      ...whole("plan", "sparql", "registry", "rdf"),
      { module: "results", files: ["terms.ts"] },
      { module: "outbound", files: ["whole-answer.ts"], typesOnly: true },
      { module: "store", files: ["store.ts", "collection.ts"] },
    ],
    packages: ["lru-cache", "typebox"],
  },
  {
    name: "engine",
    publicFiles: [
      "completeness.ts",
      "direct-executor.ts",
      "evaluators/evaluators.ts",
      "execution-bounds.ts",
      "executor.ts",
      "expressions/regular-expressions.ts",
      "held-bytes.ts",
      "reports.ts",
    ],
    imports: [
      ...whole("plan", "outbound", "results", "workers"),
      { module: "rdf", files: ["triple-index.ts", "term-text.ts"] },
      // The script of an evaluator process builds the engine that its parent only talks to.
      { module: "engine/comunica", files: ["comunica-engine.ts"] },
    ],
    packages: ["lru-cache", "typebox"],
  },
  // Functions and operators of SPARQL over RDF terms.
  {
    name: "engine/expressions",
    imports: [{ module: "rdf", files: ["resolve-reference.ts", "term-text.ts", "vocabularies.ts"] }],
    packages: ["rdf-data-factory", "re2js", "xspattern", "lru-cache"],
  },
  {
    // The operators of the algebra, whoever parses it and finds them.
    name: "engine/evaluator",
    imports: [
      ...whole("engine", "engine/expressions", "results"),
      { module: "plan", files: ["query-plan.ts"], typesOnly: true },
      { module: "outbound", files: ["sparql-request.ts"], typesOnly: true },
      { module: "rdf", files: ["term.ts"], typesOnly: true },
      { module: "sparql", files: ["sendable-condition.ts"] },
    ],
    packages: [],
    ownTypesOnly: true,
  },
  {
    // Comunica as their host.
    name: "engine/comunica",
    imports: [...whole("engine/evaluator"), { module: "engine", files: ["executor.ts"], typesOnly: true }],
    packages: ["@comunica/*", "rdf-data-factory", "lru-cache", "#comunica-engine"],
  },
  {
    name: "query",
    publicFiles: [
      "admission.ts",
      "create-query-service.ts",
      "deadline.ts",
      "probe.ts",
      "query-service.ts",
      "records.ts",
      "run-list.ts",
      "run-log.ts",
      "session-exports.ts",
      "session-figures.ts",
      "slow-log.ts",
      "table.ts",
    ],
    imports: [
      ...whole("plan", "results"),
      { module: "store", files: ["store.ts"], typesOnly: true },
      { module: "workers", files: ["fair-queue.ts"] },
      { module: "clients", files: ["client-name.ts"] },
      { module: "outbound", files: ["request-budget.ts"] },
      // The two ports, and the accounts that both fill in.
      {
        module: "engine",
        files: ["completeness.ts", "execution-bounds.ts", "executor.ts", "held-bytes.ts", "reports.ts"],
      },
      tracer,
    ],
    packages: ["lru-cache", "typebox"],
  },
  // What is wrong with a query, before and after it is run.
  {
    name: "diagnosis",
    imports: [
      ...whole("plan", "sparql", "rdf", "registry", "results"),
      { module: "query", files: ["admission.ts", "probe.ts"], typesOnly: true },
      { module: "outbound", files: ["request-budget.ts"], typesOnly: true },
    ],
    packages: ["lru-cache"],
  },
  {
    // Saved queries that run on schedules, and what changed in their answers.
    name: "watch",
    imports: [
      ...whole("query", "registry", "sparql"),
      { module: "monitor", files: ["create-monitor.ts", "subjects.ts"] },
      { module: "store", files: ["collection.ts", "store.ts"] },
      { module: "jobs", files: ["job-kind.ts", "job-queue.ts"] },
    ],
    packages: ["typebox"],
  },
  {
    // Use cases of agents, one definition each for MCP, HTTP and the command line.
    name: "agent",
    imports: [
      ...whole("html.ts", "query", "diagnosis", "rdf", "registry"),
      // Names of endpoints and federations are read as in queries.
      { module: "plan", files: ["meant-entries.ts"] },
      { module: "outbound", files: ["model-api.ts", "request-budget.ts"] },
      { module: "results", files: ["json-structure.ts", "json-terms.ts"] },
      tracer,
    ],
    packages: ["lru-cache", "typebox"],
  },
  {
    // Queries completed at a cursor.
    name: "completion",
    imports: [...whole("sparql", "rdf", "registry"), { module: "agent", files: ["grammar/places.ts"] }],
    packages: ["lru-cache", "typebox"],
  },
  {
    name: "mcp",
    imports: [...whole("agent", "html.ts"), { module: "results", files: ["json-structure.ts"] }],
    packages: ["@modelcontextprotocol/*"],
  },
  // What escapes foreign text: the template tag of pages and reports, and the rule that terminals share with it.
  { name: "html.ts", imports: [], packages: [] },
  {
    // Plans, runs and descriptions as one structure, for texts, pages and browsers alike.
    name: "views",
    imports: [
      ...whole("html.ts"),
      { module: "query", files: ["records.ts"], typesOnly: true },
      { module: "registry", files: ["schema.ts"], typesOnly: true },
    ],
    packages: [],
  },
  {
    name: "hosting",
    imports: whole("rdf", "results", "sparql", "workers"),
    packages: ["oxigraph"],
  },
  {
    // The registry as one RDF dataset.
    name: "dataset",
    imports: [
      ...whole("monitor", "rdf", "registry"),
      { module: "hosting", files: ["store-thread.ts"], typesOnly: true },
    ],
    packages: [],
  },
  {
    name: "http",
    imports: [
      ...whole("html.ts", "clients", "query", "registry", "monitor", "rdf", "hosting", "results", "views"),
      { module: "engine", files: ["reports.ts"] },
      { module: "workers", files: ["fair-queue.ts"] },
      { module: "jobs", files: ["job-queue.ts"] },
      { module: "store", files: ["store.ts"], typesOnly: true },
      {
        module: "agent",
        files: [
          "tool.ts",
          "toolbox.ts",
          "ask/ask-agent.ts",
          "ask/ask-answer.ts",
          "grammar/create-grammars.ts",
          "grammar/sparql-grammar.ts",
        ],
      },
      { module: "mcp", files: ["http-handler.ts"], typesOnly: true },
      { module: "completion", files: ["complete.ts", "completion.ts"] },
      { module: "watch", files: ["create-watches.ts", "watch.ts"] },
      // What the shell is handed, in the words of whoever makes it.
      { module: "config", files: ["config.ts"], typesOnly: true },
      { module: "telemetry", typesOnly: true },
    ],
    packages: ["fastify", "@fastify/*", "marked", "typebox"],
  },
  {
    // Runs in browsers: of the service it knows what its answers look like, and which prefixes are well known.
    name: "http/pages/browser",
    imports: [
      { module: "query", files: ["records.ts"], typesOnly: true },
      ...whole("html.ts", "views", "http/pages/browser/views"),
      { module: "completion", files: ["completion.ts"], typesOnly: true },
      { module: "rdf", files: ["well-known-prefixes.ts"] },
    ],
    packages: ["@zazuko/yasgui", "@zazuko/yasqe", "@zazuko/yasr"],
  },
  {
    // Charts, maps and graphs; each of their libraries loads when it is first used.
    name: "http/pages/browser/views",
    imports: [],
    packages: [
      "@zazuko/yasr",
      "betterknown",
      "chart.js",
      "d3-force",
      "geojson",
      "leaflet",
      "topojson-client",
      "topojson-specification",
      "world-atlas",
    ],
  },
  {
    name: "cli",
    imports: [
      ...whole("html.ts", "query", "registry", "results", "views"),
      {
        module: "agent",
        files: ["tool.ts", "ask/ask-answer.ts"],
        typesOnly: true,
      },
      { module: "mcp", typesOnly: true },
      { module: "embeddings", files: ["install-model.ts"], typesOnly: true },
      { module: "jobs", files: ["job-queue.ts"], typesOnly: true },
      { module: "watch", files: ["read-collection.ts"] },
    ],
    packages: ["commander", "cli-progress"],
  },
  // The command line's program builds the service when it answers without a server.
  {
    name: "cli/main.ts",
    imports: whole("cli", "app.ts", "app", "config", "mcp", "store"),
    packages: ["undici"],
  },
  { name: "cli/bin.ts", imports: whole("cli/main.ts"), packages: [] },
  // The benchmark factory, a package beside the service: only `app/` imports it.
  {
    name: "shards/src",
    imports: [
      ...whole("html.ts", "rdf", "results", "sparql", "workers"),
      { module: "registry", files: ["descriptions.ts"], typesOnly: true },
    ],
    packages: [],
  },
  { name: "shards/src/solver", imports: whole("shards/src", "workers"), packages: ["clingo-wasm"] },
  {
    name: "shards/src/service",
    imports: [
      ...whole(
        "hosting",
        "html.ts",
        "http",
        "rdf",
        "registry",
        "shards/src",
        "shards/src/package",
        "shards/src/solver",
        "shards/src/variants",
        "workers",
      ),
      { module: "jobs", files: ["job-queue.ts"], typesOnly: true },
    ],
    packages: ["typebox"],
  },
  {
    // The benchmark of a dataset as one folder.
    name: "shards/src/package",
    imports: [
      ...whole("rdf", "registry", "results", "shards/src", "shards/src/audit", "shards/src/variants", "sparql"),
      { module: "plan", files: ["portable-plan.ts"] },
    ],
    packages: [],
  },
  {
    name: "shards/src/variants",
    imports: whole("rdf", "shards/src", "shards/src/audit", "shards/src/package", "sparql"),
    packages: [],
  },
  { name: "shards/src/audit", imports: whole("rdf", "shards/src", "shards/src/package", "sparql"), packages: [] },
  // Agents asked, and scored, over a package.
  {
    name: "shards/src/evaluate",
    imports: [
      ...whole("html.ts", "rdf", "registry", "shards/src", "shards/src/package", "shards/src/variants", "sparql"),
      // What is asked of a service, and what it answers.
      { module: "agent", files: ["ask/ask-answer.ts"], typesOnly: true },
      { module: "query", files: ["session-figures.ts"] },
    ],
    packages: [],
  },
  {
    // Questions about any dataset, from its classes and values.
    name: "shards/src/questions",
    imports: [
      ...whole("rdf", "shards/src", "shards/src/package"),
      { module: "registry", files: ["find.ts", "schema.ts"] },
    ],
    packages: [],
  },
  {
    name: "shards/src/cli",
    imports: whole(
      "cli",
      "hosting",
      "shards/src",
      "shards/src/evaluate",
      "shards/src/package",
      "shards/src/questions",
      "shards/src/service",
    ),
    packages: ["commander"],
  },
  // What `app/` plugs in, and the script of its processes.
  {
    name: "shards/src/plugin.ts",
    imports: [
      ...whole("hosting", "shards/src/service", "telemetry", "workers"),
      { module: "config", typesOnly: true },
      { module: "outbound", files: ["local-answer.ts"], typesOnly: true },
    ],
    packages: ["pino"],
  },
  { name: "shards/src/shard-process.ts", imports: whole("hosting", "shards/src/service"), packages: [] },
];

/** Modules that any other may import. */
export const ground: readonly string[] = [
  "errors",
  "cache-size.ts",
  "clock.ts",
  "figures.ts",
  "lines.ts",
  "make-folder.ts",
  "package-file.ts",
  "shapes.ts",
  "token-estimate.ts",
  "values.ts",
];

/** Types that any module may name; erased before anything runs. */
export const typePackages: readonly string[] = ["@rdfjs/types"];

/** What lies outside the modules and may be read: by `packageFile`, or beside a module. */
export const outsideFiles: readonly string[] = [
  "package.json",
  "catalog/",
  "catalog/examples/",
  "catalog/examples/data/",
  "catalog/examples/queries/",
  "catalog/published/",
  "catalog/shapes/entry-shapes.ttl",
  "catalog/vocabulary/fedway.ttl",
  "catalog/words/english.gz",
  "deploy/guide/",
  "dist/console/",
  "shards/",
];

/** Files that may read the environment. */
export const environmentReaders: readonly string[] = ["main.ts", "cli/main.ts", "config/"];

/** Files that import a module whose name is computed, which no table can check. */
export const computedImports: readonly string[] = [
  "embeddings/model-process.ts",
  "hosting/store-thread.ts",
  "shards/src/solver/clingo-worker.ts",
];
