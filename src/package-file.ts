import { readFileSync } from "node:fs";

const packageFolder = new URL(import.meta.url.endsWith(".ts") ? "../" : "../../", import.meta.url);

/** The URL of a file of the package, the same for modules in `src/` and for compiled ones, a folder deeper, in `dist/src/`. */
export const packageFile = (path: string): URL => new URL(path, packageFolder);

/** Version of this package, from its package.json. */
export function packageVersion(): string {
  const parsed: unknown = JSON.parse(readFileSync(packageFile("package.json"), "utf8"));
  return typeof parsed === "object" && parsed !== null && "version" in parsed ? String(parsed.version) : "unknown";
}
