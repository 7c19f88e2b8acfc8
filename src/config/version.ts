import { readFileSync } from "node:fs";

/** Version of this package, from its package.json. */
export function packageVersion(): string {
  const parsed: unknown = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  return typeof parsed === "object" && parsed !== null && "version" in parsed ? String(parsed.version) : "unknown";
}
