import { spawnSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Engine, startEngine } from "./engine.ts";
import { answers, requireProgram, startServer } from "./server-process.ts";
import { freePort } from "../listening.ts";
import { newFolder } from "../scratch-folder.ts";

const install = "apt-get install virtuoso-opensource-7-bin";

/** What to start Virtuoso with. */
export interface VirtuosoOptions {
  /** Named graph IRI to N-Triples; Virtuoso's default graph is the union of all graphs. */
  readonly graphs: Readonly<Record<string, string>>;
  /** `[SPARQL] ResultSetMaxRows`; default 2^20, Virtuoso's own upper bound. */
  readonly maxRows?: number;
  /** `[SPARQL] MaxQueryExecutionTime` in seconds; none by default. */
  readonly maxExecutionSeconds?: number;
  /** Passwords by user: accounts that may only read, for `/sparql-auth`. */
  readonly users?: Readonly<Record<string, string>>;
  /** Indexes the words of all literals, for `bif:contains`. */
  readonly textIndex?: boolean;
}

/** Starts Virtuoso 7 on free loopback ports. Its catalogue holds `graphs` and Virtuoso's own system graphs. */
export async function startVirtuoso(options: VirtuosoOptions): Promise<Engine> {
  const server = requireProgram("virtuoso-t", install);
  const isql = requireProgram("isql-vt", install);
  const scratch = newFolder();
  const sqlPort = await freePort();
  const httpPort = await freePort();
  await writeFile(join(scratch, "virtuoso.ini"), configuration(sqlPort, httpPort, options));
  const url = `http://127.0.0.1:${httpPort}/sparql`;
  const start = () =>
    startServer({
      name: "virtuoso-t",
      command: server,
      args: ["+configfile", "virtuoso.ini", "+foreground"],
      cwd: scratch,
      ready: () => answers(`${url}?query=${encodeURIComponent("ASK {}")}`),
      readyWithinMs: 240_000,
    });
  const engine = await startEngine(url, start);
  try {
    if (options.textIndex === true) execute(isql, sqlPort, "DB.DBA.RDF_OBJ_FT_RULE_ADD(null, null, 'All')");
    for (const [user, password] of Object.entries(options.users ?? {})) {
      execute(isql, sqlPort, `DB.DBA.USER_CREATE('${user}', '${password}')`);
      execute(isql, sqlPort, `GRANT SPARQL_SELECT TO "${user}"`);
    }
    let number = 0;
    for (const [graph, triples] of Object.entries(options.graphs)) {
      const file = `load-${number++}.nt`;
      await writeFile(join(scratch, file), triples);
      execute(isql, sqlPort, `DB.DBA.TTLP_MT(file_open('${file}'),'','${graph}',0)`);
    }
    if (options.textIndex === true) execute(isql, sqlPort, "DB.DBA.VT_INC_INDEX_DB_DBA_RDF_OBJ()");
    execute(isql, sqlPort, "checkpoint");
  } catch (error) {
    await engine.kill();
    throw error;
  }
  // Nothing in the scratch folder is worth a clean shutdown, which takes Virtuoso several seconds.
  return { ...engine, stop: () => engine.kill() };
}

/** The stock settings that matter, as Debian's virtuoso.ini has them: with another CaseMode even ASK is answered wrongly. */
function configuration(sqlPort: number, httpPort: number, options: VirtuosoOptions): string {
  return `[Database]
DatabaseFile = virtuoso.db
ErrorLogFile = virtuoso.log
LockFile = virtuoso.lck
TransactionFile = virtuoso.trx
xa_persistent_file = virtuoso.pxa
ErrorLogLevel = 7
FileExtend = 200
MaxCheckpointRemap = 2000
Striping = 0

[TempDatabase]
DatabaseFile = virtuoso-temp.db
TransactionFile = virtuoso-temp.trx
MaxCheckpointRemap = 2000
Striping = 0

[Parameters]
ServerPort = 127.0.0.1:${sqlPort}
DisableUnixSocket = 1
CaseMode = 2
ServerThreads = 20
NumberOfBuffers = 10000
MaxDirtyBuffers = 6000
DirsAllowed = .

[HTTPServer]
ServerPort = 127.0.0.1:${httpPort}
ServerRoot = .
ServerThreads = 10

[SPARQL]
ResultSetMaxRows = ${options.maxRows ?? 1_048_576}
MaxQueryCostEstimationTime = 0
MaxQueryExecutionTime = ${options.maxExecutionSeconds ?? 0}
`;
}

function execute(isql: string, port: number, statement: string): void {
  const run = spawnSync(isql, [`127.0.0.1:${port}`, "dba", "dba", "ERRORS=STDOUT", `EXEC=${statement};`], {
    encoding: "utf8",
    timeout: 120_000,
  });
  if (run.status !== 0 || run.stdout.includes("*** Error"))
    throw new Error(`isql-vt failed on ${statement}: ${run.stdout}${run.stderr}`);
}
