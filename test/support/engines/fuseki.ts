import { access, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Engine } from "./engine.ts";
import { answers, createScratchFolder, freePort, requireProgram, startServer } from "./server-process.ts";

/** The newest Fuseki that runs on Java 17; `fetch-fuseki.sh` reads it from here. */
const fusekiVersion = "5.6.0";

/** What to start Fuseki with. */
export interface FusekiOptions {
  /** N-Triples of the default graph. */
  readonly data: string;
  /** Server-wide limit for one query in milliseconds; none by default. */
  readonly timeoutMs?: number;
}

/** Starts Apache Jena Fuseki, in memory, on a free loopback port. */
export async function startFuseki(options: FusekiOptions): Promise<Engine> {
  const java = requireProgram("java", "apt-get install default-jre-headless");
  const jar = await fusekiJar();
  const scratch = await createScratchFolder("fuseki");
  await writeFile(join(scratch.path, "data.nt"), options.data);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/ds/sparql`;
  const limit = options.timeoutMs === undefined ? [] : [`--timeout=${options.timeoutMs}`];
  const start = () =>
    startServer({
      name: "Fuseki",
      command: java,
      args: ["-Xmx1g", "-jar", jar, "--localhost", `--port=${port}`, ...limit, "--ping", "--file=data.nt", "/ds"],
      cwd: scratch.path,
      env: { FUSEKI_BASE: join(scratch.path, "run") },
      ready: () => answers(`http://127.0.0.1:${port}/$/ping`),
      readyWithinMs: 90_000,
    });
  let running = await start();
  return {
    url,
    pid: () => running.pid,
    kill: () => running.kill(),
    restart: async () => {
      await running.kill();
      running = await start();
    },
    stop: async () => {
      await running.stop();
      await scratch.remove();
    },
  };
}

/** Where `fetch-fuseki.sh` puts the jar; `FEDWAY_FUSEKI_JAR` names another. */
async function fusekiJar(): Promise<string> {
  const cache = process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache");
  const jar = process.env["FEDWAY_FUSEKI_JAR"] || join(cache, "fedway", `jena-fuseki-server-${fusekiVersion}.jar`);
  try {
    await access(jar);
  } catch {
    throw new Error(
      `there is no Fuseki at ${jar}; fetch it with test/support/engines/fetch-fuseki.sh or name a jar in FEDWAY_FUSEKI_JAR`,
    );
  }
  return jar;
}
