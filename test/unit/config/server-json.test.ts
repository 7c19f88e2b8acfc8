import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { configReference } from "../../../src/config/config.ts";
import { packageVersion } from "../../../src/package-file.ts";

// What the registry of MCP servers is told, where it can be wrong by itself (schema 2025-12-11 and the rules of publishing).

interface ServerJson {
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly remotes: readonly {
    readonly type: string;
    readonly url: string;
    readonly variables: Readonly<Record<string, unknown>>;
  }[];
  readonly packages: readonly {
    readonly version: string;
    readonly environmentVariables: readonly { readonly name: string }[];
  }[];
}

const read = (file: string): unknown => JSON.parse(readFileSync(new URL(`../../../${file}`, import.meta.url), "utf8"));

it("deploy/server.json says what this package is", () => {
  const { name, description, version, packages, remotes } = read("deploy/server.json") as ServerJson;
  expect(name).toMatch(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/);
  expect(description.length).toBeLessThanOrEqual(100);
  expect([version, ...packages.map((each) => each.version)]).toEqual([packageVersion(), packageVersion()]);
  const known = configReference.map((setting) => setting.name);
  for (const { environmentVariables } of packages)
    expect(known).toEqual(expect.arrayContaining(environmentVariables.map((variable) => variable.name)));
  // A placeholder that has no variable is refused there.
  for (const { type, url, variables } of remotes) {
    expect(type).toBe("streamable-http");
    expect(url.endsWith("/mcp")).toBe(true);
    expect(Array.from(url.matchAll(/\{(\w+)\}/g), ([, variable]) => variable)).toEqual(Object.keys(variables));
  }
  // The registry compares the two; a package that does not name itself cannot be published there.
  const { mcpName = name } = read("package.json") as { readonly mcpName?: string };
  expect(mcpName).toBe(name);
});
