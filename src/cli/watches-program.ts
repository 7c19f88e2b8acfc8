import type { Command } from "commander";
import { readCollection } from "../watch/read-collection.ts";
import { type CliIo, exitCodes, type Running, wholeNumber, type ServiceOptions } from "./cli-io.ts";
import { addNoun, itemAction, listAction } from "./noun.ts";
import { oneLine, write } from "./output.ts";
import { withService } from "./service.ts";

/** Adds `watches`. */
export function addWatches(program: Command, running: Running): void {
  const help = ["watches add ./queries --endpoint people", "watches list", "watches accept by-birth"];
  const about = "queries that the service runs on a schedule, to see when their answers change";
  const command = addNoun(program, "watches", { about, help });
  command("list", "list them with what changed").option("--json", "as JSON").action(running(listWatches));
  command("add <path...>", "watch .rq files (which may begin with # endpoint: id), SHACL examples, or folders of them")
    .option("-e, --endpoint <id>", "catalogue id for all of them")
    .option("-F, --federation <id>", "federation for all of them")
    .option("--every <minutes>", "minutes between two runs", wholeNumber)
    .action(running(addQueries));
  command("show <id>", "show a watched query as JSON").action(running(itemAction("GET", "watches")));
  command("run <id>", "run a watched query now, as a job").action(running(itemAction("POST", "watches", "/run")));
  command("accept <id>", "make its latest answer the normal one").action(
    running(itemAction("POST", "watches", "/accept")),
  );
  command("remove <id>", "watch a query no longer").action(running(itemAction("DELETE", "watches")));
}

interface ShownWatch {
  readonly id: string;
  readonly state: string;
  readonly drifts: Readonly<Record<string, { readonly summary: string }>>;
}

const listWatches = listAction<ShownWatch>({
  path: "watches",
  field: "watches",
  columns: {
    watch: ({ id }) => id,
    state: ({ state }) => state,
    "what changed": ({ drifts }) =>
      Object.values(drifts)
        .map(({ summary }) => summary)
        .join(" "),
  },
});

interface AddOptions extends ServiceOptions {
  readonly endpoint?: string;
  readonly federation?: string;
  readonly every?: number;
}

async function addQueries(io: CliIo, paths: readonly string[], options: AddOptions): Promise<number> {
  const { endpoint, federation, every: everyMinutes } = options;
  const given = { ...(endpoint && { endpoint }), ...(federation && { federation }), everyMinutes };
  return withService(io, { url: options.url }, async (service) => {
    let isWhole = true;
    for (const path of paths) {
      const { queries, problems } = await readCollection(path, service.url);
      for (const { id, ...query } of queries) {
        await service.ask(`/api/watches/${id}`, { method: "PUT", body: { ...query, ...given } });
        await write(io.stdout, `${id}\n`);
      }
      for (const { file, reason } of problems) await write(io.stderr, `${oneLine(`${file}: ${reason}`)}\n`);
      isWhole &&= problems.length === 0 && queries.length > 0;
    }
    return isWhole ? exitCodes.ok : exitCodes.failed;
  });
}
