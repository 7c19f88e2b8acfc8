import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, cpSync, existsSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { copied, execForm, type Instruction, only, pairs, type Stage } from "./dockerfile.ts";
import { childrenOf } from "../child-processes.ts";
import { newFolder } from "../scratch-folder.ts";

/** A stage of a Dockerfile carried out in a folder, which stands for the image's root. */
export interface ImageRoot {
  readonly path: string;
  /** Where in the image the command starts. */
  readonly workdir: string;
  /** `ENV` */
  readonly env: Readonly<Record<string, string>>;
  /** `CMD` */
  readonly command: readonly string[];
  /** The command of `HEALTHCHECK` */
  readonly healthcheck: readonly string[];
}

/** How a command ended. */
export interface Ended {
  readonly status: number | null;
  readonly output: string;
}

const isRoot = process.getuid?.() === 0;

/** What a base image brings here: Node under its usual name. Everything else comes from this machine. */
function createBase(path: string): void {
  mkdirSync(join(path, "usr/local/bin"), { recursive: true });
  cpSync(process.execPath, join(path, "usr/local/bin/node"));
}

const searchPath = (path: string): string => `${join(path, "usr/local/bin")}:/usr/local/bin:/usr/bin:/bin`;

function changeOwner(path: string, owner: string | undefined): void {
  if (owner === undefined || !isRoot) return;
  const { status, stderr } = spawnSync("chown", ["-R", owner, path], { encoding: "utf8" });
  if (status !== 0) throw new Error(`chown ${owner}: ${stderr}`);
}

interface Building {
  readonly context: string;
  readonly ignored: (path: string) => boolean;
  readonly roots: ReadonlyMap<string, string>;
  readonly path: string;
  workdir: string;
}

/** Copies from an earlier stage by hard links: node_modules has tens of thousands of files. */
function copyStage(path: string, destination: string): void {
  const { status, stderr } = spawnSync("cp", ["-a", "--link", "--no-target-directory", path, destination], {
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(stderr);
}

/** Like Docker: a folder's content goes into the target, a file into a target that ends in a slash. */
function copy(building: Building, instruction: Instruction): void {
  const { sources, target } = copied(instruction);
  const { from, chown } = instruction.flags;
  const origin = from === undefined ? building.context : building.roots.get(from);
  if (origin === undefined) throw new Error(`line ${instruction.line}: there is no stage ${from}`);
  const folder = target.startsWith("/") ? join(building.path, target) : join(building.path, building.workdir, target);
  for (const source of sources) {
    const path = join(origin, source);
    if (!existsSync(path)) throw new Error(`line ${instruction.line}: there is no ${source}`);
    const isFolder = !target.endsWith("/") && sources.length === 1;
    const destination = isFolder ? folder : join(folder, source.split("/").at(-1) ?? "");
    mkdirSync(dirname(destination), { recursive: true });
    if (from === undefined) {
      const filter = (file: string): boolean => !building.ignored(relative(building.context, file));
      cpSync(path, destination, { recursive: true, verbatimSymlinks: true, filter });
    } else copyStage(path, destination);
    changeOwner(destination, chown);
  }
}

/** What `npm test`, vitest and Fedway put into the environment says nothing about an image that is being built. */
const ofTheTests =
  /^(npm_(lifecycle|package|node|command|execpath|config_\w*prefix)|FEDWAY_|NODE_(ENV|OPTIONS)|VITEST|INIT_CWD)/;

/** The environment of `RUN`: how this machine reaches the package registry is left as it is. */
function buildEnvironment(path: string): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !ofTheTests.test(name));
  // Packages that this machine has are not downloaded again.
  return { ...Object.fromEntries(own), PATH: searchPath(path), npm_config_prefer_offline: "true" };
}

/** Runs a command as `RUN` has it: by the shell, in the working folder. */
function runShell(building: Building, { text, line }: Instruction): void {
  const { status, stdout, stderr } = spawnSync("/bin/sh", ["-c", text], {
    cwd: join(building.path, building.workdir),
    encoding: "utf8",
    env: buildEnvironment(building.path),
    timeout: 240_000,
  });
  if (status !== 0) throw new Error(`line ${line}: ${text} ended with ${status}\n${stdout}\n${stderr}`);
}

function carryOut(building: Building, instruction: Instruction): void {
  if (instruction.keyword === "WORKDIR") {
    building.workdir = instruction.text;
    mkdirSync(join(building.path, instruction.text), { recursive: true });
  }
  if (instruction.keyword === "COPY") copy(building, instruction);
  if (instruction.keyword === "RUN") runShell(building, instruction);
}

const describe = (stage: Stage, { path, workdir }: Building): ImageRoot => ({
  path,
  workdir,
  env: pairs(stage, "ENV"),
  command: execForm(only(stage, "CMD").text) ?? [],
  healthcheck: execForm(only(stage, "HEALTHCHECK").text.replace(/^CMD /, "")) ?? [],
});

/**
 * Carries out WORKDIR, COPY and RUN of all stages, each in a folder of its own below one scratch folder.
 * @throws Error with the line and what a command wrote
 */
export function buildImageRoot(
  stages: readonly Stage[],
  { context, ignored }: { readonly context: string; readonly ignored: (path: string) => boolean },
): { readonly root: ImageRoot; readonly remove: () => void } {
  const scratch = newFolder();
  // Another user starts the command below.
  chmodSync(scratch, 0o755);
  const roots = new Map<string, string>();
  let root: ImageRoot | undefined;
  for (const [at, stage] of stages.entries()) {
    const building: Building = { context, ignored, roots, path: join(scratch, `stage-${at}`), workdir: "/" };
    createBase(building.path);
    for (const instruction of stage.instructions) carryOut(building, instruction);
    if (stage.name !== undefined) roots.set(stage.name, building.path);
    if (at === stages.length - 1) root = describe(stage, building);
  }
  if (!root) throw new Error("The Dockerfile has no stage.");
  const remove = (): void => {
    // Only root may remove what lies in folders without leave to write.
    spawnSync("chmod", ["-R", "u+w", scratch]);
    rmSync(scratch, { recursive: true, force: true });
  };
  return { root, remove };
}

/** Folders of this machine that stand for those of the base image; Node under its usual name is in the image's own root. */
const ofTheBase = ["usr/bin", "usr/sbin", "usr/lib", "usr/lib64", "etc", "dev"].filter((path) =>
  existsSync(`/${path}`),
);
/** Options of Docker for `--tmpfs`: nothing there is executed. */
const temporary = "noexec,nosuid,nodev,size=256m,mode=1777";

/**
 * In namespaces of its own: the image's root becomes `/`, read-only but for the volume and `/tmp`; what it starts is process 1,
 * has the image's user and no capability, and finds nothing else of this machine's files.
 */
const asContainer = String.raw`
set -e
root=$1 volume=$2 user=$3
shift 3
mount --bind "$root" "$root"
for folder in ${ofTheBase.join(" ")}; do mount --rbind -o ro "/$folder" "$root/$folder"; done
mount -t proc proc "$root/proc"
mount -t tmpfs -o ${temporary} tmpfs "$root/tmp"
mount --bind "$volume" "$root$FEDWAY_DATA_DIR"
mount -o remount,bind,ro "$root"
exec chroot "$root" /usr/bin/setpriv $user --no-new-privs --inh-caps=-all --bounding-set=-all /bin/sh -c 'cd "$0" && exec "$@"' "$WORKDIR" "$@"
`;

/** An image's root that is finished, and the volume on its data folder. */
export interface Image extends ImageRoot {
  readonly volume: string;
}

/** Adds what containers find in their root, and a volume, with what the image has there. */
export function finish(root: ImageRoot): Image {
  for (const folder of [...ofTheBase, "proc", "tmp"]) mkdirSync(join(root.path, folder), { recursive: true });
  for (const name of ["bin", "sbin", "lib", "lib64"]) symlinkSync(`usr/${name}`, join(root.path, name));
  return { ...root, volume: join(root.path, root.env["FEDWAY_DATA_DIR"] ?? "") };
}

/** The command line of a container, and its environment. */
function container({ path, workdir, env, volume }: Image, command: readonly string[]) {
  const user = isRoot ? "--reuid=1000 --regid=1000 --clear-groups" : "";
  // Without root the namespaces are those of an unprivileged user, who is then the image's user.
  const namespaces = [
    "--mount",
    "--pid",
    "--fork",
    "--kill-child",
    "--uts",
    "--ipc",
    ...(isRoot ? [] : ["--user", "--map-root-user"]),
  ];
  const args = [...namespaces, "/bin/sh", "-c", asContainer, "sh", path, volume, user, ...command];
  return { args, env: { ...env, WORKDIR: workdir, PATH: "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" } };
}

/** Runs a command in a container to its end. HOME is not set. */
export function runInImage(
  image: Image,
  command: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Ended {
  const { args, env: own } = container(image, command);
  const { status, stdout, stderr } = spawnSync("unshare", args, {
    env: { ...own, ...env },
    encoding: "utf8",
    timeout: 30_000,
  });
  return { status, output: `${stdout}${stderr}` };
}

/** Starts the image's command in a container, with nothing in the environment but the image's and what is given. */
export function startImage(image: Image, env: Readonly<Record<string, string>>) {
  const { args, env: own } = container(image, image.command);
  const child = spawn("unshare", args, { env: { ...own, ...env }, stdio: ["ignore", "ignore", "pipe"] });
  let log = "";
  child.stderr.on("data", (chunk: Buffer) => (log = (log + chunk.toString()).slice(-65_536)));
  return {
    log: () => log,
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    /** Sends SIGTERM to process 1 of the container, as `docker stop` does; the code it ends with. */
    async stop(): Promise<number | null> {
      const ended = once(child, "exit");
      for (const first of childrenOf(child.pid ?? 0)) process.kill(first, "SIGTERM");
      await ended;
      return child.exitCode;
    },
  };
}
