import { join } from "node:path";
import { QueryEngine } from "@comunica/query-sparql";
import { storeOpener } from "../../src/hosting/file-store.ts";
import { packageShards } from "../../shards/src/package/package-shards.ts";
import { isGoldAnswer } from "../../shards/src/package/gold-answer.ts";
import { openPackage } from "../../shards/src/package/open-package.ts";
import type { PackagedQuery } from "../../shards/src/package/package-items.ts";
import { readSolutions } from "../../shards/src/package/whole-store.ts";
import { newFolder } from "./scratch-folder.ts";
import { type RunningService, startService } from "./running-service.ts";

/** Where packages of tests expect their endpoints. */
export const baseUrl = "http://benchmark.example";

/** The package of finished shards in a folder of its own. */
export const makePackage = (shards: string, output = join(newFolder(), "package"), memoryMb?: number) =>
  packageShards(
    shards,
    { output, baseUrl, version: "1.2.3", memoryMb, signal: new AbortController().signal, onProgress: () => {} },
    storeOpener,
  );

export const packagedQueries = async (folder: string): Promise<readonly PackagedQuery[]> => [
  ...(await openPackage(folder)).queries.values(),
];

/** A service that hosts the shards of packages under `baseUrl`. */
export const hostPackages = (...folders: readonly string[]): Promise<RunningService> =>
  startService(
    {},
    {
      FEDWAY_SHARDS: folders.map((folder) => join(folder, "build")).join(","),
      FEDWAY_PUBLIC_URL: baseUrl,
      FEDWAY_HOSTED_TOTAL_MB: "4096",
    },
  );

type Ask = (query: string) => Promise<string>;

/** Asks Fedway's `/sparql`. */
export const throughFedway =
  (service: RunningService): Ask =>
  async (query) => {
    const response = await service.query(query);
    const text = await response.text();
    if (!response.ok) throw new Error(`${response.status}: ${text}`);
    return text;
  };

/** Asks plain Comunica, which sends each SERVICE to its endpoint by itself. */
export function throughComunica({ url }: { readonly url: string }): Ask {
  const engine = new QueryEngine();
  return async (query) => {
    const result = await engine.query(query, {
      // SERVICE clauses are all there is.
      sources: [{ type: "serialized", value: "", mediaType: "text/turtle", baseIRI: "urn:none:" }],
      fetch: (input, init) => {
        const request = new Request(input, init);
        return fetch(new Request(request.url.replace(baseUrl, url), request));
      },
    });
    const { data } = await engine.resultToString(result, "application/sparql-results+json");
    const chunks: Buffer[] = [];
    for await (const chunk of data) chunks.push(Buffer.from(chunk as Uint8Array | string));
    return Buffer.concat(chunks).toString("utf8");
  };
}

/** Why a query does not give the gold answer; undefined when it does. */
export async function fault(
  { answer }: PackagedQuery,
  query: string | undefined,
  ask: Ask,
): Promise<string | undefined> {
  if (answer === undefined || query === undefined) return "has no answer or no federated form";
  try {
    const json = JSON.parse(await ask(query)) as Readonly<Record<string, unknown>>;
    const value = json["boolean"];
    const found = typeof value === "boolean" ? ({ kind: "boolean", value } as const) : readSolutions(json);
    if (isGoldAnswer(answer, found)) return undefined;
    return `gives ${JSON.stringify(found).slice(0, 400)} for ${JSON.stringify(answer).slice(0, 400)}`;
  } catch (error) {
    return `fails: ${String(error).slice(0, 300)}`;
  }
}
