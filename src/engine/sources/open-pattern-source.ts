import { FedwayError } from "../../errors/fedway-error.ts";
import type { OpenPatternSource, PatternSource } from "./pattern-source.ts";
import { createFileSources, type FileSourcesOptions } from "./file-source.ts";
import { createTpfSources, type TpfSourcesOptions } from "./tpf-source.ts";

/** Both kinds of source that do not speak SPARQL; files and search forms are remembered from execution to execution. */
export function createPatternSources(options: FileSourcesOptions & TpfSourcesOptions): OpenPatternSource {
  const files = createFileSources(options);
  const fragments = createTpfSources(options);
  return ({ interface: kind, url }, bounds) => (kind === "tpf" ? fragments(url, bounds) : files(url, bounds));
}

/** For engines without a document client: such endpoints cannot be read. */
export const noPatternSources: OpenPatternSource = ({ url }): PatternSource => {
  const refuse = (): never => {
    throw new FedwayError("ENDPOINT_REFUSED", "This service does not read endpoints that do not speak SPARQL.", {
      where: { endpoint: url },
    });
  };
  return { match: refuse, estimate: async () => refuse() };
};
