import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { describe, expect, it } from "vitest";
import { runCommand, startBuiltService, startNote, startProgram } from "../support/built-program.ts";
import { startBookServer } from "../support/book-server.ts";
import { newFolder } from "../support/scratch-folder.ts";

// The commands without a service: each runs one and leaves nothing behind.

const server = await startBookServer();
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

it("lets no data control a real terminal, in any form, and leaves a pipe its bytes", async () => {
  const data = "\u001B]0;t\u0007\u009B2J\u202E";
  const fake = createServer((request, response) => {
    const type = request.headers.accept?.split(",")[0] ?? "";
    response
      .setHeader("Content-Type", type)
      .end(type.includes("json") ? JSON.stringify([data]) : `?a\r\n"${data}"\r\n`);
  });
  fake.listen(0, "127.0.0.1");
  await once(fake, "listening");
  const url = `http://127.0.0.1:${(fake.address() as AddressInfo).port}`;
  const asked = `${process.execPath} dist/cli/main.js query 'ASK {}' --url ${url}`;
  const printed = async (command: readonly string[]): Promise<string> => {
    const program = startProgram(command, { TERM: "xterm" });
    expect(await program.ended).toBe(0);
    return program.output.stdout;
  };
  try {
    for (const more of ["", " -f json", " -f csv", " -f tsv", " -f turtle", " -f xml"]) {
      const onTerminal = await printed(["script", "-qec", `${asked}${more}`, "/dev/null"]);
      // Seconds are counted on a line of their own as long as it takes.
      const shown = stripVTControlCharacters(onTerminal).replaceAll(/\r(?:[-|/\\] \d+ s|\n)?/gu, "\n");
      expect(shown).not.toMatch(/(?![\n\t])[\p{Cc}\u202E]/u);
      expect(onTerminal).toContain(String.raw`\u009B2J\u202E`);
    }
    expect(await printed(["/bin/sh", "-c", `${asked} -f csv`])).toBe(`?a\r\n"${data}"\r\n`);
  } finally {
    fake.close();
  }
});

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
  });

  it("describes and probes a URL that is not in the catalogue, and forgets it", async () => {
    const env = { ...quiet, FEDWAY_DATA_DIR: newFolder() };
    const described = await runCommand(["describe", server.url], env);
    expect(described).toMatchObject({ code: 0, stdout: expect.stringContaining("urn:x:Book") });
    expect(described.stderr).toMatch(/1 class and 2 properties found with \d+ requests/);
    const probed = await runCommand(["probe", server.url], env);
    expect(probed).toMatchObject({ code: 0, stdout: expect.stringContaining("state: up") });
    expect((await runCommand(["endpoints", "list", "--json"], env)).stdout).not.toContain("once-");
    // A private address that was typed is meant: no setting is needed.
    const typed = await runCommand(["probe", server.url], { FEDWAY_DATA_DIR: env.FEDWAY_DATA_DIR });
    expect(typed).toMatchObject({ code: 0, stdout: expect.stringContaining("state: up") });
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

  it("a list that goes on says so", async () => {
    const { stdout, stderr } = await runCommand(["endpoints", "list", "--limit", "2"]);
    // Below the heads and a rule.
    expect(stdout.trimEnd().split("\n").slice(2)).toHaveLength(2);
    expect(stderr).toContain("There are more: name a larger --limit.\n");
    expect((await runCommand(["endpoints", "list"])).stderr).not.toContain("There are more");
  });

  it("an endpoint is shown, and the state of all", async () => {
    const { stdout } = await runCommand(["endpoints", "show", "people"]);
    expect(stdout).toMatch(/^people\n[^]*title: Example people/);
    expect((await runCommand(["status"])).stdout).toMatch(/^people +unknown/m);
  });
});

describe("nouns for people", () => {
  it("a federation is shown with its members as a table", async () => {
    const { stdout } = await runCommand(["federations", "show", "examples"]);
    expect(stdout).toMatch(/^ {2}endpoints\n {4}id +title\n {4}library +Example library\n/m);
    expect(stdout).not.toMatch(/[{}"]/);
  });

  it("runs are listed with a short hash where others do not see the query", async () => {
    const env = { FEDWAY_DATA_DIR: newFolder(), FEDWAY_ADMIN_TOKEN: "" };
    const service = await startBuiltService(env);
    await runCommand(["query", "-F", "examples", "ASK { ?s ?p ?o }"], env);
    const { stdout } = await runCommand(["runs", "list"], env);
    expect(stdout).toMatch(/ok +\d+ ms .* [\da-f]{12}$/m);
    const { runs } = JSON.parse((await runCommand(["runs", "list", "--json"], env)).stdout);
    expect(runs).toMatchObject([{ queryHash: expect.stringMatching(/^[\da-f]{64}$/) }]);
    await service.stop();
  });
});

/** Runs a script in a shell that knows the command as `fedway`. */
async function inShell(shell: string, script: string, env: Record<string, string> = {}): Promise<string> {
  const define = `fedway() { ${process.execPath} dist/cli/main.js "$@"; }`;
  const inFish = `function fedway; ${process.execPath} dist/cli/main.js $argv; end`;
  const program = startProgram([shell, "-c", `${shell === "fish" ? inFish : define}\n${script}`], {
    HOME: newFolder(),
    FEDWAY_DATA_DIR: newFolder(),
    ...env,
  });
  await program.ended;
  return program.output.stdout.trim();
}

/** What a shell offers for the last word. */
async function completed(shell: string, words: string, env: Record<string, string> = {}): Promise<readonly string[]> {
  if (shell === "fish") {
    const lines = await inShell(shell, `fedway completion fish | source; complete -C "fedway ${words}"`, env);
    return lines.split("\n").map((line) => line.replace(/\t.*/, ""));
  }
  const all = words.split(" ");
  const array = all.map((word) => `"${word}"`).join(" ");
  const arrays = shell === "zsh" ? "setopt ksharrays; " : "";
  const script = `source <(fedway completion ${shell}) 2>&1; ${arrays}COMP_WORDS=(fedway ${array}); COMP_CWORD=${all.length}; _fedway; echo "\${COMPREPLY[@]}"`;
  const offered = (await inShell(shell, script, env)).split(" ");
  // The compgen of zsh leaves the choice by the word's beginning to its menu.
  return shell === "zsh" ? offered.filter((each) => each.startsWith(all.at(-1) ?? "")) : offered;
}

describe.each(["bash", "zsh", "fish"])("%s completes", (shell) => {
  it("commands, nouns and options", async () => {
    expect(await completed(shell, "desc")).toEqual(["describe"]);
    expect(await completed(shell, "runs ca")).toEqual(["cancel"]);
    expect(await completed(shell, "query --prov")).toEqual(["--provenance"]);
    expect(await completed(shell, "shards bu")).toContain("build");
  });

  // Ids that take longer than a second are left out, which a busy machine may need.
  it("ids of endpoints and federations, without a service", { retry: 4 }, async () => {
    expect(await completed(shell, "endpoints show peop")).toEqual(["people"]);
    expect(await completed(shell, "query --endpoint peop")).toEqual(["people"]);
    expect(await completed(shell, "query -F exam")).toContain("examples");
    expect(await completed(shell, "describe peop")).toEqual(["people"]);
  });
});

it("bash completes ids after --endpoint=, whose = is a word of its own", { retry: 4 }, async () => {
  expect(await completed("bash", "query --endpoint = peop")).toEqual(["people"]);
  expect(await completed("bash", "query --endpoint =")).toContain("people");
});

it("ids come from the running service, else from the data folder; with neither there are none", async () => {
  const catalog = newFolder();
  const env = { FEDWAY_DATA_DIR: newFolder(), FEDWAY_CATALOG: catalog, FEDWAY_EXAMPLES: "off", ...quiet };
  const ids = async (more: Record<string, string> = {}) =>
    runCommand(["complete-ids", "endpoints"], { ...env, ...more });
  expect(await ids()).toEqual({ code: 0, stdout: "", stderr: "" });
  const service = await startBuiltService({ ...env, FEDWAY_ADMIN_TOKEN: "" });
  const added = { id: "books", title: "Books", url: server.url };
  const endpoint = `${service.url}/api/endpoints`;
  const token = (await readFile(join(env.FEDWAY_DATA_DIR, "admin-token"), "utf8")).trim();
  const headers = { "Content-Type": "application/json", Authorization: `Bearer ${token}` };
  expect((await fetch(endpoint, { method: "POST", headers, body: JSON.stringify(added) })).status).toBe(201);
  const { FEDWAY_CATALOG: _, ...elsewhere } = env;
  expect(await runCommand(["complete-ids", "endpoints"], elsewhere)).toMatchObject({ code: 0, stdout: "books\n" });
  await service.stop();
  expect(await ids()).toEqual({ code: 0, stdout: "books\n", stderr: "" });
  expect(await ids({ FEDWAY_DATA_DIR: "/proc/fedway", FEDWAY_CATALOG: "/proc/fedway" })).toEqual({
    code: 0,
    stdout: "",
    stderr: "",
  });
});

it("serve says of a busy port only that, and what to do", async () => {
  const { hostname, port } = new URL(server.url);
  const { code, stderr } = await runCommand(["serve", "--host", hostname, "--port", port], { FEDWAY_ADMIN_TOKEN: "" });
  expect([code, stderr]).toEqual([
    2,
    `CONFIG_INVALID: The configuration is not valid
The service cannot listen at ${hostname}:${port}: another process listens there.
next: Choose another --host or --port, or stop what listens there.
`,
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
