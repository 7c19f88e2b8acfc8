// Copies the packages that the built service can load into FOLDER/node_modules: node deploy/gather-runtime.mjs FOLDER
// The packages of package.json bring nearly twice as many: Comunica's other engines, GraphQL, Components.js, command lines.
// esbuild follows every import and require of dist/; packages are copied whole, without types and source maps.
import { cp, mkdir, readdir, readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));
const target = process.argv[2];
if (target === undefined) throw new Error("usage: node deploy/gather-runtime.mjs FOLDER");

/** Dependencies that nothing in dist/ loads: deploy/comunica/engine.json is compiled from the first, the second has types. */
const neededToBuild = new Set(["@comunica/query-sparql", "@fastify/type-provider-typebox"]);
/** Dependencies that are loaded by a name no tool can follow: `import.meta.resolve`. */
const resolvedLate = ["clingo-wasm"];

const files = (await readdir(join(root, "dist"), { recursive: true })).filter((file) => /\.c?js$/.test(file));
const { metafile } = await build({
  absWorkingDir: root,
  stdin: { contents: files.map((file) => `import "./dist/${file}";`).join("\n"), resolveDir: root },
  bundle: true,
  write: false,
  metafile: true,
  platform: "node",
  format: "esm",
  // The conditions and fields that Node goes by, and no others.
  conditions: [],
  mainFields: ["main"],
  preserveSymlinks: true,
  logLevel: "error",
});

const packageOf = (path) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(path)?.[0];
const reached = new Set(Object.keys(metafile.inputs).map(packageOf).filter(Boolean));
for (const name of resolvedLate) reached.add(`node_modules/${name}`);

const { dependencies } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
const isReached = (name) => reached.has(`node_modules/${name}`);
const unused = Object.keys(dependencies).filter((name) => !isReached(name) && !neededToBuild.has(name));
if (unused.length > 0)
  throw new Error(`Nothing that was built loads ${unused.join(", ")}: no dependency, or loaded in a new way?`);
const used = [...neededToBuild].filter(isReached);
if (used.length > 0)
  throw new Error(
    `${used.join(", ")} is loaded at run time now: take it off the list of what is needed to build only.`,
  );

for (const path of reached) {
  const from = join(root, path);
  await mkdir(join(target, path), { recursive: true });
  // Packages within packages are copied when they are reached themselves.
  const filter = (file) => !/\.map$|\.d\.[cm]?ts$|^node_modules(\/|$)/.test(relative(from, file));
  await cp(from, join(target, path), { recursive: true, filter, verbatimSymlinks: true });
}
process.stdout.write(`${reached.size} packages\n`);
