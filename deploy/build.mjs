// Builds what the service runs into dist/: the engine, the query console and the program. Done again only when an input has
// another size or time; `--start` says that the service is started next.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, globSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));
const isStart = process.argv.includes("--start");
const say = (text) => process.stderr.write(`${text}\n`);

const sources = [
  "src/**/*",
  "shards/*.lp",
  "shards/src/**/*",
  "deploy/build*.mjs",
  "deploy/comunica/**/*.{json,jsonld}",
];
const inputs = globSync(["package.json", "package-lock.json", ...sources], { withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map(({ parentPath, name }) => `${parentPath}/${name}`);
const stamp = "dist/.built";
const fingerprint = inputs
  .map((path) => {
    const { size, mtimeMs } = statSync(path);
    return `${path} ${size} ${mtimeMs}`;
  })
  .toSorted()
  .join("\n");

if (existsSync(stamp) && readFileSync(stamp, "utf8") === fingerprint) {
  if (isStart) say("Starting Fedway ...");
} else {
  const beganMs = performance.now();
  say(`Building Fedway, which takes some seconds the first time${isStart ? "; then it is started" : ""} ...`);
  for (const path of ["chunks", "src", "shards", ".built"]) rmSync(`dist/${path}`, { recursive: true, force: true });
  for (const part of ["engine", "console", "program"]) run(`deploy/build-${part}.mjs`);
  for (const path of ["src/http/pages/style.css", ...globSync("shards/*.lp")]) cpSync(path, `dist/${path}`);
  writeFileSync(stamp, fingerprint);
  say(`Built in ${Math.round((performance.now() - beganMs) / 1000)} s.${isStart ? " Starting Fedway ..." : ""}`);
}

function run(script) {
  const { status } = spawnSync(process.execPath, [script], { stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}
