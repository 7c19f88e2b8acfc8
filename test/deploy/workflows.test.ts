import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { parseDocument } from "yaml";

const root = fileURLToPath(new URL("../../", import.meta.url));
const folder = `${root}.github/workflows/`;
const { scripts } = JSON.parse(readFileSync(`${root}package.json`, "utf8")) as { scripts: Record<string, string> };

interface Workflow {
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

interface Job {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly "timeout-minutes": number;
  readonly steps: readonly { readonly run?: string; readonly uses?: string }[];
}

const names = readdirSync(folder);

function workflow(name: string): Workflow {
  const document = parseDocument(readFileSync(folder + name, "utf8"), { strict: true });
  expect(document.errors.concat(document.warnings)).toEqual([]);
  return document.toJS() as Workflow;
}

const commandsOf = (job: Job): readonly string[] => job.steps.flatMap(({ run }) => run?.split(/\n|&&/u) ?? []);

/** Whether a command starts with a script of ours that is missing. */
function isMissing(command: string): boolean {
  const words = command.trim().split(/\s+/u);
  const [program = "", verb = "", script = ""] = words;
  if (program === "npm" && verb === "run") return !(script in scripts);
  if (program === "npm" && verb === "test") return !("test" in scripts);
  if (program === "npm") return !["ci", "publish", "pkg"].includes(verb);
  if (program.startsWith(".")) return !existsSync(root + program) || (statSync(root + program).mode & 0o100) === 0;
  return false;
}

describe.each(names)("the workflow %s", (name) => {
  const { permissions, jobs } = workflow(name);

  it("runs only scripts that exist, after npm ci", () => {
    for (const job of Object.values(jobs)) {
      const commands = commandsOf(job).map((command) => command.trim());
      expect(commands.filter(isMissing)).toEqual([]);
      expect(commands.find((command) => command.startsWith("npm"))).toBe("npm ci");
      expect(job["timeout-minutes"]).toBeGreaterThan(0);
    }
  });

  it("may read, and writes nothing but the statement of a release", () => {
    expect(permissions).toEqual({ contents: "read" });
    const allowed = name === "release.yml" ? [{ contents: "read", "id-token": "write" }] : [];
    expect(Object.values(jobs).flatMap((job) => (job.permissions === undefined ? [] : [job.permissions]))).toEqual(
      allowed,
    );
  });

  it("names the versions of its actions", () => {
    const used = Object.values(jobs).flatMap(({ steps }) => steps.flatMap(({ uses }) => uses ?? []));
    for (const action of used) expect(action).toMatch(/^actions\/[a-z-]+@v\d+$/u);
  });
});

it("changes are checked, everything runs nightly, a release has provenance", () => {
  const commands = (name: string): readonly string[] => Object.values(workflow(name).jobs).flatMap(commandsOf);
  expect(names.toSorted()).toEqual(["checks.yml", "nightly.yml", "release.yml"]);
  expect(commands("checks.yml")).toEqual(["npm ci", "npm run check", "npm test"]);
  expect(commands("nightly.yml")).toContain(".ci/run");
  expect(commands("release.yml")).toContain("npm publish --provenance");
});
