import { afterAll, beforeAll, expect, it } from "vitest";
import type { AskAnswer } from "../../src/agent/ask/ask-answer.ts";
import type { SessionFigures } from "../../src/query/session-figures.ts";
import { type SmallModel, startSmallModel } from "../support/engines/small-model.ts";
import { until } from "../support/eventually.ts";
import { type Fedway, startFedway } from "../support/fedway.ts";

// The reference agent with a real model of 135 million parameters behind llama.cpp's server. It is held to valid queries, not to wit.

let model: SmallModel;
let fedway: Fedway;
beforeAll(async () => {
  model = await startSmallModel();
  fedway = await startFedway(
    {},
    {
      FEDWAY_EXAMPLES: "on",
      FEDWAY_CHAT: `${model.url}/v1`,
      FEDWAY_CHAT_MODEL: "smollm2-135m",
      FEDWAY_CHAT_MODE: "grammar",
      // A busy machine writes five tokens a second, one at rest a hundred.
      FEDWAY_ASK_TIMEOUT_MS: "280000",
    },
  );
  for (const id of ["people", "places"]) {
    await fetch(`${fedway.url}/api/endpoints/${id}/describe`, { method: "POST" });
    await until(async () => (await fetch(`${fedway.url}/api/endpoints/${id}/grammar`)).status === 200);
  }
}, 600_000);
afterAll(async () => {
  await fedway?.close();
  await model?.close();
});

const questions: readonly (readonly [question: string, endpoint: string])[] = [
  ["How many people are there?", "people"],
  ["What are the names of the people?", "people"],
  ["List the cities with their population.", "places"],
];

const headers = { "Content-Type": "application/json", "Fedway-Session": "small-model" };

it("a model of 135 million parameters asks valid queries over known terms, and each is run", async () => {
  const answers: AskAnswer[] = [];
  for (const [question, endpoint] of questions) {
    const body = JSON.stringify({ question, endpoints: [endpoint], rounds: 0 });
    const response = await fetch(`${fedway.url}/api/ask`, { method: "POST", headers, body });
    answers.push((await response.json()) as AskAnswer);
  }
  expect(answers.map(({ status, diagnosis }) => [status, diagnosis?.code ?? null])).toEqual(
    answers.map(() => [expect.stringMatching(/^(?:ok|empty)$/u), null]),
  );
  for (const { query, tokens, turns } of answers) {
    expect(query).toContain("SERVICE");
    expect(turns).toBe(1);
    expect(tokens).toMatchObject({ estimated: false });
    expect(tokens.input).toBeGreaterThan(100);
    expect(tokens.input).toBeLessThan(8_000);
  }
  const figures = (await (await fetch(`${fedway.url}/api/sessions/small-model`, { headers })).json()) as SessionFigures;
  expect(figures).toMatchObject({ queries: questions.length, validity: 1, informed: 1 });
}, 900_000);
