import { execFileSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { freePort } from "../listening.ts";
import { newFolder } from "../scratch-folder.ts";
import { type Engine, startEngine } from "./engine.ts";
import { answers, requireProgram, startServer } from "./server-process.ts";

const here = (name: string): string => fileURLToPath(new URL(`./${name}`, import.meta.url));

const pythonEngines = ["pyoxigraph", "rdflib"] as const;

/** An engine that is a library, in a process with a server of ours in front. */
export type EmbeddedEngine = "blazegraph" | "rdf4j" | "corese" | (typeof pythonEngines)[number];

const isPython = (name: EmbeddedEngine): boolean => pythonEngines.some((engine) => engine === name);

/** Starts an engine over N-Quads on a free loopback port. It answers rows as SPARQL JSON, graphs as N-Triples. */
export async function startEmbedded(name: EmbeddedEngine, data: string): Promise<Engine> {
  const folder = execFileSync(here("fetch-embedded.sh"), { encoding: "utf8" }).trim();
  const scratch = newFolder();
  await writeFile(join(scratch, "data.nq"), data);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/sparql`;
  const [command, ...args] = isPython(name)
    ? [join(folder, "python/bin/python"), here("embedded/python/server.py"), name, "data.nq", `${port}`]
    : [
        requireProgram("java", "apt-get install default-jdk-headless"),
        "-Xmx1g",
        `-Dport=${port}`,
        "-cp",
        `${join(folder, name)}:${join(folder, name, "*")}`,
        "Engine",
        "data.nq",
      ];
  const start = () =>
    startServer({
      name,
      command,
      args,
      cwd: scratch,
      ready: () => answers(`${url}?query=${encodeURIComponent("ASK {}")}`),
      readyWithinMs: 240_000,
    });
  return startEngine(url, start);
}
