// Bundles the query console (src/http/pages/browser with YASGUI) into dist/console/, so that the running service needs none of
// its packages. Dynamic imports become chunks of their own, which browsers load when it is first used.
import { readdirSync, rmSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const inRoot = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const folder = inRoot("dist/console");

const { metafile } = await build({
  entryPoints: [inRoot("src/http/pages/browser/console.ts"), inRoot("src/http/pages/browser/console.css")],
  outdir: folder,
  bundle: true,
  splitting: true,
  // The service serves chunks by these names: they change with the content.
  chunkNames: "chunk-[hash]",
  minify: true,
  format: "esm",
  target: "es2022",
  // Without it esbuild writes what stands in style sheets as escapes, and browsers read some icons wrongly.
  charset: "utf8",
  legalComments: "eof",
  loader: { ".svg": "dataurl", ".png": "dataurl" },
  metafile: true,
  logLevel: "warning",
});

// Chunks of earlier builds.
const built = new Set(Object.keys(metafile.outputs).map((path) => basename(path)));
for (const file of readdirSync(folder)) if (!built.has(file)) rmSync(`${folder}/${file}`);
