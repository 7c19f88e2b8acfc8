import { mkdir, readFile, writeFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type BuiltService, runCommand, startBuiltService } from "../support/built-program.ts";
import { newFolder } from "../support/scratch-folder.ts";

let folder: string;
let env: Readonly<Record<string, string>>;
beforeAll(async () => {
  folder = newFolder();
  env = { FEDWAY_DATA_DIR: folder };
});

const spec = "shards/example/spec.json";

describe("fedway shards", () => {
  it("predicts, builds, reports and verifies the example", async () => {
    const dry = await runCommand(["shards", "build", spec, "--dry-run"], env);
    expect(dry).toMatchObject({ code: 0, stdout: expect.stringContaining("nothing was written") });
    const built = await runCommand(["shards", "build", spec], env);
    expect(built).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^harbour: 2343 triples, 76 questions with 70 queries/),
    });
    const target = join(folder, "shards", "harbour");
    expect(await readFile(join(target, "report.html"), "utf8")).toMatch(/^<!doctype html>/);
    const report = await runCommand(["shards", "report", target], env);
    expect(report).toMatchObject({ code: 0, stdout: built.stdout });
    const verified = await runCommand(["shards", "verify", target], env);
    expect(verified).toMatchObject({ code: 0, stdout: expect.stringMatching(/the shards hold\n$/) });
  });

  it("writes a spec of a folder that can be built at once, and never replaces one", async () => {
    const own = join(newFolder(), "My Data");
    await mkdir(join(own, "questions"), { recursive: true });
    await writeFile(join(own, "data.nt.gz"), gzipSync(await readFile("shards/example/harbour.nt")));
    await writeFile(join(own, "ontology.ttl"), await readFile("shards/example/harbour-ontology.ttl"));
    await writeFile(join(own, "package.json"), "{}");
    const none = await runCommand(["shards", "init", own], env);
    expect(none).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("fedway shards questions '") });
    const prefix = "PREFIX h: <https://harbour.example/vocabulary#> SELECT ?name WHERE { ?port a h:Port ; h:name ?name";
    await writeFile(join(own, "one.rq"), `${prefix} }`);
    await writeFile(join(own, "questions", "a.rq"), `# Ports of the north?\n${prefix} ; h:coast "north" }`);
    await writeFile(join(own, "questions", "b.sparql"), `${prefix} ; h:coast ?coast }`);
    await writeFile(join(own, "questions", "c.rq"), "SELECT");
    const made = await runCommand(["shards", "init", own], env);
    expect(made).toMatchObject({ code: 0, stderr: "" });
    expect(made.stdout.split("\n").slice(0, 4)).toEqual([
      "data: data.nt.gz",
      "ontology: ontology.ttl",
      "queries: 2 in questions; 1 cannot be used",
      "not used: 1 queries in .; a spec names one file or folder of them",
    ]);
    expect(made.stdout).toContain(`next: fedway shards build '${own}/spec.json'`);
    const built = await runCommand(["shards", "build", join(own, "spec.json")], env);
    expect(built).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^my-data: 2343 triples, 2 questions with 2 queries/),
    });
    const written = await readFile(join(own, "spec.json"), "utf8");
    expect(await runCommand(["shards", "init", own], env)).toMatchObject({ code: 2, stdout: "" });
    expect(await readFile(join(own, "spec.json"), "utf8")).toBe(written);
  });

  it("tells what is wrong with a description", async () => {
    const { code, stdout, stderr } = await runCommand(["shards", "build", "package.json"], env);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(/unknown field/);
  });
});

describe("the built service", () => {
  let service: BuiltService;
  beforeAll(async () => {
    service = await startBuiltService({ ...env, FEDWAY_EXAMPLES: "off" });
  });
  afterAll(() => service.stop());

  it("hosts what was built, in worker threads of the built program", async () => {
    const query =
      'PREFIX h: <https://harbour.example/vocabulary#> SELECT ?name WHERE { ?port a h:Port ; h:name ?name ; h:coast "north" }';
    const answer = await fetch(`${service.url}/federations/harbour/sparql?query=${encodeURIComponent(query)}`, {
      headers: { accept: "text/csv" },
    });
    expect((await answer.text()).trim().split(/\r?\n/).slice(1).toSorted()).toEqual([
      "Aldvik",
      "Elvsund",
      "Garvik",
      "Jarlsey",
      "Nesby",
    ]);
  });

  it("says of each shard, as VoID, under which licence it is and how to cite it", async () => {
    const { shards } = (await (await fetch(`${service.url}/api/shards/harbour`)).json()) as {
      shards: { id: string }[];
    };
    expect(shards.length).toBeGreaterThan(1);
    for (const { id } of shards) {
      const described = async (): Promise<string> => {
        const headers = { accept: "application/n-triples" };
        return (await fetch(`${service.url}/api/endpoints/harbour-${id}/void`, { headers })).text();
      };
      await expect
        .poll(described)
        .toMatch(
          /^<[^>]+#dataset> <http:\/\/purl\.org\/dc\/terms\/bibliographicCitation> "Invented for Fedway; no such ferries sail\." \.$/m,
        );
      expect(await described()).toMatch(
        /#dataset> <http:\/\/purl\.org\/dc\/terms\/license> <https:\/\/creativecommons\.org\/publicdomain\/zero\/1\.0\/> \.$/m,
      );
    }
  });

  it("verifies them over HTTP, as far as it may read what they were made of", async () => {
    const asked = await fetch(`${service.url}/api/shards/harbour/verify`, { method: "POST" });
    expect(asked.status).toBe(202);
    const { id } = (await asked.json()) as { id: string };
    const job = async () =>
      (await (await fetch(`${service.url}/api/jobs/${id}`)).json()) as {
        state: string;
        result?: { outcome: string; checks: { name: string; outcome: string }[] };
      };
    await expect.poll(async () => (await job()).state).toBe("done");
    const { result } = await job();
    expect(result?.outcome).toBe("unknown");
    expect(result?.checks.map(({ name, outcome }) => `${name} ${outcome}`)).toEqual([
      "files unknown",
      "disjoint held",
      "complete unknown",
      "placement held",
      "federated held",
      "hosted held",
      "answers unknown",
    ]);
  });
});
