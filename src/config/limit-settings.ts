import { bytes, integer, oneOf, type SettingTree } from "./setting-parsers.ts";

const hour = 3_600_000;

/** Limits of queries and answers, and of what one process does at once. */
export const limitSettings = {
  timeoutMs: {
    name: "FEDWAY_TIMEOUT_MS",
    default: "60000",
    meaning: "Time limit of one query, in milliseconds.",
    ...integer(1, 24 * hour),
  },
  maxRows: {
    name: "FEDWAY_MAX_ROWS",
    default: "10000",
    meaning: "Most rows of one /api/query answer.",
    ...integer(1, 100_000_000),
  },
  maxSolutions: {
    name: "FEDWAY_MAX_SOLUTIONS",
    default: "500000",
    meaning:
      "Most solutions that one federated query may take in from its endpoints; its joins may make four times as many.",
    ...integer(1, 100_000_000),
  },
  evaluators: {
    name: "FEDWAY_EVALUATORS",
    default: "2",
    meaning: "Processes in which federated queries are evaluated.",
    ...integer(1, 64),
  },
  evaluatorsStart: {
    name: "FEDWAY_EVALUATORS_START",
    default: "query",
    meaning:
      "When these processes start: with the first federated query, which waits about a second for them, to end after five minutes without one (query); or with the service, to stay (service).",
    ...oneOf("service", "query"),
  },
  evaluatorMemoryMb: {
    name: "FEDWAY_EVALUATOR_MEMORY_MB",
    default: "512",
    meaning: "Heap of each of these processes, in MiB; a query that needs more ends with an error.",
    ...integer(128, 1_048_576),
  },
  maxEvaluations: {
    name: "FEDWAY_MAX_EVALUATIONS",
    default: "64",
    meaning: "Federated queries that are evaluated at once; others wait, and clients take turns.",
    ...integer(1, 100_000),
  },
  subanswerTtlMs: {
    name: "FEDWAY_SUBANSWER_TTL_MS",
    default: "0",
    meaning:
      "How long endpoints' answers to parts of federated queries are kept, in milliseconds, where Cache-Control does not say.",
    ...integer(0, 24 * hour),
  },
  maxHeldBytes: {
    name: "FEDWAY_MAX_HELD_BYTES",
    default: "128 MiB",
    meaning:
      "Most that one federated query may hold at once for ORDER BY, GROUP BY, DISTINCT and joins, estimated in bytes.",
    ...bytes(1024, 2 ** 36),
  },
  heldHeadBytes: {
    name: "FEDWAY_HELD_HEAD_BYTES",
    default: "16 KiB",
    meaning:
      "Bytes of a federated answer that are held back until each member has answered, so that a failure is an error.",
    ...bytes(0, 2 ** 24),
  },
  maxQueryBytes: {
    name: "FEDWAY_MAX_QUERY_BYTES",
    default: "1 MiB",
    meaning: "Size limit of one query text.",
    ...bytes(1024, 2 ** 28),
  },
  bodyBytes: {
    name: "FEDWAY_BODY_BYTES",
    default: "64 MiB",
    meaning: "Bytes of request bodies that may be under way at once; one client has a quarter of them.",
    ...bytes(2 ** 20, 2 ** 40),
  },
  bodyTimeoutMs: {
    name: "FEDWAY_BODY_TIMEOUT_MS",
    default: "30000",
    meaning: "How long a request may take to arrive, in milliseconds.",
    ...integer(1_000, hour),
  },
  maxAnswerBytes: {
    name: "FEDWAY_MAX_ANSWER_BYTES",
    default: "2 GiB",
    meaning: "Size limit of one endpoint's decoded answer.",
    ...bytes(1024, 2 ** 42),
  },
  maxConcurrent: {
    name: "FEDWAY_MAX_CONCURRENT",
    default: "200",
    meaning:
      "Queries, tool calls and diagnoses at once; one client has half of the free places. Five times as many wait up to 3 s; others are refused.",
    ...integer(1, 100_000),
  },
  callRequests: {
    name: "FEDWAY_CALL_REQUESTS",
    default: "2000",
    meaning: "Most requests to endpoints that one query, tool call or question may cause.",
    ...integer(1, 1_000_000),
  },
  session: {
    requests: {
      name: "FEDWAY_SESSION_REQUESTS",
      default: "0",
      meaning:
        "Most requests to endpoints that the queries and tool calls of one session may cause in all; 0: no limit.",
      ...integer(0, 1_000_000_000),
    },
    rows: {
      name: "FEDWAY_SESSION_ROWS",
      default: "0",
      meaning: "Most rows that the queries of one session may give in all; 0: no limit.",
      ...integer(0, 1_000_000_000),
    },
    bytes: {
      name: "FEDWAY_SESSION_BYTES",
      default: "0",
      meaning: "Most decoded bytes that the queries of one session may receive from endpoints in all; 0: no limit.",
      ...bytes(0, 2 ** 50),
    },
    ms: {
      name: "FEDWAY_SESSION_MS",
      default: "0",
      meaning: "Most milliseconds that the queries of one session may take in all; 0: no limit.",
      ...integer(0, 1_000_000_000),
    },
  },
  endpointConcurrency: {
    name: "FEDWAY_ENDPOINT_CONCURRENCY",
    default: "16",
    meaning: "Requests that may run at once at one endpoint.",
    ...integer(1, 10_000),
  },
  hostRate: {
    name: "FEDWAY_HOST_RATE",
    default: "20",
    meaning: "Requests a second sent to one public host, with bursts of twice that; 0 is no limit.",
    ...integer(0, 1_000_000),
  },
  rateLimit: {
    name: "FEDWAY_RATE_LIMIT",
    default: "0",
    meaning:
      "Requests a minute per client, with REDIS_URL at all processes together; MCP calls and every ten requests to endpoints count too. 0: no limit.",
    ...integer(0, 1_000_000),
  },
  hostedTimeoutMs: {
    name: "FEDWAY_HOSTED_TIMEOUT_MS",
    default: "10000",
    meaning: "Time limit of a query at a hosted endpoint.",
    ...integer(1, hour),
  },
  hostedMemoryMb: {
    name: "FEDWAY_HOSTED_MEMORY_MB",
    default: "128",
    meaning: "Memory that a query at a hosted endpoint may need beside the endpoint's data, in MiB.",
    ...integer(16, 4_096),
  },
  hostedTotalMb: {
    name: "FEDWAY_HOSTED_TOTAL_MB",
    default: "768",
    meaning: "Memory of all hosted endpoints together, in MiB; queries that find none left wait.",
    ...integer(128, 1_048_576),
  },
  shardMemoryMb: {
    name: "FEDWAY_SHARD_MEMORY_MB",
    default: "1024",
    meaning: "Memory limit (JavaScript heap) of the process that builds, verifies or packages shards, in MiB.",
    ...integer(32, 1_048_576),
  },
  runs: {
    name: "FEDWAY_RUNS",
    default: "1000",
    meaning:
      "Run records that each process keeps for /api/runs/{id}, in 32 MiB at most; with REDIS_URL any process gives them, for an hour.",
    ...integer(1, 1_000_000),
  },
} satisfies SettingTree;
