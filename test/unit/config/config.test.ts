import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Config } from "../../../src/config/config.ts";
import { configReference, loadConfig } from "../../../src/config/config.ts";
import { FedwayError } from "../../../src/errors/fedway-error.ts";

const refusal = (env: Record<string, string>): string => {
  try {
    loadConfig(env);
  } catch (error) {
    if (error instanceof FedwayError && error.code === "CONFIG_INVALID") return error.message;
    throw error;
  }
  throw new Error("the configuration was accepted");
};

const shouldRead = (assignment: `${string}=${string}`, pick: (config: Config) => unknown, value: unknown): void =>
  it(`reads ${assignment}`, () => {
    const [name = "", text] = assignment.split("=");
    expect(pick(loadConfig({ [name]: text }))).toStrictEqual(value);
  });

const shouldRefuse = (name: string, text: string): void =>
  it(`refuses ${name}=${JSON.stringify(text)}`, () => {
    const message = refusal({ [name]: text });
    expect(message).toContain(`${name} is ${JSON.stringify(text)}`);
    expect(message).toContain("expected ");
  });

describe("defaults", () => {
  it("are the documented ones", () =>
    expect(loadConfig({ PATH: "/bin", HOME: "/root" })).toStrictEqual({
      host: "127.0.0.1",
      port: 3000,
      metricsPort: undefined,
      catalogDir: undefined,
      dataDir: "./.fedway",
      redisUrl: undefined,
      adminToken: undefined,
      anonymous: "query",
      clientHeader: undefined,
      clientHeaderRole: "query",
      clientKey: undefined,
      publicUrl: "http://127.0.0.1:3000",
      allowedHosts: [],
      corsOrigins: "*",
      examples: true,
      shards: [],
      role: "all",
      drainMs: 5_000,
      monitor: {
        enabled: true,
        everyMs: 900_000,
        jitter: 0.1,
        incidentAfter: 3,
        recoveredAfter: 2,
        slowMs: 10_000,
        slowFactor: 3,
        certificateDays: 14,
        webhooks: [],
        groupMs: 30_000,
        webhookSecret: undefined,
        watch: [],
      },
      otlpEndpoint: undefined,
      embeddings: { source: undefined, model: undefined, key: undefined },
      chat: {
        url: undefined,
        model: undefined,
        key: undefined,
        mode: "text",
        price: undefined,
        tokens: 50_000,
        timeoutMs: 120_000,
      },
      egress: "catalog",
      allowAddresses: [],
      facts: "on",
      factsMaxAgeMs: 604_800_000,
      factsCheckMs: 3_600_000,
      factsVerifyMs: 3_600_000,
      factsNoteMs: 86_400_000,
      readBytes: 10_000_000,
      trustProxy: false,
      contact: undefined,
      credentials: undefined,
      limits: {
        timeoutMs: 60_000,
        maxRows: 10_000,
        maxSolutions: 500_000,
        subanswerTtlMs: 0,
        maxHeldBytes: 128 * 1024 * 1024,
        heldHeadBytes: 16_384,
        evaluators: 2,
        evaluatorsStart: "query",
        evaluatorMemoryMb: 512,
        maxEvaluations: 64,
        maxQueryBytes: 1_048_576,
        bodyBytes: 67_108_864,
        bodyTimeoutMs: 30_000,
        maxAnswerBytes: 2_147_483_648,
        maxConcurrent: 200,
        callRequests: 2_000,
        endpointConcurrency: 16,
        hostRate: 20,
        rateLimit: 0,
        hostedTimeoutMs: 10_000,
        hostedMemoryMb: 128,
        hostedTotalMb: 768,
        shardMemoryMb: 1024,
        runs: 1000,
        session: { requests: 0, rows: 0, bytes: 0, ms: 0 },
      },
      agents: {
        profile: "full",
        toolsOff: [],
        acceptAdapters: false,
        repair: true,
        explainEmpty: true,
        diagnosisRequests: 120,
        mcpToken: undefined,
        harvest: { rows: 50_000, except: [] },
        queryExamples: [],
        experience: 0,
      },
      log: { level: "info", queries: false, slowQueryMs: 10_000 },
    }));

  it("user and password of a URL are not repeated in messages", () => {
    for (const name of ["OTEL_EXPORTER_OTLP_ENDPOINT", "FEDWAY_PUBLIC_URL", "FEDWAY_EMBEDDINGS"]) {
      const message = refusal({ [name]: "https://user:a-secret@collector.example:4318" });
      expect(message).toContain(`${name} is "https://[secret]@collector.example:4318"; expected `);
    }
    const long = refusal({ FEDWAY_PUBLIC_URL: `https://user:${"a-secret".repeat(50)}@x.example` });
    expect(long).not.toContain("a-secret");
  });

  it("secrets are not repeated in messages", () => {
    for (const env of [
      { REDIS_URL: "rediss//:hunter2@x" },
      { FEDWAY_ADMIN_TOKEN: "hunter2" },
      { FEDWAY_WEBHOOK_SECRET: "hunter2" },
      { FEDWAY_WEBHOOKS: "https://hooks.example/1,ftp://hooks.example/?key=hunter2" },
    ]) {
      expect(() => loadConfig(env)).toThrow(/is not usable; expected/);
      expect(() => loadConfig(env)).not.toThrow(/hunter2/);
    }
  });

  it("hold for empty variables too", () =>
    expect(loadConfig({ PORT: "", FEDWAY_EGRESS: " " })).toEqual(loadConfig({})));

  it("are frozen to the bottom", () => {
    const config = loadConfig({ FEDWAY_ALLOW_ADDRESSES: "10.0.0.0/8" });
    const parts = [config, config.limits, config.log, config.allowAddresses];
    expect(parts.map((part) => Object.isFrozen(part))).toStrictEqual([true, true, true, true]);
  });
});

describe("values", () => {
  shouldRead("PORT=0", (c) => c.port, 0);
  shouldRead("FEDWAY_METRICS_PORT=9464", (c) => c.metricsPort, 9464);
  shouldRead("FEDWAY_METRICS_PORT=", (c) => c.metricsPort, undefined);
  shouldRead("FEDWAY_PUBLIC_URL=https://sparql.example/fed/", (c) => c.publicUrl, "https://sparql.example/fed");
  shouldRead("HOST=::", (c) => c.publicUrl, "http://127.0.0.1:3000");
  shouldRead("HOST=::1", (c) => c.publicUrl, "http://[::1]:3000");
  shouldRead("HOST=0.0.0.0", (c) => c.publicUrl, "http://127.0.0.1:3000");
  shouldRead("FEDWAY_EXAMPLES=off", (c) => c.examples, false);
  shouldRead("FEDWAY_EXAMPLES=TRUE", (c) => c.examples, true);
  shouldRead("FEDWAY_SHARDS=/data/a, ./b ,", (c) => c.shards, ["/data/a", "./b"]);
  shouldRead("FEDWAY_SHARDS=off", (c) => c.shards, "off");
  shouldRead("FEDWAY_EMBEDDINGS=https://models.example/v1/", (c) => c.embeddings.source, "https://models.example/v1");
  shouldRead("FEDWAY_CHAT_PRICE=0.15/0.6", (c) => c.chat.price, { input: 0.15, output: 0.6 });
  shouldRead("FEDWAY_EMBEDDINGS=./models/e5", (c) => c.embeddings.source, "./models/e5");
  shouldRead("FEDWAY_EGRESS=public", (c) => c.egress, "public");
  shouldRead("FEDWAY_ALLOW_ADDRESSES=10.0.0.0/8, ::1", (c) => c.allowAddresses, ["10.0.0.0/8", "::1/128"]);
  shouldRead("FEDWAY_TRUST_PROXY=2", (c) => c.trustProxy, 2);
  shouldRead("FEDWAY_TRUST_PROXY=1", (c) => c.trustProxy, 1);
  shouldRead("FEDWAY_TRUST_PROXY=on", (c) => c.trustProxy, true);
  shouldRead("FEDWAY_TRUST_PROXY=off", (c) => c.trustProxy, false);
  shouldRead("FEDWAY_TRUST_PROXY=10.1.2.3", (c) => c.trustProxy, ["10.1.2.3/32"]);
  shouldRead("FEDWAY_MAX_QUERY_BYTES=64 KiB", (c) => c.limits.maxQueryBytes, 65_536);
  shouldRead("FEDWAY_MAX_QUERY_BYTES=2048", (c) => c.limits.maxQueryBytes, 2048);
  shouldRead("FEDWAY_MAX_ANSWER_BYTES=3GiB", (c) => c.limits.maxAnswerBytes, 3_221_225_472);
  shouldRead("FEDWAY_HOST_RATE=0", (c) => c.limits.hostRate, 0);
  shouldRead("FEDWAY_LOG_LEVEL=silent", (c) => c.log.level, "silent");
  shouldRead("FEDWAY_LOG_QUERIES=on", (c) => c.log.queries, true);
  shouldRead("FEDWAY_MONITOR=off", (c) => c.monitor.enabled, false);
  shouldRead("FEDWAY_PROBE_JITTER=25", (c) => c.monitor.jitter, 0.25);
  shouldRead("FEDWAY_DRAIN_MS=10000", (c) => c.drainMs, 10_000);
  shouldRead("OTEL_EXPORTER_OTLP_ENDPOINT=http://collector:4318/", (c) => c.otlpEndpoint, "http://collector:4318");
  shouldRead("FEDWAY_CONTACT=mailto:ops@example.org", (c) => c.contact, "mailto:ops@example.org");
});

describe("values that go together", () => {
  const hooks = "https://hooks.example/a?key=1, http://127.0.0.1:9/b";
  const secret = "0123456789abcdef";

  it("are webhooks and their secret", () => {
    const { webhooks, webhookSecret } = loadConfig({ FEDWAY_WEBHOOKS: hooks, FEDWAY_WEBHOOK_SECRET: secret }).monitor;
    expect(webhooks).toStrictEqual(["https://hooks.example/a?key=1", "http://127.0.0.1:9/b"]);
    expect(webhookSecret).toBe(secret);
    expect(refusal({ FEDWAY_WEBHOOKS: hooks })).toContain("there is no FEDWAY_WEBHOOK_SECRET");
  });

  it("are two ports", () => {
    expect(refusal({ PORT: "9464", FEDWAY_METRICS_PORT: "9464" })).toContain("FEDWAY_METRICS_PORT is 9464");
  });

  it("are a role of one of several processes and the Redis that they share", () => {
    expect(loadConfig({ ROLE: "worker", REDIS_URL: "redis://127.0.0.1:6379" }).role).toBe("worker");
    expect(refusal({ ROLE: "web" })).toContain("there is no REDIS_URL");
  });
});

describe("wrong values", () => {
  shouldRefuse("PORT", "70000");
  shouldRefuse("PORT", "-1");
  shouldRefuse("PORT", "3e3");
  shouldRefuse("PORT", "http");
  shouldRefuse("FEDWAY_METRICS_PORT", "0");
  shouldRefuse("FEDWAY_TIMEOUT_MS", "0");
  shouldRefuse("FEDWAY_TIMEOUT_MS", "60s");
  shouldRefuse("FEDWAY_MAX_QUERY_BYTES", "1 MB");
  shouldRefuse("FEDWAY_MAX_QUERY_BYTES", "12");
  shouldRefuse("FEDWAY_EGRESS", "all");
  shouldRefuse("FEDWAY_EXAMPLES", "maybe");
  shouldRefuse("FEDWAY_SHARDS", "a\nb");
  shouldRefuse("FEDWAY_PUBLIC_URL", "ftp://x.example");
  shouldRefuse("FEDWAY_PUBLIC_URL", "https://x.example/?a=b");
  shouldRefuse("FEDWAY_PUBLIC_URL", "x.example");
  shouldRefuse("FEDWAY_ALLOW_ADDRESSES", "10.0.0.0/33");
  shouldRefuse("FEDWAY_ALLOW_ADDRESSES", "localhost");
  shouldRefuse("FEDWAY_ALLOW_ADDRESSES", "10.0.0.0/8/8");
  shouldRefuse("FEDWAY_TRUST_PROXY", "some");
  shouldRefuse("FEDWAY_HOST_RATE", "-1");
  shouldRefuse("ROLE", "both");
  shouldRefuse("FEDWAY_PROBE_EVERY_MS", "10");
  shouldRefuse("FEDWAY_PROBE_JITTER", "51");
  shouldRefuse("FEDWAY_INCIDENT_AFTER", "0");
  shouldRefuse("OTEL_EXPORTER_OTLP_ENDPOINT", "grpc://collector:4317");
  shouldRefuse("FEDWAY_LOG_LEVEL", "verbose");
  shouldRefuse("FEDWAY_CONTACT", "a\u0007b");

  it("are all listed in one error", () => {
    const message = refusal({ PORT: "x", FEDWAY_EGRESS: "y", FEDWAY_EGRES: "catalog", FEDWAY_RUNS: "z" });
    expect(message.split("\n")).toHaveLength(4);
    expect(message).toContain("FEDWAY_EGRES is not known; did you mean FEDWAY_EGRESS?");
  });

  it("are shown cut short", () => expect(refusal({ PORT: "9".repeat(10_000) }).length).toBeLessThan(200));
  it("need a name that is known", () => expect(refusal({ FEDWAY_ZZZZZZZZZZZZ: "1" })).toContain("--help lists all"));
});

describe("configReference", () => {
  it("documents every variable with one sentence", () => {
    expect(configReference.length).toBeGreaterThan(30);
    for (const { name, meaning } of configReference) {
      expect(name).toMatch(/^(HOST|PORT|REDIS_URL|ROLE|OTEL_EXPORTER_OTLP_ENDPOINT|FEDWAY_[A-Z_]+)$/);
      expect(meaning).toMatch(/^[A-Z].*\.$/);
    }
  });

  const readme = new URL("../../../deploy/guide/settings.md", import.meta.url);
  it("is the table of the guide", () => {
    const text = readFileSync(readme, "utf8");
    const documented = [
      ...text.matchAll(
        /^\| `(HOST|PORT|REDIS_URL|ROLE|OTEL_EXPORTER_OTLP_ENDPOINT|FEDWAY_[A-Z_]+)` +\| (.*?) +\| (.*?) +\|$/gm,
      ),
    ].map(([, name, fallback, meaning]) => ({ name, default: fallback?.replaceAll("`", ""), meaning }));
    expect(documented).toStrictEqual(
      configReference.map(({ name, default: fallback, meaning }) => ({ name, default: fallback || "unset", meaning })),
    );
  });
});
