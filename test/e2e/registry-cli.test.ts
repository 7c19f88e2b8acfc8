import { mkdtemp, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type BuiltService, runCommand, startBuiltService, startProgram } from "../support/built-program.ts";
import { startSparqlTestServer } from "../support/sparql-test-server.ts";
import { newFolder } from "../support/scratch-folder.ts";

let folder: string;
let dataDir: string;
let service: BuiltService;
beforeAll(async () => {
  folder = newFolder();
  dataDir = join(folder, "state");
  service = await startBuiltService({ FEDWAY_DATA_DIR: dataDir });
});
afterAll(async () => {
  await service.stop();
});

describe("fedway describe", () => {
  it("describes an example without a service", async () => {
    const { code, stdout, stderr } = await runCommand(["describe", "people", "--summary"]);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringMatching(/1 class and \d+ properties found with/),
    });
    expect(stdout).toMatch(/^triples: \d+$/m);
    expect(stdout).toMatch(/foaf:Person \(\d+\): .*foaf:name -> xsd:string/);
  });

  it("says that it was interrupted", async () => {
    const server = await startSparqlTestServer("<urn:x:1> <urn:x:p> <urn:x:2> .");
    server.setFault({ kind: "hang" });
    const file = join(folder, "interrupted.json");
    const program = startProgram([process.execPath, "dist/cli/main.js", "describe", server.url, "--output", file], {});
    await program.until(() => server.requests[0]);
    program.process.kill("SIGINT");
    expect({ code: await program.ended, stderr: program.log() }).toEqual({
      code: 130,
      stderr: expect.stringContaining("Interrupted"),
    });
    await server.close();
    expect(await readFile(file, "utf8").catch(() => "")).not.toContain("void:triples");
  });

  it("does not repeat credentials", async () => {
    const { code, stdout, stderr } = await runCommand(["describe", "http://me:secret@127.0.0.1/sparql"]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain("user name or a password");
    expect(stderr).not.toContain("secret");
  });

  it("names the setting that allows an address which is refused though a user names it", async () => {
    const { code, stderr } = await runCommand(["describe", "http://169.254.169.254/sparql"]);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining("FEDWAY_ALLOW_ADDRESSES") });
    // One remedy is enough.
    expect(stderr.split("FEDWAY_ALLOW_ADDRESSES")).toHaveLength(2);
  });
});

describe("fedway catalog check", () => {
  it("finds nothing wrong with the catalogue that comes with the program", async () => {
    const { code, stdout } = await runCommand(["catalog", "check", "catalog", "catalog/examples"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^\d+ files: \d\d+ endpoints, \d+ federations; 0 errors, /m);
  });

  it("names file and line of what is wrong", async () => {
    const broken = await mkdtemp(join(folder, "catalog-"));
    await writeFile(join(broken, "broken.ttl"), "@prefix : <urn:x:> .\n:a :b\n");
    const { code, stdout } = await runCommand(["catalog", "check", broken]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/\/broken\.ttl:\d: error: .+\n1 files: 0 endpoints, 0 federations; 1 errors, /);
  });
});

describe("beside a running service", () => {
  it("query and explain ask it without a word", async () => {
    const query = `SELECT ?n { SERVICE <${service.url}/hosted/people/sparql> { ?p <http://xmlns.com/foaf/0.1/name> ?n } } LIMIT 1`;
    const asked = await runCommand(["query", query, "--format", "csv"], { FEDWAY_DATA_DIR: dataDir });
    expect({ code: asked.code, lines: asked.stdout.trim().split("\r\n").length }).toEqual({ code: 0, lines: 2 });
    expect(asked.stderr).toBe("");
    const explained = await runCommand(["explain", query], { FEDWAY_DATA_DIR: dataDir });
    expect(explained).toMatchObject({ code: 0, stderr: asked.stderr });
  });

  it("backup copies the state once, and never over a file", async () => {
    const file = join(folder, "backup.db");
    const first = await runCommand(["backup", file], { FEDWAY_DATA_DIR: dataDir });
    expect(first).toMatchObject({ code: 0, stdout: "" });
    expect((await readFile(file)).subarray(0, 15).toString()).toBe("SQLite format 3");
    const { mtimeMs } = await stat(file);
    const second = await runCommand(["backup", file], { FEDWAY_DATA_DIR: dataDir });
    expect({ code: second.code, stderr: second.stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining("exists already"),
    });
    expect((await stat(file)).mtimeMs).toBe(mtimeMs);
    expect((await readdir(folder)).filter((name) => name.startsWith("backup"))).toEqual(["backup.db"]);
  });
});

describe("fedway backup elsewhere", () => {
  it.each([
    ["a data folder without a database", { FEDWAY_DATA_DIR: "/no/such/folder" }, "FEDWAY_DATA_DIR"],
    ["a state in Redis", { REDIS_URL: "redis://127.0.0.1:1" }, "redis-cli --rdb"],
  ])("fails for %s", async (_name, env, hint) => {
    const { code, stderr } = await runCommand(["backup", join(folder, "nothing.db")], env);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(hint) });
  });
});
