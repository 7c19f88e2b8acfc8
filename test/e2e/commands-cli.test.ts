import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runCommand, startNote, startProgram } from "../support/built-program.ts";
import { type SparqlTestServer, startSparqlTestServer } from "../support/sparql-test-server.ts";
import { newFolder } from "../support/scratch-folder.ts";

// The commands without a service: each runs one and leaves nothing behind.

let server: SparqlTestServer;
beforeAll(async () => {
  server = await startSparqlTestServer(
    '<urn:x:1> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <urn:x:Book> .\n<urn:x:1> <urn:x:title> "One" .',
  );
});
afterAll(async () => {
  await server?.close();
});

const quiet = { FEDWAY_ALLOW_ADDRESSES: "127.0.0.0/8" };
const slow = "SELECT * WHERE { ?s ?p ?o }";

/** A command that has sent its query to an endpoint which does not answer. */
async function waitingQuery(env: Record<string, string>) {
  server.setFault({ kind: "hang" });
  const before = server.requests.length;
  const query = `SELECT * WHERE { SERVICE <${server.url}> { ?s ?p ?o } }`;
  const program = startProgram([process.execPath, "dist/cli/main.js", "query", query], {
    ...quiet,
    FEDWAY_EGRESS: "public",
    ...env,
  });
  await program.until(() => server.requests.length > before || undefined);
  return program;
}

describe("a command without a service", () => {
  it("is interrupted with 130, and leaves neither a process nor a held folder", async () => {
    const env = { FEDWAY_DATA_DIR: newFolder() };
    const program = await waitingQuery(env);
    program.process.kill("SIGINT");
    expect(await program.ended).toBe(130);
    expect(program.log()).toContain("CANCELLED");
    expect(await readdir(env.FEDWAY_DATA_DIR)).not.toContain("owner.json");
    server.setFault(undefined);
    const next = await runCommand(["query", "-e", "people", `${slow} LIMIT 1`], env);
    expect(next).toMatchObject({ code: 0, stderr: startNote });
  });

  it("waits for another one that holds the folder", async () => {
    const env = { FEDWAY_DATA_DIR: newFolder() };
    const first = await waitingQuery(env);
    const second = startProgram(
      [process.execPath, "dist/cli/main.js", "query", "-e", "people", `${slow} LIMIT 1`],
      env,
    );
    await second.until(() => second.log().includes(`waiting for process ${first.process.pid}`) || undefined);
    first.process.kill("SIGINT");
    expect([await first.ended, await second.ended]).toEqual([130, 0]);
    server.setFault(undefined);
  });

  it("describes and probes a URL that is not in the catalogue, and forgets it", async () => {
    const env = { ...quiet, FEDWAY_DATA_DIR: newFolder() };
    const described = await runCommand(["describe", server.url], env);
    expect(described).toMatchObject({ code: 0, stdout: expect.stringContaining("urn:x:Book") });
    expect(described.stderr).toMatch(/1 class and 2 properties found with \d+ requests/);
    const probed = await runCommand(["probe", server.url], env);
    expect(probed).toMatchObject({ code: 0, stdout: expect.stringContaining("state: up") });
    expect((await runCommand(["endpoints", "list", "--json"], env)).stdout).not.toContain("once-");
    const refused = await runCommand(["probe", server.url], { FEDWAY_DATA_DIR: env.FEDWAY_DATA_DIR });
    expect(refused).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("address") });
  });

  it.runIf(process.platform === "linux")("ends where the data folder cannot be made", async () => {
    const { code, stderr } = await runCommand(["endpoints", "list"], { FEDWAY_DATA_DIR: "/proc/fedway" });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^STORE_FAILED: [^]*The data folder \/proc\/fedway cannot[^]*\nnext: Set FEDWAY_DATA_DIR/m);
  });

  it("fails to describe what is not there, or answers nothing", async () => {
    const gone = await runCommand(["describe", "http://127.0.0.1:1/sparql"], quiet);
    expect(gone).toMatchObject({ code: 1, stdout: "" });
    expect(gone.stderr).toMatch(/ENDPOINT_UNREACHABLE: [^]*\nnext: fedway probe http:/);
    for (const target of ["no id", "http://u:secret@127.0.0.1/"]) {
      const { code, stdout, stderr } = await runCommand(["describe", target], quiet);
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
      expect(stderr).not.toContain("secret");
    }
  });
});

describe("nouns", () => {
  it.each(["endpoints", "federations", "jobs", "incidents", "runs", "shards"])("%s are listed", async (noun) => {
    const env = { FEDWAY_DATA_DIR: newFolder() };
    const { code, stdout } = await runCommand([noun, "list", "--json"], env);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ [noun]: expect.any(Array) });
    const missing = await runCommand([noun, "show", "nothing-there"], env);
    expect(missing).toMatchObject({ code: 1, stdout: "" });
  });

  it("an endpoint is shown, and the state of all", async () => {
    const { stdout } = await runCommand(["endpoints", "show", "people"]);
    expect(stdout).toMatch(/^people\n[^]*title: Example people/);
    expect((await runCommand(["status"])).stdout).toMatch(/^people +unknown/m);
  });
});

it("bash completes commands, nouns and options", async () => {
  const completed = async (...words: string[]) => {
    const script = `source <(${process.execPath} dist/cli/main.js completion bash); COMP_WORDS=(fedway ${words.map((word) => `"${word}"`).join(" ")}); COMP_CWORD=${words.length}; _fedway; echo "\${COMPREPLY[@]}"`;
    const shell = startProgram(["/bin/bash", "-c", script], {});
    await shell.ended;
    return shell.output.stdout.trim();
  };
  expect(await completed("desc")).toBe("describe");
  expect(await completed("runs", "ca")).toBe("cancel");
  expect(await completed("query", "--prov")).toBe("--provenance");
  expect(await completed("shards", "bu")).toBe("build");
});

it.each(["zsh", "fish"])("the script for %s is valid", async (shell) => {
  const { stdout } = await runCommand(["completion", shell]);
  const script = join(newFolder(), "completion");
  await writeFile(script, stdout);
  const checked = startProgram([shell, "-n", script], {});
  expect([await checked.ended, checked.output]).toEqual([0, { stdout: "", stderr: "" }]);
});

it("fish completes commands, nouns and options", async () => {
  const completed = async (words: string): Promise<string> => {
    const command = `${process.execPath} dist/cli/main.js completion fish | source; complete -C "fedway ${words}"`;
    const shell = startProgram(["fish", "-c", command], { HOME: newFolder() });
    await shell.ended;
    return shell.output.stdout.replace(/\t[^]*/, "");
  };
  expect(await Promise.all(["desc", "runs ca", "query --prov"].map(completed))).toEqual([
    "describe",
    "cancel",
    "--provenance",
  ]);
});

it("init makes a folder whose catalogue is right, and never replaces one", async () => {
  const folder = join(newFolder(), "mine");
  expect(await runCommand(["init", folder])).toMatchObject({ code: 0, stderr: "" });
  const checked = await runCommand(["catalog", "check", join(folder, "catalog")]);
  expect(checked).toMatchObject({ code: 0, stdout: expect.stringContaining("1 endpoints, 0 federations; 0 errors") });
  expect(await runCommand(["init", folder])).toMatchObject({ code: 2, stdout: "" });
  const shell = `cd ${folder}; set -a; . ./.env; set +a; PORT=0 exec ${process.execPath} ${join(process.cwd(), "dist/cli/main.js")} serve`;
  const serving = startProgram(["/bin/bash", "-c", shell], { FEDWAY_MONITOR: "off" });
  await serving.until(
    () => serving.log().includes("with 1 endpoints") || serving.log().includes("with 1 endpoint") || undefined,
  );
  expect(await serving.stop()).toBe(0);
});
