import { runAgentsBench } from "./agents.ts";
import { runFederationBench } from "./federation.ts";
import { runOpsBench } from "./ops.ts";
import { benchProxy } from "./proxy.ts";
import { runSearchBench } from "./search.ts";
import { runShardsBench } from "./shards.ts";
import { runVoidBench } from "./void.ts";
import { runStartBench } from "./start.ts";
import { runTurnsBench } from "./turns.ts";
import { setup } from "../support/scratch-folder.ts";

/** A benchmark: prints a table, writes JSON, and throws only when it cannot measure. */
interface Benchmark {
  readonly summary: string;
  run(options: { readonly quick: boolean }): Promise<void>;
}

const benchmarks: Readonly<Record<string, Benchmark>> = {
  proxy: {
    summary: "throughput, latency, first byte and memory against nginx's proxy_pass in front of the same upstream",
    run: benchProxy,
  },
  federation: {
    summary:
      "federated queries beside FedX, Comunica and plans by hand; parts are named behind it: npm run bench -- federation shop",
    run: ({ quick }) => runFederationBench(quick ? ["--quick"] : [], []),
  },
  void: {
    summary: "requests, seconds, memory and truth of computed descriptions, on Oxigraph and on simulated engines",
    run: runVoidBench,
  },
  ops: {
    summary: "what probing 2,000 endpoints costs, the status page, and a soak of ten minutes",
    run: runOpsBench,
  },
  shards: {
    summary: "loading beside N3.js, clingo-wasm beside native clingo, and the gap of a large cover",
    run: runShardsBench,
  },
  start: {
    summary: "from npm start to ready, and the memory then",
    run: runStartBench,
  },
  search: {
    summary: "list, filter and search over a catalogue of 5,000 entries",
    run: runSearchBench,
  },
  turns: {
    summary:
      "the longest turn of the main thread over a catalogue of 20,000 entries, at the start and with each request",
    run: runTurnsBench,
  },
  agents: {
    summary: "what agents get; parts are named behind it: npm run bench -- agents linking",
    run: runAgentsBench,
  },
};

const usage = `Usage: npm run bench -- NAME... [--quick]
       npm run bench -- agents [PART...] [--quick]
       npm run bench -- federation [PART...] [--quick] [--members=20,200] [--peers=fedway,fedx,comunica] [--queries=q01]
                                             [--latencies=0,20,200]

Benchmarks:
${Object.entries(benchmarks)
  .map(([name, { summary }]) => `  ${name.padEnd(10)}${summary}`)
  .join("\n")}

Options:
  --quick   fewer and shorter rounds
  --help    this text

Numbers are printed beside their targets and written to .artifacts/bench/NAME.json. A slow result is no failure;
wrong or failed answers are.
`;

async function main(args: readonly string[]): Promise<number> {
  const names = args.filter((arg) => !arg.startsWith("-"));
  const flags = args.filter((arg) => arg.startsWith("-"));
  if (flags.includes("--help") || flags.includes("-h")) {
    process.stdout.write(usage);
    return 0;
  }
  const [first = ""] = names;
  if (first === "agents") {
    await runAgentsBench({ quick: flags.includes("--quick") }, names.slice(1));
    return 0;
  }
  if (first === "federation") {
    await runFederationBench(flags, names.slice(1));
    return 0;
  }
  const unknown = [
    ...names.filter((name) => !Object.hasOwn(benchmarks, name)),
    ...flags.filter((flag) => flag !== "--quick"),
  ];
  if (unknown.length > 0 || names.length === 0) {
    process.stderr.write(unknown.length > 0 ? `unknown: ${unknown.join(" ")}\n\n${usage}` : usage);
    return 2;
  }
  for (const name of names) await benchmarks[name]?.run({ quick: flags.includes("--quick") });
  return 0;
}

const removeFiles = setup();
try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  const cause = error instanceof Error && error.cause instanceof Error ? `\ncaused by: ${error.cause.message}` : "";
  process.stderr.write(`bench: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}${cause}\n`);
  process.exitCode = 1;
} finally {
  removeFiles();
}
