import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { composeFile } from "../../shards/src/package/compose-file.ts";
import { loadConfig } from "../../src/config/config.ts";
import { composeProblems } from "../support/deploy/deploy-checkers.ts";
import { inBytes, plannedBytes } from "../support/deploy/memory.ts";
import { only, pairs, parseDockerfile, type Stage } from "../support/deploy/dockerfile.ts";

const deploy = fileURLToPath(new URL("../../deploy/", import.meta.url));
const read = (path: string): string => readFileSync(join(deploy, path), "utf8");

interface Service {
  readonly image: string;
  readonly user?: string;
  readonly build?: { readonly context: string; readonly dockerfile: string };
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly networks: readonly string[];
  readonly volumes: readonly string[];
  readonly tmpfs?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly stop_grace_period?: string;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly restart?: string;
  readonly deploy: { readonly resources: { readonly limits: Readonly<Record<string, unknown>> } };
}

interface ComposeFile {
  readonly services: Readonly<Record<string, Service>>;
  readonly networks: Readonly<Record<string, { readonly internal?: boolean }>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

const text = read("compose.yaml");
const compose = parse(text, { merge: true }) as ComposeFile;
const services = Object.entries(compose.services);
const service = (name: string): Service => compose.services[name] as Service;
const runtime = parseDockerfile(read("Dockerfile")).at(-1) as Stage;

/** A value with its variables replaced as Compose does it: `${NAME:-default}`, `${NAME:?message}`, `$$`. */
function interpolate(value: string, env: Readonly<Record<string, string>>): string {
  return value.replaceAll(/\$\$|\$\{(\w+)(?::([-?])([^}]*))?\}/g, (match, name: string, operator, rest: string) => {
    if (match === "$$") return "$";
    const found = env[name] ?? "";
    if (found !== "") return found;
    if (operator === "-") return rest;
    throw new Error(`${name}: ${rest}`);
  });
}

const secrets = {
  REDIS_PASSWORD: "5ba7eb5c",
  FEDWAY_ADMIN_TOKEN: "0123456789abcdef",
  GRAFANA_ADMIN_PASSWORD: "fedcba9876543210",
};

/** The configuration that a service starts with, given deploy/.env. */
function configOf(name: string, env: Readonly<Record<string, string>> = secrets) {
  const own = Object.entries(service(name).environment ?? {}).map(([key, value]) => [key, interpolate(value, env)]);
  return loadConfig({ ...pairs(runtime, "ENV"), ...Object.fromEntries(own) });
}

/** Sources and targets of what is mounted from the repository. */
const mounts = services.flatMap(([name, { volumes }]) =>
  volumes
    .filter((volume) => volume.startsWith("."))
    .map((volume) => {
      const [source = "", target = "", mode] = volume.split(":");
      return { name, source, target, mode };
    }),
);

const inMs = (duration: string | undefined): number => Number(/^(\d+)s$/.exec(duration ?? "")?.[1]) * 1000;

describe("the compose file", () => {
  it("is one by the Compose specification", () => {
    expect(composeProblems(compose)).toBe("");
  });

  it("would not be with an unknown field", () => {
    const wrong = { ...compose, services: { ...compose.services, web: { ...service("web"), port: ["3000"] } } };
    expect(composeProblems(wrong)).toMatch(/port/);
  });

  it("has the two roles, Redis, Prometheus and Grafana", () => {
    expect(Object.keys(compose.services)).toEqual(["web", "worker", "redis", "prometheus", "grafana"]);
  });

  it("names only networks, volumes and services that it has", () => {
    const networks = services.flatMap(([, found]) => found.networks);
    const volumes = services.flatMap(([, found]) => found.volumes).filter((volume) => !volume.startsWith("."));
    const needed = services.flatMap(([, found]) => Object.keys(found.depends_on ?? {}));
    expect(new Set(networks)).toEqual(new Set(Object.keys(compose.networks)));
    expect(new Set(volumes.map((volume) => volume.split(":")[0]))).toEqual(new Set(Object.keys(compose.volumes)));
    expect(new Set(needed)).toEqual(new Set(["redis", "prometheus"]));
  });
});

describe.each(services)("service %s", (name, found) => {
  it("is of one exact version", () => {
    expect(found.image).toMatch(/^[a-z/]+:v?\d+\.\d+\.\d+(-alpine)?$/);
  });

  it("has a read-only root, no capabilities and no way to get some", () => {
    expect(found).toMatchObject({
      read_only: true,
      cap_drop: ["ALL"],
      security_opt: ["no-new-privileges:true"],
      restart: "unless-stopped",
    });
  });

  it("is limited in processors, memory and processes", () => {
    expect(Object.keys(found.deploy.resources.limits)).toEqual(["cpus", "memory", "pids"]);
  });

  it("says whether it is well", () => {
    const test = found.build ? only(runtime, "HEALTHCHECK").text : found.healthcheck?.test.join(" ");
    expect(test).toMatch(/\/health\/live|\/-\/healthy|\/api\/health|redis-cli ping/);
  });

  it("publishes ports on the loopback address only", () => {
    expect((found.ports ?? []).filter((port) => !/^127\.0\.0\.1:\d+:\d+$/.test(port))).toEqual([]);
    expect(found.ports?.length ?? 0).toBe(name === "redis" || name === "worker" ? 0 : 1);
  });

  it("holds no secret itself", () => {
    const secret = Object.entries(found.environment ?? {}).filter(([key]) =>
      /PASSWORD|TOKEN|SECRET|AUTH|URL/.test(key),
    );
    expect(secret.filter(([, value]) => !/\$\{\w+:(\?[^}]+|-(http:[^}]+)?)\}/.test(value))).toEqual([]);
  });
});

describe("the services together", () => {
  it("run the image that the Dockerfile builds, at its version", () => {
    const version = pairs(runtime, "LABEL")["org.opencontainers.image.version"];
    for (const name of ["web", "worker"]) {
      expect(service(name).image).toBe(`fedway:${version}`);
      expect(service(name).build).toEqual({ context: "..", dockerfile: "deploy/Dockerfile" });
      expect(service(name).volumes).toEqual([`data:${only(runtime, "VOLUME").text}`]);
      expect(service(name).tmpfs).toEqual(["/tmp:size=256m"]);
    }
  });

  it("are configured as web and worker on one Redis", () => {
    const redisUrl = "redis://:5ba7eb5c@redis:6379/0";
    const shared = { host: "0.0.0.0", port: 3000, redisUrl, publicUrl: "http://127.0.0.1:3000", examples: false };
    expect(configOf("web")).toMatchObject({ ...shared, role: "web", adminToken: "0123456789abcdef" });
    expect(configOf("worker")).toMatchObject({ ...shared, role: "worker", adminToken: undefined });
  });

  it("limit the requests of a client, who is told apart behind a proxy when that is trusted", () => {
    expect(configOf("web")).toMatchObject({ limits: { rateLimit: 600 }, trustProxy: false });
    const behind = configOf("web", { ...secrets, FEDWAY_TRUST_PROXY: "1", FEDWAY_RATE_LIMIT: "60" });
    expect(behind).toMatchObject({ limits: { rateLimit: 60 }, trustProxy: 1 });
  });

  it("hand on where incidents are told", () => {
    const hooks = { FEDWAY_WEBHOOKS: "https://hooks.example.org/", FEDWAY_WEBHOOK_SECRET: "abcdef0123456789" };
    const monitor = { webhooks: [hooks.FEDWAY_WEBHOOKS], webhookSecret: hooks.FEDWAY_WEBHOOK_SECRET };
    expect(configOf("web", { ...secrets, ...hooks }).monitor).toMatchObject(monitor);
    expect(configOf("worker", { ...secrets, ...hooks }).monitor).toMatchObject(monitor);
  });

  it("may end the queries under way", () => {
    const { limits, drainMs } = configOf("web");
    expect(inMs(service("web").stop_grace_period)).toBeGreaterThan(limits.timeoutMs + drainMs);
    expect(inMs(service("worker").stop_grace_period)).toBeGreaterThan(limits.timeoutMs + drainMs);
  });

  it.each(["web", "worker"])("have the memory that the processes of %s may need", (name) => {
    const { environment, deploy: limited } = service(name);
    const planned = plannedBytes(configOf(name), environment?.["NODE_OPTIONS"]);
    expect(planned).toBeGreaterThan(0);
    expect(planned).toBeLessThanOrEqual(inBytes(limited.resources.limits["memory"]));
  });

  it("leave Redis where neither the host nor the world reaches it", () => {
    expect(service("redis").networks).toEqual(["state"]);
    expect(compose.networks["state"]).toEqual({ internal: true });
    expect(service("web").networks).toContain("state");
    expect(service("worker").networks).toContain("state");
  });

  it("need every secret of env.example, which holds none", () => {
    const example = read("env.example").split("\n");
    const names = example.filter((line) => /^\w+=/.test(line));
    expect(names).toEqual(Object.keys(secrets).map((name) => `${name}=`));
    const required = [...text.matchAll(/\$\{(\w+):\?/g)].map(([, name]) => name);
    expect(new Set(required)).toEqual(new Set(Object.keys(secrets)));
    const optional = [...text.matchAll(/\$\{(\w+):-/g)].map(([, name]) => `# ${name}=`);
    expect(optional.filter((name) => !example.some((line) => line.startsWith(name)))).toEqual([]);
  });
});

describe("what is mounted", () => {
  it.each(mounts)("$name: $source is there, read-only", ({ source, mode }) => {
    expect(existsSync(join(deploy, source))).toBe(true);
    expect(mode).toBe("ro");
  });

  const targetOf = (source: string): string | undefined => mounts.find((mount) => mount.source === source)?.target;

  it("gives Prometheus the rules where its configuration looks for them, and the services as targets", () => {
    const { rule_files, scrape_configs } = parse(read("prometheus/prometheus.yml")) as {
      rule_files: readonly string[];
      scrape_configs: readonly {
        job_name: string;
        metrics_path?: string;
        dns_sd_configs?: readonly { names: readonly string[]; port: number }[];
      }[];
    };
    expect(targetOf("./prometheus/prometheus.yml")).toBe("/etc/prometheus/prometheus.yml");
    expect(targetOf("./prometheus/rules")).toBe("/etc/prometheus/rules");
    expect(rule_files).toEqual(["rules/*.yml"]);
    expect(readdirSync(join(deploy, "prometheus/rules")).length).toBeGreaterThan(0);
    const fedway = scrape_configs.find(({ job_name }) => job_name === "fedway");
    expect(fedway?.dns_sd_configs).toMatchObject([{ names: ["web", "worker"], port: configOf("worker").metricsPort }]);
    expect(configOf("web").metricsPort).toBe(configOf("worker").metricsPort);
    const reached = service("prometheus").networks;
    for (const name of ["web", "worker"]) expect(service(name).networks.some((n) => reached.includes(n))).toBe(true);
  });

  it("gives Grafana its dashboards and Prometheus where its provisioning says", () => {
    const provisioning = (folder: string): readonly string[] =>
      readdirSync(join(deploy, "grafana/provisioning", folder)).map((file) =>
        read(`grafana/provisioning/${folder}/${file}`),
      );
    expect(targetOf("./grafana/provisioning")).toBe("/etc/grafana/provisioning");
    const [provider = "", ...others] = provisioning("dashboards");
    expect(others).toEqual([]);
    expect((parse(provider) as { providers: unknown }).providers).toMatchObject([
      { options: { path: targetOf("./grafana/dashboards") } },
    ]);
    const [source = ""] = provisioning("datasources");
    expect((parse(source) as { datasources: unknown }).datasources).toMatchObject([{ url: "http://prometheus:9090" }]);
    expect(service("grafana").networks).toEqual(service("prometheus").networks);
  });
});

it("the compose file of a package follows the Compose specification", () => {
  const shard = { id: "a", key: "base", file: "shards/a.nt", triples: 1, bytes: 1, sha256: "", lineBytes: 10_000_000 };
  const url = "https://benchmark.example/b/shards/towns/a/sparql";
  const packaged = composeFile("towns", "https://benchmark.example/b", [{ ...shard, url }]);
  expect(composeProblems(parse(packaged, { merge: true }))).toBe("");
  const stated = parse(packaged, { merge: true }) as ComposeFile;
  expect(stated.services["proxy"]?.ports).toEqual(["127.0.0.1:8080:80"]);
  expect(stated.services["shard-1"]?.command).toContain("/b/shards/towns/a");
});
