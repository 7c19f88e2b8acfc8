import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import type { Config } from "../config/config.ts";
import type { Catalog } from "../registry/catalog.ts";
import { packageFile } from "../package-file.ts";
import { isLoopbackHost } from "../http/caller.ts";
import { signInCode } from "../http/write-access.ts";
import { type AdminToken, adminTokenFile } from "../store/admin-token.ts";

interface StartedParts {
  readonly catalog: Catalog;
  readonly token: AdminToken;
  readonly config: Config;
}

/** The first query of the README. */
const firstExample = "catalog/examples/queries/1-three-endpoints.rq";

/** The command that asks it, in the folder of the repository or where the package is installed. */
function exampleCommand(): string {
  const file = relative(process.cwd(), fileURLToPath(packageFile(firstExample)));
  return `${file === firstExample ? "npm run --silent fedway -- query" : "npx fedway query"} ${file}`;
}

/** Start message: URLs, and how changes are made. */
export function startMessage(url: string, { catalog, token, config }: StartedParts): string {
  const { entries, federations } = catalog;
  return `Fedway listens at ${url} with ${entries.length} endpoints and ${federations.length} federations.

  Home page      ${url}/
  Query console  ${url}/query
  API            ${url}/docs${config.examples ? `\n  Example        ${exampleCommand()}` : ""}

${howToChange(url, token, config)}${isOpenToAll(config) ? `\n${withoutLimit}` : ""}
`;
}

const isOpenToAll = ({ host, limits }: Config): boolean => !isLoopbackHost(host) && limits.rateLimit === 0;
const withoutLimit =
  "Other machines reach the service, and nothing limits how much one client asks: set FEDWAY_RATE_LIMIT to requests a minute.";

function howToChange(url: string, { value, from }: AdminToken, { dataDir }: Config): string {
  if (value === "off") return "FEDWAY_ADMIN_TOKEN is off: whoever reaches the service may change it.";
  if (from === "environment") return `Changes need the value of FEDWAY_ADMIN_TOKEN; for pages: ${url}/login`;
  const where = from === "folder" ? join(dataDir, adminTokenFile) : "the shared store";
  return `Changes need the token in ${where}; for pages: ${url}/login?token=${signInCode(value)} (once, within an hour)`;
}
