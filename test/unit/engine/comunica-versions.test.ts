import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const root = new URL("../../../", import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), "utf8");
const readme = read("deploy/comunica/upstream/README.md");

test("the faults of Comunica's were looked at with the versions in use", () => {
  const { dependencies, devDependencies } = JSON.parse(read("package.json")) as Record<string, Record<string, string>>;
  const versions = Object.entries({ ...dependencies, ...devDependencies }).filter(([name]) =>
    name.startsWith("@comunica/"),
  );
  const [, most, queryEngine] = /^Looked at with Comunica (\S+) and query-sparql (\S+)\.$/mu.exec(readme) ?? [];
  expect(versions.length).toBeGreaterThan(0);
  for (const [name, version] of versions) {
    expect(version, name).toBe(name === "@comunica/query-sparql" ? queryEngine : most);
  }
});

test("every report is in the table", () => {
  const files = readdirSync(new URL("deploy/comunica/upstream/", root)).filter((file) => file !== "README.md");
  const linked = [...readme.matchAll(/\]\(([^)/]+\.md)\)/gu)].map(([, file]) => file);
  expect(new Set(linked)).toEqual(new Set(files));
  expect(linked).toHaveLength(files.length);
});
