import { type Command, InvalidArgumentError, Option } from "commander";
import { examples, httpUrl, milliseconds, type Running, wholeNumber } from "../../../src/cli/cli-io.ts";
import { type EngineForm, engineForms } from "../evaluate/engines/measure-engines.ts";
import type { EnginesOptions, NamedUrl } from "./engines-command.ts";

/** Adds `evaluate engines`. */
export function addEngines(evaluate: Command, running: Running): void {
  evaluate
    .command("engines")
    .description("ask SPARQL engines the queries of a package, without a model: right answers, requests, bytes, time")
    .argument("<package>", "folder of a package (fedway shards package)")
    .option(
      "--engine <name=url>",
      "beside Fedway, an engine on this machine that evaluates SERVICE clauses",
      engine,
      [],
    )
    .option("--plain <name=url>", "where an engine takes queries without SERVICE, as FedX does", engine, [])
    .addOption(new Option("--forms <names>", "gold, trivial, plain").argParser(forms).default(engineForms))
    .option("--questions <number>", "queries at most, spread over the package", wholeNumber)
    .option("-t, --timeout <ms>", "time limit of a query in milliseconds", milliseconds, 60_000)
    .option(
      "--port <port>",
      "where the shards answer and are counted, for an engine that has to know its members",
      wholeNumber,
      0,
    )
    .option("-o, --out <folder>", "keep the measurements here; started again, only the rest is measured")
    .option("--html <file>", "also write the table as a page to this file, replacing it at the end")
    .option("--json", "the table as JSON")
    .addHelpText("after", () =>
      examples(
        "evaluate engines .fedway/packages/harbour",
        "evaluate engines .fedway/packages/harbour --engine jena=http://localhost:3030/ds/sparql --forms gold,trivial",
      ),
    )
    .action(
      running(async (io, folder: string, options: EnginesOptions) =>
        (await import("./engines-command.ts")).runEngines(io, folder, options),
      ),
    );
}

function engine(text: string, before: readonly NamedUrl[]): readonly NamedUrl[] {
  const [, name = "", url = ""] = /^([\w.-]{1,32})=(.+)$/u.exec(text) ?? [];
  if (name === "" || name === "fedway") throw new InvalidArgumentError("A name and a URL are expected: NAME=URL.");
  return [...before, { name, url: httpUrl(url) }];
}

function forms(text: string): readonly EngineForm[] {
  const named = text.split(",");
  const known = engineForms.filter((form) => named.includes(form));
  if (known.length === named.length) return known;
  throw new InvalidArgumentError(`Names among ${engineForms.join(", ")} are expected, each once.`);
}
