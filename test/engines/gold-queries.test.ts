import { afterAll, beforeAll, expect, it } from "vitest";
import { makePackage } from "../support/benchmark-package.ts";
import { startComunica } from "../support/engines/comunica.ts";
import type { Engine } from "../support/engines/engine.ts";
import { startFuseki } from "../support/engines/fuseki.ts";
import { evaluate } from "../support/evaluated-package.ts";
import { openWorkspace } from "../support/shard-workspace.ts";

let folder: string;
let queries: number;
let jena: Engine;
let comunica: Awaited<ReturnType<typeof startComunica>>;
beforeAll(async () => {
  [jena, comunica] = await Promise.all([startFuseki({ data: "" }), startComunica()]);
  const { folder: shards = "" } = await (await openWorkspace()).build();
  const made = await makePackage(shards);
  ({ folder } = made);
  ({ queries } = made.manifest);
}, 300_000);
afterAll(() => Promise.all([jena?.stop(), comunica?.stop()]));

interface Report {
  readonly figures: readonly { readonly group: string; readonly form: string; readonly engine: string }[];
}

/** Engines with how many queries of a form they answer right, of all queries of the package. */
async function rightOf(forms: string, ...engines: readonly string[]) {
  const others = engines.flatMap((engine) => ["--engine", engine]);
  const words = ["engines", folder, "--forms", forms, "--timeout", "120000", "--json"];
  const { code, out, err } = await evaluate([...words, ...others]);
  expect({ code, err: code === 0 ? "" : err }).toEqual({ code: 0, err: "" });
  const { figures } = JSON.parse(out) as Report;
  return figures.filter(({ group }) => group === "all");
}

const row = (form: string, engine: string) =>
  expect.objectContaining({ form, engine, queries, right: queries, wrong: 0, failed: {} });

it("gold queries of a package give the gold answer through Fedway, Jena and plain Comunica", async () => {
  const found = await rightOf("gold", `jena=${jena.url}`, `comunica=${comunica.url}`);
  expect(found).toEqual([row("gold", "fedway"), row("gold", "jena"), row("gold", "comunica")]);
}, 900_000);

it("trivial federations and queries without SERVICE do too, where the engine takes them", async () => {
  const found = await rightOf("trivial,plain", `jena=${jena.url}`);
  expect(found).toEqual([row("trivial", "fedway"), row("trivial", "jena"), row("plain", "fedway")]);
}, 900_000);
