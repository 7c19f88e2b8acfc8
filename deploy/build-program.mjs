// Bundles the program with its packages into dist/. Left out are packages whose WebAssembly lies in files of their own: the
// only dependencies of the package that is published. Entry points share chunks, so a process has every module once.
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));
process.chdir(root);

/** Processes and threads of the program, which starts them by these paths. */
const scripts = [
  "src/engine/evaluators/evaluator",
  "src/embeddings/model-process",
  "src/hosting/store-thread",
  "shards/src/shard-process",
  "shards/src/materialise/build-thread",
  "shards/src/solver/clingo-worker",
];

/** Licences of packages whose package.json has no `license`, as their README or licence file states them. */
const unnamed = { jsuri: "MIT", negotiate: "BSD-2-Clause", uritemplate: "MIT" };

const { metafile } = await build({
  entryPoints: {
    main: "src/main.ts",
    "cli/main": "src/cli/bin.ts",
    ...Object.fromEntries(scripts.map((path) => [path, `${path}.ts`])),
  },
  outdir: "dist",
  chunkNames: "chunks/[name]-[hash]",
  bundle: true,
  splitting: true,
  minifySyntax: true,
  minifyWhitespace: true,
  format: "esm",
  platform: "node",
  target: "node22.19",
  external: ["oxigraph", "clingo-wasm"],
  // For packages that are CommonJS.
  banner: { js: 'import { createRequire as __from } from "node:module"; const require = __from(import.meta.url);' },
  plugins: [{ name: "module URLs", setup: keepModuleUrls }],
  metafile: true,
  logLevel: "warning",
});
// The console has been built before; it leaves the names of its inputs.
const consoleInputs = JSON.parse(readFileSync("dist/.console-inputs.json", "utf8"));
writeFileSync("dist/LICENCES.txt", licencesOf([...Object.keys(metafile.inputs), ...consoleInputs]));

/** In a chunk `import.meta.url` stays the place that the module has in src/, below dist/. */
function keepModuleUrls({ onLoad }) {
  onLoad({ filter: /\.ts$/ }, ({ path }) => {
    const place = JSON.stringify(relative(root, path).replace(/ts$/, "js"));
    const url = `(import.meta.url.slice(0, import.meta.url.lastIndexOf("/dist/") + 6) + ${place})`;
    return { loader: "ts", contents: readFileSync(path, "utf8").replaceAll("import.meta.url", url) };
  });
}

/** The licences of the packages inside. @throws Error for a package that names none, which is then added to `unnamed`. */
function licencesOf(files) {
  const folders = files.map((path) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(path)?.[0]);
  const texts = [...new Set(folders)].filter(Boolean).map((folder) => {
    const { name, version, license = unnamed[name] } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
    if (license === undefined)
      throw new Error(`${folder}/package.json names no licence. Read its files and add it to "unnamed".`);
    const [file] = globSync(`${folder}/{LICENSE,LICENCE,license,licence,License}*`);
    return `${name} ${version} (${license})\n\n${file ? readFileSync(file, "utf8") : ""}`;
  });
  return texts.toSorted().join(`\n${"-".repeat(80)}\n`);
}
