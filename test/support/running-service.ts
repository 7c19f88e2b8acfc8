import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type App, createApp } from "../../src/app.ts";
import { loadConfig } from "../../src/config/config.ts";
import type { Problem } from "../../src/errors/fedway-error.ts";
import { newFolder } from "./scratch-folder.ts";

/** How a test query is sent. */
interface QueryOptions {
  readonly path?: string;
  readonly accept?: string;
  readonly parameters?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** Content codings that are accepted; what `fetch` accepts by default. */
  readonly coding?: string;
}

type Texts = Readonly<Record<string, string>>;

/**
 * Builds the service as `main.ts` does, without listening: a catalogue folder with one Turtle file an endpoint, and
 * loopback addresses allowed. `env` adds to the configuration, `files` to the folder.
 */
export async function openService(endpoints: Texts, env: Texts = {}, files: Texts = {}): Promise<App> {
  const folder = newFolder();
  for (const [id, url] of Object.entries(endpoints)) await writeFile(join(folder, `${id}.ttl`), entryTurtle(id, url));
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  return createApp(
    loadConfig({
      PORT: "0",
      FEDWAY_CATALOG: folder,
      FEDWAY_MONITOR: "off",
      // Descriptions that come on their own would count among the requests of tests.
      FEDWAY_FACTS: "off",
      FEDWAY_EVALUATORS: "1",
      FEDWAY_EVALUATORS_START: "query",
      FEDWAY_DATA_DIR: join(folder, "data"),
      FEDWAY_EXAMPLES: "off",
      FEDWAY_ALLOW_ADDRESSES: "127.0.0.0/8",
      FEDWAY_LOG_LEVEL: "silent",
      // What these tests are about; who may make changes is tested apart.
      FEDWAY_ADMIN_TOKEN: "off",
      ...env,
    }),
  );
}

/** The service, listening on a free port, with a catalogue made of a table of endpoint URLs. */
export type RunningService = Awaited<ReturnType<typeof startService>>;

/** Starts the real service in this process. */
export async function startService(endpoints: Texts, env: Texts = {}, files: Texts = {}) {
  const app = await openService(endpoints, env, files);
  const url = await app.listen();
  return {
    url,
    app,
    /** Sends a query by POST form; `path` is `/sparql` unless told otherwise. */
    query: (
      text: string,
      { path = "/sparql", accept, parameters, signal, coding }: QueryOptions = {},
    ): Promise<Response> =>
      fetch(`${url}${path}`, {
        method: "POST",
        headers: {
          accept: accept ?? "application/sparql-results+json",
          ...(coding !== undefined && { "accept-encoding": coding }),
        },
        body: new URLSearchParams({ query: text, ...parameters }),
        ...(signal && { signal }),
      }),
    close: (): Promise<void> => app.close(),
  };
}

/** The catalogue entry of an endpoint. */
export const entryTurtle = (id: string, url: string): string =>
  `@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dcterms: <http://purl.org/dc/terms/> .
  [] a dcat:DataService ; dcterms:identifier "${id}" ; dcterms:title "${id}" ; dcat:endpointURL <${url}> .`;

/** The problem document of a response. */
export async function problemOf(response: Response): Promise<Problem> {
  const type = response.headers.get("content-type");
  if (!type?.startsWith("application/problem+json"))
    throw new Error(`No problem document but ${response.status} ${type}`);
  return (await response.json()) as Problem;
}
