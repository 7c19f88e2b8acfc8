import { execFile } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Listening, listening } from "../support/listening.ts";
import { newFolder } from "../support/scratch-folder.ts";

const script = fileURLToPath(new URL("../../.ci/audit", import.meta.url));

let cache: string;
let registry: Listening;
/** What the registry says when it is asked for advisories: a level, nothing, or that it answers no such question. */
let advisory: "moderate" | "high" | "none" | "refused";

beforeEach(async () => {
  cache = newFolder();
  const server = createServer((request, response) => {
    request.resume();
    if (request.url !== "/-/npm/v1/security/advisories/bulk") {
      // Whether another version helps: there is this one only.
      const versions = { "5.0.0": { name: "fastify", version: "5.0.0", dist: { tarball: "http://127.0.0.1:9/" } } };
      response.end(JSON.stringify({ name: "fastify", "dist-tags": { latest: "5.0.0" }, versions }));
    } else if (advisory === "refused") response.writeHead(405).end();
    else {
      const found = {
        id: 1,
        url: "https://a.example/1",
        title: "A hole",
        severity: advisory,
        vulnerable_versions: "*",
      };
      response.end(JSON.stringify(advisory === "none" ? {} : { fastify: [found] }));
    }
  });
  registry = await listening(server);
});

afterEach(async () => {
  await registry.close();
});

async function audit(url = `${registry.origin}/`) {
  const env = { ...process.env, npm_config_registry: url, npm_config_cache: cache, npm_config_fetch_retries: "0" };
  const child = execFile(script, { env });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (text: string) => (output += text));
  const [code] = (await once(child, "close")) as [number];
  return { code, output };
}

describe("the audit of the packages that run with the service", () => {
  it.each(["none", "moderate"] as const)("passes with advisories of level %s", async (level) => {
    advisory = level;
    expect(await audit()).toEqual({ code: 0, output: "no vulnerabilities of level high or critical\n" });
  });

  it("fails at a level of high, and says which package it is", async () => {
    advisory = "high";
    const { code, output } = await audit();
    expect(code).toBe(1);
    expect(output).toMatch(/fastify[\s\S]*A hole/);
  });

  it("is skipped, and says so, where the registry answers no audits or is not there", async () => {
    advisory = "refused";
    const skipped = { code: 0, output: "skipped: the package registry does not answer audits\n" };
    expect(await audit()).toEqual(skipped);
    expect(await audit("http://127.0.0.1:9/")).toEqual(skipped);
    // The closing line of the whole run repeats it.
    expect(readFileSync(new URL("../../.ci/run", import.meta.url), "utf8")).toContain("$audited == skipped:*");
  });
});
