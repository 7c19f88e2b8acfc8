// Bundles the query console (src/http/pages/browser with YASGUI) into dist/console/, so that the running service needs none of
// its packages. Dynamic imports become chunks of their own, which browsers load when they are first used. The script of /docs is
// the one that Scalar's plugin serves, with a line that starts it: policies of pages allow no script in them.
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import apiReference from "@scalar/fastify-api-reference";
import { build } from "esbuild";
import { fastify } from "fastify";

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
  absWorkingDir: inRoot(""),
  logLevel: "warning",
});

// Chunks of earlier builds.
const built = new Set(Object.keys(metafile.outputs).map((path) => basename(path)));
for (const file of readdirSync(folder)) if (!built.has(file)) rmSync(`${folder}/${file}`);

// For the list of licences, which the build of the program writes. YASGUI comes with its packages bundled into it.
const { dependencies } = JSON.parse(readFileSync(inRoot("node_modules/@zazuko/yasgui/package.json"), "utf8"));
const inside = ["@scalar/fastify-api-reference", ...Object.keys(dependencies)];
const packaged = [...Object.keys(metafile.inputs), ...inside.map((name) => `node_modules/${name}/package.json`)];
writeFileSync(inRoot("dist/.console-inputs.json"), JSON.stringify(packaged));

const app = fastify().register(apiReference, { routePrefix: "/docs", configuration: { url: "openapi.json" } });
const { body } = await app.inject("/docs/js/scalar.js");
const start =
  'for (const at of document.querySelectorAll("#reference")) Scalar.createApiReference(at, JSON.parse(at.dataset.settings));';
writeFileSync(`${folder}/reference.js`, `${body}\n${start}\n`);
