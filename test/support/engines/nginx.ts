import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { answers, requireProgram, type ServerProcess, startServer } from "./server-process.ts";

/** What to start nginx with. */
export interface NginxOptions {
  /** Configuration template whose `${NAME}` placeholders are filled from `values`. */
  readonly template: URL;
  /** `RUN_DIR` and `PORT` are filled in by this function. */
  readonly values: Readonly<Record<string, string>>;
  readonly runDir: string;
  readonly port: number;
  /** Path that answers 200 (or 502 where the upstream is not up yet) once nginx listens. */
  readonly readyPath: string;
  /** Prefix of the command line, e.g. `["taskset", "-c", "0"]`. */
  readonly wrapper?: readonly string[];
}

/** Starts nginx in the foreground with its own scratch folder. */
export async function startNginx(options: NginxOptions): Promise<ServerProcess> {
  const nginx = requireProgram("nginx", "apt-get install nginx-light");
  const template = await readFile(options.template, "utf8");
  const values: Record<string, string> = { ...options.values, RUN_DIR: options.runDir, PORT: String(options.port) };
  const file = join(options.runDir, `nginx-${options.port}.conf`);
  await writeFile(file, fill(template, values));
  return startServer({
    name: "nginx",
    command: nginx,
    args: ["-c", file, "-p", options.runDir],
    wrapper: options.wrapper ?? [],
    cwd: options.runDir,
    ready: () => answers(`http://127.0.0.1:${options.port}${options.readyPath}`, [200, 502]),
    readyWithinMs: 10_000,
  });
}

function fill(template: string, values: Readonly<Record<string, string>>): string {
  const directives = template.replaceAll(/^#.*\n/gm, "");
  return directives.replaceAll(/\$\{(\w+)\}/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`the nginx template needs a value for ${name}`);
    return value;
  });
}
