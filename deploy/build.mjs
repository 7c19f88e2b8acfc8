// Builds what the service runs: the program (tsc), the engine and the query console. Done again only when something that
// goes into it has changed; `--start` says that the service is started next.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, globSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = new URL("..", import.meta.url);
const inRoot = (path) => new URL(path, root);
const isStart = process.argv.includes("--start");
const say = (text) => process.stderr.write(`${text}\n`);

const inputs = [
  "package-lock.json",
  "tsconfig.json",
  "deploy/comunica/engine.json",
  ...globSync("deploy/build*.mjs", { cwd: root }),
  ...globSync(["src/**/*", "shards/*.lp", "shards/src/**/*"], { cwd: root }).filter((path) =>
    statSync(inRoot(path)).isFile(),
  ),
].toSorted((one, other) => (one < other ? -1 : 1));
const hash = createHash("sha256");
for (const path of inputs) hash.update(`${path}\n`).update(readFileSync(inRoot(path)));
const digest = hash.digest("hex");

const stamp = inRoot("dist/.built");
const isBuilt = existsSync(stamp) && existsSync(inRoot("dist/main.js")) && readFileSync(stamp, "utf8") === digest;
if (isBuilt) {
  if (isStart) say("Starting Fedway ...");
} else {
  const beganMs = performance.now();
  say(`Building Fedway, which takes about 15 seconds the first time${isStart ? "; then it is started" : ""} ...`);
  mkdirSync(inRoot("dist/cli"), { recursive: true });
  run("node_modules/typescript/bin/tsc", "-p", "tsconfig.json");
  for (const path of ["src/http/pages/style.css", ...globSync("shards/*.lp", { cwd: root })])
    copyFileSync(inRoot(path), inRoot(`dist/${path}`));
  // The programs keep the paths that services and images start them by.
  writeFileSync(inRoot("dist/main.js"), 'import "./src/main.js";\n');
  writeFileSync(inRoot("dist/cli/main.js"), '#!/usr/bin/env node\nimport "../src/cli/main.js";\n');
  run("deploy/build-engine.mjs");
  run("deploy/build-console.mjs");
  writeFileSync(stamp, digest);
  say(`Built in ${Math.round((performance.now() - beganMs) / 1000)} s.${isStart ? " Starting Fedway ..." : ""}`);
}

function run(script, ...args) {
  const { status } = spawnSync(process.execPath, [fileURLToPath(inRoot(script)), ...args], {
    cwd: fileURLToPath(root),
    stdio: "inherit",
  });
  if (status !== 0) process.exit(status ?? 1);
}
