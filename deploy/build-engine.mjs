// Compiles deploy/comunica/engine.json (a Components.js configuration) to dist/comunica/engine.cjs, so that starting an
// engine costs no dependency injection at run time. Skipped when nothing that goes into it has changed.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const root = new URL("..", import.meta.url);
const config = new URL("deploy/comunica/engine.json", root);
const target = new URL("dist/comunica/engine.cjs", root);
const compiler = new URL("node_modules/@comunica/runner/bin/compile-config.js", root);
// The query process is what the compiled engine exports: its mediators are public.
const exported = "urn:comunica:default:query-process/actors#sequential";

const components = ["components", "context"].map((name) => new URL(`deploy/comunica/components/${name}.jsonld`, root));
// package.json says where the components are.
const packages = ["package.json", "package-lock.json"].map((name) => new URL(name, root));
const hash = createHash("sha256");
for (const file of [config, ...components, ...packages, new URL(import.meta.url)]) hash.update(await readFile(file));
const stamp = `// ${hash.digest("hex")}\n`;
const built = await readFile(target, "utf8").catch(() => "");
if (!built.startsWith(stamp)) {
  const paths = [compiler, config].map((url) => fileURLToPath(url));
  const { stdout } = await promisify(execFile)(process.execPath, [...paths, exported], { cwd: fileURLToPath(root) });
  if (!stdout.includes("module.exports")) throw new Error(`The engine's configuration did not compile:\n${stdout}`);
  await mkdir(new URL(".", target), { recursive: true });
  // Written beside and renamed, so that a build that is cut off never leaves half an engine.
  const draft = new URL(`engine.${process.pid}.tmp`, target);
  await writeFile(draft, stamp + stdout);
  await rename(draft, target);
}
