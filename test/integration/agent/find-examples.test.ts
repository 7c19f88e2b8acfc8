import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newFolder } from "../../support/scratch-folder.ts";
import { openService, type RunningService, startService } from "../../support/running-service.ts";

let service: RunningService;
const folder = newFolder();
const caller = { owner: "agent", signal: new AbortController().signal };

beforeAll(async () => {
  writeFileSync(
    join(folder, "solved.jsonl"),
    [
      { question: "Which books are about painters?", query: "SELECT ?b { SERVICE <library> { ?b ?p ?o } }" },
      { question: "Which books are green?", query: "SELECT {", outcome: "failed", feedback: "guessed a colour" },
      { question: "no query" },
    ]
      .map((line) => JSON.stringify(line))
      .join("\n"),
  );
  writeFileSync(join(folder, "broken.ttl"), "this is no Turtle");
  mkdirSync(join(folder, "sub"));
  const env = { FEDWAY_EXAMPLES: "on", FEDWAY_EXPERIENCE: "10", FEDWAY_QUERY_EXAMPLES: folder };
  service = await startService({}, env);
});
afterAll(() => service?.app.close());

interface Found {
  readonly question: string;
  readonly query: string;
  readonly outcome: string;
  readonly endpoints: readonly string[];
  readonly federated: boolean;
  readonly source: string;
  readonly feedback?: string;
}

const call = (tool: string, args: unknown) => service.app.toolbox("full").call(tool, args, caller);
async function find(question: string, more: object = {}): Promise<readonly Found[]> {
  const { data, problem } = await call("find_examples", { question, limit: 10, ...more });
  expect(problem).toBeUndefined();
  return data["examples"] as readonly Found[];
}

describe("find_examples", () => {
  it("gives the shipped examples, each of which works", async () => {
    const found = (await find("artists people cities works water temperature")).filter(
      ({ source }) => source === "file",
    );
    const shipped = found.filter(({ endpoints }) => !endpoints.includes("library"));
    expect(shipped).toHaveLength(5);
    for (const { query, endpoints, federated } of shipped) {
      const path = federated ? "/sparql" : `/endpoints/${endpoints[0]}/sparql`;
      const response = await service.query(query, { path });
      const answer = (await response.json()) as { boolean?: boolean; results?: { bindings: unknown[] } };
      expect({ query, status: response.status }).toEqual({ query, status: 200 });
      expect(answer.boolean ?? (answer.results?.bindings.length ?? 0) > 0).toBe(true);
    }
    expect(found.find(({ federated }) => federated)?.endpoints).toEqual(["places", "people", "museums"]);
  });

  it("puts the nearest first, and can be asked for one endpoint", async () => {
    expect((await find("Who was born first?"))[0]).toMatchObject({ endpoints: ["people"], federated: false });
    const places = await find("cities in Iceland", { endpoints: "places" });
    expect(places[0]?.question).toBe("Which cities are in Iceland?");
    expect(places.every(({ endpoints }) => endpoints.includes("places"))).toBe(true);
    const all = await find("cities in Iceland", { endpoints: "Examples" });
    expect(all[0]?.question).toBe("Which cities are in Iceland?");
    const { problem } = await call("find_examples", { question: "cities", endpoints: "placs" });
    expect(problem).toMatchObject({ code: "ENDPOINT_UNKNOWN" });
  });

  it("reads lines of JSON, and says what failed", async () => {
    const found = await find("which books");
    expect(found).toContainEqual(
      expect.objectContaining({ query: expect.stringContaining("<library>"), endpoints: ["library"] }),
    );
    expect(found).toContainEqual(
      expect.objectContaining({ question: "Which books are green?", outcome: "failed", feedback: "guessed a colour" }),
    );
    const { text } = await call("find_examples", { question: "which books are green" });
    expect(text).toMatch(/FAILED: do not repeat it "guessed a colour"/);
  });

  it("says that there is none", async () => {
    const { text, data } = await call("find_examples", { question: "zxcvb qwertz" });
    expect(data).toMatchObject({ examples: [] });
    expect(text).toContain("search_terms");
  });

  it("is a route like all tools", async () => {
    const response = await fetch(`${service.url}/api/tools/find_examples`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ question: "cities in Iceland", limit: 1 }),
    });
    expect(response.status).toBe(200);
    expect(JSON.stringify(await response.json())).toContain("Which cities are in Iceland?");
  });
});

describe("what agents have run", () => {
  const query = "SELECT ?name { SERVICE <people> { ?person <http://xmlns.com/foaf/0.1/name> ?name } } LIMIT 3";

  it("is found by others with how it ended, when its question was told", async () => {
    await call("run_query", { query, question: "What are people called?" });
    await call("run_query", { query: query.replace("?name }", "?name"), question: "What are persons called exactly?" });
    await call("run_query", { query: `${query} # untold` });
    const bare = "SELECT ?name { ?person <http://xmlns.com/foaf/0.1/name> ?name } LIMIT 4";
    await call("run_query", { query: bare, endpoint: "examples", question: "What are all people called?" });
    const over = await find("What are all people called?", { endpoints: "examples" });
    const kept = { question: "What are all people called?", endpoints: ["examples"] };
    expect(over).toContainEqual(expect.objectContaining(kept));
    const found = await find("What are people called?");
    expect(found[0]).toMatchObject({
      question: "What are people called?",
      outcome: "ok",
      source: "run",
      endpoints: ["people"],
    });
    expect(found.some(({ query: text }) => text.includes("untold"))).toBe(false);
    const empty = 'SELECT ?name { SERVICE <people> { ?person <http://xmlns.com/foaf/0.1/name> "Nobody" ; ?p ?name } }';
    await call("run_query", { query: empty, question: "Who is called Nobody?" });
    expect(
      (await find("Who is called Nobody?")).find(({ question }) => question === "Who is called Nobody?"),
    ).toMatchObject({
      outcome: "empty",
    });
    await call("run_query", { query: "SELECT nonsense", question: "What fails badly?" });
    expect((await find("What fails badly?")).find(({ question }) => question === "What fails badly?")).toMatchObject({
      outcome: "failed",
      feedback: expect.stringContaining("QUERY_SYNTAX"),
    });
  });

  it("is not asked for where nothing is kept", async () => {
    const app = await openService({});
    const tool = app.toolbox("full").tools.find(({ name }) => name === "run_query");
    expect(Object.keys(tool?.input.properties ?? {})).not.toContain("question");
    await app.close();
  });
});

it("a folder that is missing is named at the start", async () => {
  await expect(openService({}, { FEDWAY_QUERY_EXAMPLES: "/nowhere" })).rejects.toMatchObject({
    code: "CONFIG_INVALID",
    message: expect.stringContaining("/nowhere"),
  });
});
