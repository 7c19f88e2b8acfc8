import { shardRoutes, type ShardService } from "../../shards/src/service/routes.ts";
import type { ShardDataset } from "../../shards/src/finished-folder.ts";
import type { AskAnswer } from "../../src/agent/ask/ask-answer.ts";
import type { HttpDeps } from "../../src/http/http-deps.ts";
import type { Job } from "../../src/jobs/job-queue.ts";

// Shards, jobs and answers of a model for tests of pages, with texts that pages must not take for markup.

const hostile = `<script>alert("x")</script> ${"endless".repeat(20)}`;

const family = (dataset: string, title: string, shards: number): ShardDataset => ({
  dataset,
  title,
  licence: "http://creativecommons.org/licenses/by/4.0/",
  folder: "/nowhere",
  version: "1",
  triples: 1_234_567,
  shards: Array.from({ length: shards }, () => ({}) as ShardDataset["shards"][number]),
});

const shards: Partial<ShardService> = {
  datasets: [family("beer", "Breweries and their beers", 16), family("hostile", hostile, 2)],
  dataset: () => undefined,
  endpoint: () => undefined,
};

const job = (state: Job["state"], more: Partial<Job> = {}): Job => ({
  id: `describe-endpoint.${state}`,
  kind: "describe-endpoint",
  state,
  payload: {},
  attempts: 1,
  createdAt: "2026-03-12T13:55:00.000Z",
  ...more,
});
const startedAt = "2026-03-12T13:56:00.000Z";
const jobs: readonly Job[] = [
  job("waiting", { attempts: 0 }),
  job("running", { startedAt, progress: { stage: "counting classes", done: 3, total: 9 } }),
  job("done", { startedAt, finishedAt: "2026-03-12T13:56:12.000Z" }),
  job("failed", { startedAt, finishedAt: "2026-03-12T13:57:00.000Z", error: { code: "TIMEOUT", message: hostile } }),
];

const query = `SELECT ?name { SERVICE <people> { ?person <http://xmlns.com/foaf/0.1/name> ?name } } # ${hostile}`;
const answer = (question: string): AskAnswer => ({
  status: "ok",
  stopped: "answered",
  question,
  query,
  endpoints: ["people", "hostile"],
  text: "",
  result: {
    status: "ok",
    rows_received: 4_321,
    csv: `PREFIX p: <http://p.example/>\nname,about\nAda,"${hostile.replaceAll('"', '""')}"\n...`,
  },
  diagnosis: null,
  dropped: [{ term: "<http://p.example/north>", label: "north" }],
  model: "scripted",
  session: "errand",
  turns: 1,
  rounds: 0,
  tokens: { input: 1_200, output: 80, estimated: true },
  cost: 0.0021,
  steps: [
    { step: "find_endpoints", atMs: 0, ms: 12 },
    { step: "model", atMs: 12, ms: 2_400 },
    { step: "run_query", atMs: 2_412, ms: 350, outcome: "ok", query, run: "run-hostile" },
  ],
});

/** Shards, jobs and a model that answers each question alike. */
export const listedThings: Partial<HttpDeps> = {
  routes: [shardRoutes(shards as ShardService)],
  jobs: { get: async () => undefined, list: async () => jobs, cancel: async () => false, watch: () => () => undefined },
  ask: { ask: async ({ question }) => answer(question) },
};
