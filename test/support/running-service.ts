import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type App, createApp } from "../../src/app.ts";
import { loadConfig } from "../../src/config/config.ts";
import type { Problem } from "../../src/errors/fedway-error.ts";
import { newFolder } from "./scratch-folder.ts";

/** The service, listening on a free port, with a catalogue made of a table of endpoint URLs. */
export interface RunningService {
  readonly url: string;
  readonly app: App;
  /** Sends a query by POST form; `path` is `/sparql` unless told otherwise. */
  query(text: string, options?: QueryOptions): Promise<Response>;
  close(): Promise<void>;
}

/** How a test query is sent. */
export interface QueryOptions {
  readonly path?: string;
  readonly accept?: string;
  readonly parameters?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** Starts the real service in this process. */
export async function startService(
  endpoints: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string>> = {},
): Promise<RunningService> {
  const folder = newFolder();
  for (const [id, url] of Object.entries(endpoints)) await writeFile(join(folder, `${id}.ttl`), entry(id, url));
  const app = await createApp(
    loadConfig({
      PORT: "0",
      FEDWAY_CATALOG: folder,
      FEDWAY_MONITOR: "off",
      FEDWAY_EVALUATORS: "1",
      FEDWAY_DATA_DIR: join(folder, "data"),
      FEDWAY_EXAMPLES: "off",
      FEDWAY_ALLOW_ADDRESSES: "127.0.0.0/8",
      FEDWAY_LOG_LEVEL: "silent",
      // What these tests are about; who may make changes is tested apart.
      FEDWAY_ADMIN_TOKEN: "off",
      ...env,
    }),
  );
  const url = await app.listen();
  return {
    url,
    app,
    query: (text, { path = "/sparql", accept = "application/sparql-results+json", parameters, signal } = {}) =>
      fetch(`${url}${path}`, {
        method: "POST",
        headers: { accept },
        body: new URLSearchParams({ query: text, ...parameters }),
        ...(signal && { signal }),
      }),
    async close() {
      await app.close();
    },
  };
}

function entry(id: string, url: string): string {
  return `@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dcterms: <http://purl.org/dc/terms/> .
    [] a dcat:DataService ; dcterms:identifier "${id}" ; dcterms:title "${id}" ; dcat:endpointURL <${url}> .`;
}

/** The problem document of a response. */
export async function problemOf(response: Response): Promise<Problem> {
  const type = response.headers.get("content-type");
  if (!type?.startsWith("application/problem+json"))
    throw new Error(`No problem document but ${response.status} ${type}`);
  return (await response.json()) as Problem;
}
