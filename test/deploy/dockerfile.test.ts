import { run as lint } from "dockerfilelint";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { loadConfig } from "../../src/config/config.ts";
import { copied, execForm, isIgnored, only, pairs, parseDockerfile, type Stage } from "../support/deploy/dockerfile.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), "utf8");
const readJson = (path: string): Record<string, unknown> => JSON.parse(read(path)) as Record<string, unknown>;

const dockerfile = read("deploy/Dockerfile");
const dockerignore = read(".dockerignore");
const stages = parseDockerfile(dockerfile);
const runtime = stages.at(-1) as Stage;
const packageJson = readJson("package.json");

/** All files under a path of the repository. */
function filesUnder(path: string): readonly string[] {
  if (!statSync(join(root, path)).isDirectory()) return [path];
  return readdirSync(join(root, path), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));
}

/** What the Dockerfile copies from the build context. */
const contextSources = stages
  .flatMap(({ instructions }) => instructions)
  .filter(({ keyword, flags }) => keyword === "COPY" && flags["from"] === undefined)
  .flatMap((instruction) => copied(instruction).sources);

describe("the Dockerfile", () => {
  it("has two stages and nothing that dockerfilelint objects to", () => {
    expect(stages.map(({ name }) => name)).toEqual(["build", undefined]);
    expect(lint("", dockerfile)).toEqual([]);
  });

  it("is something dockerfilelint objects to when the base is not pinned", () => {
    expect(lint("", dockerfile.replaceAll("24.21.0-bookworm-slim", "latest"))).not.toEqual([]);
  });

  it("pins one base image to the exact version of Node that the npm scripts run on", () => {
    const { packages } = readJson("package-lock.json") as { packages: Record<string, { version: string }> };
    const version = packages["node_modules/node"]?.version;
    expect(version).toMatch(/^24\.\d+\.\d+$/);
    expect(stages.map(({ base }) => base.replace(/@sha256:[0-9a-f]{64}$/, ""))).toEqual([
      `node:${version}-bookworm-slim`,
      `node:${version}-bookworm-slim`,
    ]);
  });

  it("uses no instruction that fetches anything but npm", () => {
    const all = stages.flatMap(({ instructions }) => instructions);
    const known = ["CMD", "COPY", "ENV", "EXPOSE", "HEALTHCHECK", "LABEL", "RUN", "STOPSIGNAL", "USER", "VOLUME"];
    expect(new Set(all.map(({ keyword }) => keyword)).difference(new Set([...known, "WORKDIR"]))).toEqual(new Set());
    const commands = all.filter(({ keyword }) => keyword === "RUN").flatMap(({ text }) => text.split(" && "));
    expect(commands.map((command) => command.split(" ")[0])).toEqual(["npm", "npm", "npm", "mkdir"]);
    expect(runtime.instructions.filter(({ keyword }) => keyword === "RUN")).toEqual([]);
  });

  it("copies what the npm package has, and package.json", () => {
    const copies = runtime.instructions.filter(({ keyword }) => keyword === "COPY").map(copied);
    const sources = new Set(copies.flatMap((one) => one.sources).map((path) => path.replace("/build/", "")));
    const files = (packageJson["files"] as string[]).map((path) => path.replace(/^dist\/.*/, "dist"));
    const others = ["package.json", "node_modules", "data"];
    expect(sources).toEqual(new Set([...files.filter((path) => !path.startsWith(".")), ...others]));
  });

  it("runs as a numeric user that is not root, last", () => {
    expect(only(runtime, "USER").text).toBe("1000:1000");
    const after = runtime.instructions.slice(runtime.instructions.indexOf(only(runtime, "USER")) + 1);
    expect(after.filter(({ keyword }) => keyword === "COPY" || keyword === "RUN")).toEqual([]);
  });

  it("starts what `npm run serve` starts, without a shell, and is stopped as the service expects", () => {
    const { serve, start } = packageJson["scripts"] as { serve: string; start: string };
    expect(`exec ${execForm(only(runtime, "CMD").text)?.join(" ")}`).toBe(serve);
    expect(start).toBe(`node deploy/build.mjs --start && ${serve}`);
    expect(only(runtime, "STOPSIGNAL").text).toBe("SIGTERM");
    expect(only(runtime, "WORKDIR").text).toBe("/app");
  });

  it("checks its health with Node, without a shell", () => {
    const command = execForm(only(runtime, "HEALTHCHECK").text.replace(/^CMD /, ""));
    expect(command?.slice(0, 2)).toEqual(["node", "-e"]);
    expect(command?.[2]).toContain("/health/live");
  });

  it("has an environment that the configuration takes", () => {
    const environment = pairs(runtime, "ENV");
    expect(environment).toEqual({
      NODE_ENV: "production",
      HOST: "0.0.0.0",
      PORT: "3000",
      FEDWAY_DATA_DIR: "/var/lib/fedway",
    });
    expect(loadConfig(environment)).toMatchObject({ host: "0.0.0.0", port: 3000, dataDir: "/var/lib/fedway" });
    expect(only(runtime, "EXPOSE").text).toBe(environment["PORT"]);
    expect(only(runtime, "VOLUME").text).toBe(environment["FEDWAY_DATA_DIR"]);
  });

  it("is labelled with the package's version and licence", () => {
    expect(pairs(runtime, "LABEL")).toEqual({
      "org.opencontainers.image.title": "Fedway",
      "org.opencontainers.image.description": packageJson["description"],
      "org.opencontainers.image.licenses": packageJson["license"],
      "org.opencontainers.image.version": packageJson["version"],
    });
  });
});

describe("the build context", () => {
  it("holds every file that is copied from it", () => {
    const files = contextSources.flatMap(filesUnder);
    expect(contextSources).toContain("src");
    expect(files.length).toBeGreaterThan(300);
    expect(files.filter((path) => isIgnored(dockerignore, path))).toEqual([]);
  });

  it("holds nothing that is not copied from it", () => {
    const kept = readdirSync(root, { withFileTypes: true })
      .filter(({ name }) => name !== "node_modules" && name !== ".git")
      .flatMap(({ name }) => filesUnder(name))
      .filter((path) => !isIgnored(dockerignore, path));
    const isCopied = (path: string) =>
      contextSources.some((source) => path === source || path.startsWith(`${source}/`));
    expect(kept.length).toBeGreaterThan(300);
    expect(kept.filter((path) => !isCopied(path))).toEqual([]);
  });

  const shouldBeLeftOut = (path: string) =>
    it(`leaves out ${path}`, () => expect(isIgnored(dockerignore, path)).toBe(true));

  shouldBeLeftOut(".env");
  shouldBeLeftOut("deploy/.env");
  shouldBeLeftOut(".git/config");
  shouldBeLeftOut(".fedway/store.db");
  shouldBeLeftOut("node_modules/fastify/package.json");
  shouldBeLeftOut("dist/main.js");
  shouldBeLeftOut("test/unit/config/config.test.ts");
  shouldBeLeftOut("k8s/base/kustomization.yaml");
});
