import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { newFolder } from "../scratch-folder.ts";
import { requireProgram } from "./server-process.ts";

const here = (name: string): string => fileURLToPath(new URL(`./fedx/${name}`, import.meta.url));

/** Where `fetch-fedx.sh` puts the jars. */
function jarFolder(): string {
  const version = createHash("sha256")
    .update(readFileSync(here("pom.xml")))
    .digest("hex")
    .slice(0, 12);
  return join(process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "fedway", `fedx-${version}`);
}

const hasFedx = (): boolean => existsSync(join(jarFolder(), "complete"));

/** FedX over these members, as a server of its own that takes queries by POST form. @throws Error when it is not there */
export async function startFedx(members: readonly string[]) {
  if (!hasFedx()) throw new Error("there is no FedX; fetch it with test/support/engines/fetch-fedx.sh");
  const java = requireProgram("java", "apt-get install default-jdk-headless");
  const file = join(newFolder(), "members.txt");
  await writeFile(file, members.join("\n"));
  const child = spawn(java, ["-Xmx2g", "-cp", join(jarFolder(), "*"), here("FedXServer.java"), file], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  const ended = once(child, "close");
  const [url]: unknown[] = await Promise.race([once(createInterface(child.stdout), "line"), ended.then(() => [])]);
  if (typeof url !== "string") throw new Error("FedX ended before it was ready.");
  return {
    url,
    pid: child.pid ?? 0,
    async stop(): Promise<void> {
      child.kill("SIGKILL");
      await ended;
    },
  };
}
