import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { smallModelPython, type SmallModel, startSmallModel } from "../support/engines/small-model.ts";
import { until } from "../support/eventually.ts";
import { readGbnf, sentencesOf } from "../support/grammar-sampler.ts";
import { newFolder } from "../support/scratch-folder.ts";
import { type Fedway, startFedway } from "../support/fedway.ts";

let fedway: Fedway;
let model: SmallModel;

beforeAll(async () => {
  fedway = await startFedway({}, { FEDWAY_EXAMPLES: "on" });
  model = await startSmallModel();
  for (const id of ["people", "places"]) await described(id);
}, 600_000);
afterAll(async () => {
  await fedway?.close();
  await model?.close();
});

/** Has an example endpoint described, and waits for it. */
async function described(id: string): Promise<void> {
  await fetch(`${fedway.url}/api/endpoints/${id}/describe`, { method: "POST" });
  await until(async () => (await fetch(`${fedway.url}/api/endpoints/${id}/grammar`)).status === 200);
}

async function grammarOf(path: string): Promise<string> {
  const response = await fetch(`${fedway.url}/api/${path}`);
  expect(response.headers.get("content-type")).toBe("text/plain; charset=utf-8");
  return response.text();
}

interface Explained {
  readonly kind: string;
  readonly notes: readonly { readonly code: string }[];
}

/** The plan of a query, or why there is none; "direct" or "federated" without notes is what the grammar promises. */
async function explained(query: string, endpoint?: string): Promise<string> {
  const body = JSON.stringify({ query, ...(endpoint !== undefined && { endpoint }) });
  const response = await fetch(`${fedway.url}/api/explain`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
  });
  if (response.status !== 200) return `${await response.text()} ${query}`;
  const { kind, notes }: Explained = JSON.parse(await response.text());
  return [kind, ...notes.map(({ code }) => code).filter((code) => code.startsWith("TERM"))].join(" ");
}

const questions = [
  "Who was born in the largest city?",
  "How many people are there?",
  "Names of people and their birth places",
  "List all cities by population",
  "Which person has no name?",
];

describe("the grammar of an endpoint", () => {
  it("makes a model of 135 million parameters write valid queries, which it cannot by itself", async () => {
    const grammar = await grammarOf("endpoints/people/grammar");
    const system = "Answer with one SPARQL query and nothing else.";
    const plans: string[] = [];
    for (const question of questions) {
      const free = await model.ask({ system, question, maxTokens: 60 });
      expect(await explained(free, "people")).toContain("QUERY_");
      plans.push(await explained(await model.ask({ system, question, grammar, maxTokens: 1_000 }), "people"));
    }
    expect(plans).toEqual(questions.map(() => "direct"));
  });

  it("is read by llguidance in Lark's syntax as llama.cpp reads it in GBNF", async () => {
    const [gbnf, lark] = [
      await grammarOf("endpoints/places/grammar"),
      await grammarOf("endpoints/places/grammar?format=lark"),
    ];
    const sentences = [...sentencesOf(readGbnf(gbnf), { start: "root", seed: 11, count: 200 })];
    const folder = newFolder();
    await writeFile(join(folder, "lark"), lark);
    await writeFile(join(folder, "sentences.json"), JSON.stringify([...sentences, "SELECT * WHERE { ?s ?p ?o }"]));
    const { stdout } = await promisify(execFile)(await smallModelPython(), ["-c", reader, folder]);
    expect(JSON.parse(stdout)).toEqual([...sentences.map(() => true), false]);
  });
});

describe("the grammar of a federation", () => {
  it("derives queries that are planned", async () => {
    const gbnf = await grammarOf("federations/examples/grammar");
    expect(gbnf).toContain("# Members without a description here: ");
    for (const query of sentencesOf(readGbnf(gbnf), { start: "root", seed: 12, count: 50 })) {
      expect(await explained(query)).toMatch(/^(?:direct|federated)$/u);
    }
  });
});

const reader = `
import json, sys
from llguidance import LLMatcher, LLTokenizer
folder = sys.argv[1]
grammar = LLMatcher.grammar_from_lark(open(folder + "/lark").read())
tokenizer = LLTokenizer("byte")
def accepts(text):
    matcher = LLMatcher(tokenizer, grammar, log_level=0)
    return matcher.consume_tokens(tokenizer.tokenize_bytes(text.encode())) and matcher.is_accepting()
print(json.dumps([accepts(text) for text in json.load(open(folder + "/sentences.json"))]))
`;
