/** What a room of `src/` may import from another. */
export interface RoomImport {
  readonly room: string;
  /** Only these files of the room (paths inside it). */
  readonly files?: readonly string[];
  /** Only as `import type`. */
  readonly typesOnly?: boolean;
}

/** A folder of `src/`, or one of its top-level programs. */
export interface Room {
  readonly name: string;
  readonly imports: readonly RoomImport[] | "everything";
  readonly packages: readonly string[];
}

const whole = (...rooms: string[]): readonly RoomImport[] => rooms.map((room) => ({ room }));
const errors: RoomImport = { room: "errors" };
const tracer: RoomImport = { room: "telemetry", files: ["tracing.ts"], typesOnly: true };
const catalogTypes: RoomImport = {
  room: "registry",
  files: ["catalog.ts", "capabilities/capabilities.ts"],
  typesOnly: true,
};

/**
 * Who may import whom. `AnswerKind` of `results/model.ts` and the bindings of an engine's answer are contract types that
 * plans and shells name too. `node:` modules are free for all.
 */
export const rooms: readonly Room[] = [
  { name: "main.ts", imports: whole("app.ts", "config", "errors"), packages: [] },
  { name: "app.ts", imports: "everything", packages: ["pino"] },
  { name: "app", imports: "everything", packages: ["pino"] },
  { name: "config", imports: [errors], packages: [] },
  { name: "errors", imports: [], packages: [] },
  // Threads and child processes, and who waits for them.
  { name: "workers", imports: [errors], packages: [] },
  { name: "telemetry", imports: [], packages: ["prom-client", "@opentelemetry/*"] },
  { name: "rdf", imports: [errors], packages: ["n3"] },
  { name: "sparql", imports: whole("rdf", "errors"), packages: ["sparqljs"] },
  {
    name: "results",
    imports: whole("rdf", "errors"),
    packages: ["n3", "jsonld-streaming-parser", "rdfxml-streaming-parser"],
  },
  { name: "outbound", imports: whole("results", "errors"), packages: ["undici", "ipaddr.js"] },
  { name: "store", imports: [errors], packages: [] },
  { name: "store/redis", imports: whole("store", "errors"), packages: ["ioredis"] },
  { name: "jobs", imports: [{ room: "store", files: ["store.ts"] }, errors], packages: [] },
  { name: "jobs/bullmq", imports: whole("jobs", "errors"), packages: ["bullmq"] },
  {
    name: "registry",
    imports: [
      ...whole("rdf", "outbound", "errors"),
      { room: "store", files: ["store.ts"] },
      { room: "jobs", files: ["job-queue.ts"] },
    ],
    packages: ["minisearch", "rdf-validate-shacl"],
  },
  {
    name: "monitor",
    imports: [
      ...whole("registry", "outbound", "errors"),
      { room: "store", files: ["store.ts"] },
      { room: "jobs", files: ["job-queue.ts"] },
    ],
    packages: [],
  },
  {
    name: "plan",
    imports: [{ room: "sparql" }, catalogTypes, { room: "results", files: ["model.ts"], typesOnly: true }, errors],
    packages: ["lru-cache"],
  },
  {
    name: "engine",
    imports: [
      ...whole("plan", "outbound", "results", "workers", "errors"),
      { room: "rdf", files: ["triple-index.ts"] },
      // The script of an evaluator process builds the engine that its parent only talks to.
      { room: "engine/comunica", files: ["comunica-engine.ts"] },
    ],
    packages: ["lru-cache"],
  },
  // Functions and operators of SPARQL over RDF terms.
  {
    name: "engine/expressions",
    imports: [{ room: "rdf", files: ["resolve-reference.ts", "vocabularies.ts"] }],
    packages: ["rdf-data-factory", "re2js", "lru-cache"],
  },
  {
    // Actors of Comunica are built on its own dependencies for iterators and terms.
    name: "engine/comunica",
    imports: whole("engine", "engine/expressions", "plan", "outbound", "results", "errors"),
    packages: ["@comunica/*", "asynciterator", "rdf-data-factory", "lru-cache", "#comunica-engine"],
  },
  {
    name: "query",
    imports: [
      ...whole("plan", "results", "errors"),
      { room: "store", files: ["store.ts"], typesOnly: true },
      // The two ports, and the accounts that both fill in.
      { room: "engine", files: ["executor.ts", "federation-engine.ts", "held-bytes.ts", "source-reports.ts"] },
      tracer,
    ],
    packages: ["lru-cache"],
  },
  // What escapes foreign text: the template tag of pages and reports, and the rule that terminals share with it.
  { name: "html.ts", imports: [], packages: [] },
  { name: "hosting", imports: whole("results", "workers", "errors"), packages: ["oxigraph"] },
  {
    name: "shards",
    imports: [...whole("html.ts", "rdf", "sparql", "errors"), { room: "results" }],
    packages: [],
  },
  { name: "shards/solver", imports: whole("shards", "errors"), packages: ["clingo-wasm"] },
  {
    name: "http",
    imports: [
      ...whole("html.ts", "query", "registry", "monitor", "rdf", "shards", "hosting", "results", "errors"),
      { room: "jobs", files: ["job-queue.ts"], typesOnly: true },
      { room: "store", files: ["store.ts"], typesOnly: true },
      tracer,
    ],
    packages: ["fastify", "@fastify/*", "typebox"],
  },
  {
    name: "cli",
    imports: whole("html.ts", "query", "registry", "rdf", "shards", "results", "errors"),
    packages: ["commander", "cli-progress"],
  },
  // The command line's program builds the service when it answers without a server.
  { name: "cli/main.ts", imports: whole("cli", "app.ts", "app", "config"), packages: [] },
];

/** Types that any room may name; erased before anything runs. */
export const typePackages: readonly string[] = ["@rdfjs/types"];

/** What lies outside `src/` and may be read from inside, seen from `src/`. */
export const outsideFiles: readonly string[] = [
  "../package.json",
  "../catalog/examples/",
  "../catalog/shapes/entry-shapes.ttl",
  "../shards/",
];

/** Files that may read the environment. */
export const environmentReaders: readonly string[] = ["main.ts", "cli/main.ts", "config/"];

/** Files that import a module whose name is computed, which no table can check. */
export const computedImports: readonly string[] = ["hosting/worker.ts", "shards/solver/clingo-worker.ts"];
