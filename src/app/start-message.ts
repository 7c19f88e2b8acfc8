import { join } from "node:path";
import { type AdminToken, adminTokenFile } from "./admin-token.ts";

/** What the start message tells. */
export interface Started {
  readonly url: string;
  readonly endpoints: number;
  readonly token: AdminToken;
  readonly dataDir: string;
}

/** What somebody who has started the service is told: where it answers, and how changes are made. */
export function startMessage({ url, endpoints, token, dataDir }: Started): string {
  return `Fedway listens at ${url} with ${endpoints} endpoints; see ${url}/docs\n${changes({ url, token, dataDir })}\n`;
}

function changes({ url, token, dataDir }: Omit<Started, "endpoints">): string {
  if (token.value === "off") return "FEDWAY_ADMIN_TOKEN is off: whoever reaches the service may change it.";
  if (token.from === "environment") return `Changes need the value of FEDWAY_ADMIN_TOKEN; for pages: ${url}/login`;
  const where = token.from === "folder" ? join(dataDir, adminTokenFile) : "the shared store";
  return `Changes need the token in ${where}; for pages: ${url}/login?token=${encodeURIComponent(token.value)}`;
}
