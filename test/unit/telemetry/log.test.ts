import { describe, expect, it } from "vitest";
import { createLog, createMask, type LogSettings } from "../../../src/telemetry/log.ts";

const settings: LogSettings = {
  log: { level: "info" },
  adminToken: 'admin"token\\0123456',
  redisUrl: "redis://user:p%40ss%2Fword@redis:6379/0",
  embeddings: { key: "sk-model-0123456789" },
  chat: { key: "sk-chat-0123456789" },
  agents: { mcpToken: "mcp-token-0123456789" },
  monitor: {
    webhooks: ["https://hooks.example/services/T0/B0/abcdefgh", "https://other.example/api?key=0123456789abcdef"],
    webhookSecret: "whsec_0123456789abcdef",
  },
};
const mask = createMask(settings);
const line = (value: unknown): string => JSON.stringify({ level: 30, msg: value });

describe("a line of the log", () => {
  it.each([
    ["the admin token", settings.adminToken],
    ["the secret of the webhooks", `signed with ${settings.monitor.webhookSecret}.`],
    ["the key of an embeddings API", `Bearer ${settings.embeddings.key}`],
    ["the key of a chat API", `Bearer ${settings.chat.key}`],
    ["the token of /mcp", `Bearer ${settings.agents.mcpToken}`],
    ["the URL of a webhook", `POST ${settings.monitor.webhooks[0]} failed`],
    ["the path of a webhook", "POST /services/T0/B0/abcdefgh"],
    ["the query of a webhook", "GET ?key=0123456789abcdef"],
    ["Redis' URL", `cannot connect to ${settings.redisUrl}`],
    ["Redis' password", 'AUTH "p@ss/word" refused'],
    ["Redis' password as in the URL", "AUTH p%40ss%2Fword refused"],
    ["user and password of any URL", "SERVICE <http://alice:wonder@example.org/sparql> and https://bob@example.org/"],
    ["what lies deep", { err: { cause: { stack: `Error: ${settings.adminToken}\n    at x` } } }],
  ])("shows nothing of %s", (_, value) => {
    const masked = mask(line(value));
    expect(masked).toContain("[secret]");
    expect(masked).not.toMatch(/admin|0123456|abcdefgh|ss%2Fword|ss\/word|alice|wonder|bob/);
    expect(() => JSON.parse(masked) as unknown).not.toThrow();
  });

  it.each([
    "GET /api/endpoints",
    "mail to someone@example.org",
    "http://example.org/a@b",
    "2 @ 3",
    "redis://redis:6379/0",
  ])("%s stays as it is", (text) => {
    expect(mask(line(text))).toBe(line(text));
  });

  it("may be anything when there are no secrets", () => {
    const none = createMask({
      log: settings.log,
      adminToken: undefined,
      redisUrl: "redis://redis:6379/0",
      embeddings: { key: undefined },
      chat: { key: undefined },
      agents: { mcpToken: undefined },
      monitor: { webhooks: [], webhookSecret: undefined },
    });
    expect(none(line("POST /services/T0/B0/abcdefgh"))).toBe(line("POST /services/T0/B0/abcdefgh"));
  });
});

it.each([
  ["info", true],
  ["debug", true],
  ["warn", false],
  ["silent", false],
] as const)("with the level %s it wants lines of requests: %s", (level, wanted) => {
  const { http } = createLog({ ...settings, log: { level } });
  expect(http.request !== undefined).toBe(wanted);
});
