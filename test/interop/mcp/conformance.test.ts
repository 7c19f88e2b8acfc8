import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createHttpServer, type HttpServer } from "../../../src/http/server.ts";
import { createHttpHandler } from "../../../src/mcp/http-handler.ts";
import { createFakeDeps } from "../../support/http-deps.ts";
import { startService } from "../../support/running-service.ts";
import { newFolder } from "../../support/scratch-folder.ts";
import { createScenarioServer } from "./scenario-server.ts";

// The conformance suite of the protocol. Most of its scenarios ask for tools of fixed names: those run on the real route
// with a server that has them; the others on the service as it is.

const run = promisify(execFile);
const suite = join(
  dirname(createRequire(import.meta.url).resolve("@modelcontextprotocol/conformance/package.json")),
  "dist/index.js",
);
const knownFailures = (revision: string): string => new URL(`known-${revision}.yaml`, import.meta.url).pathname;

let route: HttpServer;
let service: Awaited<ReturnType<typeof startService>>;
beforeAll(async () => {
  const mcp = async () => createHttpHandler(createScenarioServer, () => undefined);
  route = await createHttpServer(await createFakeDeps({ mcp }));
  await route.listen();
  service = await startService({}, { FEDWAY_EXAMPLES: "on" });
});
afterAll(async () => {
  await route?.close(0);
  await service?.close();
});

/** What the suite prints; with its exit code, as a scenario that fails unexpectedly ends it with 1. */
async function conformance(url: string, words: readonly string[]) {
  const args = [suite, "server", "--url", `${url}/mcp`, ...words];
  const options = { cwd: newFolder(), maxBuffer: 1e8 };
  return run(process.execPath, args, options).then(
    ({ stdout }) => ({ code: 0, stdout }),
    (error: unknown) => error as { readonly code: number; readonly stdout: string },
  );
}

describe.each(["2026-07-28", "2025-11-25"])("what revision %s requires", (revision) => {
  it("holds on the route, but for what is known", async () => {
    const { code, stdout } = await conformance(route.url, [
      "--requirements",
      revision,
      "--expected-failures",
      knownFailures(revision),
    ]);
    expect([code, stdout.slice(stdout.indexOf("=== SUMMARY"))]).toEqual([
      0,
      expect.stringMatching(/Total: \d{2,3} passed/),
    ]);
  });

  it.each(["tools-list", "resources-list", "prompts-list", "dns-rebinding-protection"])(
    "holds at the service: %s",
    async (scenario) => {
      const { code, stdout } = await conformance(service.url, ["--scenario", scenario, "--spec-version", revision]);
      expect([code, stdout.slice(-1_500)]).toEqual([0, expect.any(String)]);
    },
  );
});
