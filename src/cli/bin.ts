#!/usr/bin/env node
// Loads nothing else on a Node that is too old for it: there, the syntax of other modules is an error already.
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major > 22 || (major === 22 && minor >= 19)) await import("./main.ts");
else {
  process.stderr.write(`Fedway needs Node.js 22.19 or newer; this is ${process.versions.node}.
This command brings one along: npx -p node@24 -p fedway fedway ${process.argv.slice(2).join(" ")}\n`);
  process.exitCode = 1;
}
