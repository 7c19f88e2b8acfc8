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

const hash = createHash("sha256")
  .update(await readFile(config))
  .update(await readFile(new URL(import.meta.url)))
  .update(await readFile(new URL("package-lock.json", root)))
  .digest("hex");
// The package's index for browsers has the actor without a command line, a server and Components.js.
const whole = "require('@comunica/actor-init-query')";
const part = "require('@comunica/actor-init-query/lib/index-browser.js')";
const stamp = `// ${hash}\n`;
const built = await readFile(target, "utf8").catch(() => "");
if (!built.startsWith(stamp)) {
  const { stdout } = await promisify(execFile)(process.execPath, [fileURLToPath(compiler), fileURLToPath(config)], {
    cwd: fileURLToPath(root),
    maxBuffer: 64 * 1024 * 1024,
  });
  if (!stdout.includes("module.exports")) throw new Error(`The engine's configuration did not compile:\n${stdout}`);
  if (!stdout.includes(whole))
    throw new Error(`The compiled engine has no ${whole}; look for what loads Components.js now.`);
  await mkdir(new URL(".", target), { recursive: true });
  // Written beside and renamed, so that a build that is cut off never leaves half an engine.
  const draft = new URL(`engine.${process.pid}.tmp`, target);
  await writeFile(draft, stamp + stdout.replaceAll(whole, part));
  await rename(draft, target);
}
