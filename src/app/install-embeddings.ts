import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { Readable } from "node:stream";
import type { CliIo } from "../cli/cli-io.ts";
import type { Config } from "../config/config.ts";
import { type InstalledModel, installModel } from "../embeddings/install-model.ts";
import { visible } from "../html.ts";
import { createDocumentClient } from "../outbound/documents.ts";
import { packageVersion } from "../package-file.ts";

/** Where `fedway embeddings install` puts the model that is used without a setting. */
export const embeddingsFolder = ({ dataDir }: Pick<Config, "dataDir">): string => join(dataDir, "embeddings");

/** Time limit of one download, in milliseconds. */
const timeoutMs = 900_000;

/** Installs an embedding model in the data folder; see `installModel`. The operator named the URL. */
export async function installEmbeddings(
  config: Config,
  source: string,
  { stderr, interrupted: signal }: Pick<CliIo, "stderr" | "interrupted">,
): Promise<InstalledModel> {
  const { contact, allowAddresses } = config;
  const client = createDocumentClient({ version: packageVersion(), contact, allowAddresses });
  try {
    return await installModel(source, {
      folder: embeddingsFolder(config),
      signal,
      say: async (step) => void stderr.write(`${visible(step)}\n`),
      download: (url, maxBytes) =>
        client.read({ url, urlBy: "operator", anyType: true, signal, timeoutMs, maxBytes }, ({ pieces }) =>
          buffer(Readable.from(pieces)),
        ),
    });
  } finally {
    await client.close();
  }
}
