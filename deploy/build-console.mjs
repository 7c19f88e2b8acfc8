// Bundles the query console (src/http/pages/browser with the editor and the result views of YASGUI) into dist/console/, so
// that the running service needs none of their packages. About half a second; always done, as its inputs are many.
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const inRoot = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));

await build({
  entryPoints: [inRoot("src/http/pages/browser/console.ts"), inRoot("src/http/pages/browser/console.css")],
  outdir: inRoot("dist/console"),
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  // Without it esbuild writes what stands in style sheets as escapes, and browsers read some icons wrongly.
  charset: "utf8",
  legalComments: "eof",
  loader: { ".svg": "dataurl" },
  logLevel: "warning",
});
