import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";

/** What native clingo makes of a program. */
export interface NativeResult {
  /** Costs of the best model; missing when it found none. */
  readonly costs: readonly number[] | undefined;
  /** What a search that was cut off has proven, level by level; missing when that was nothing. */
  readonly lower: readonly number[] | undefined;
  /** Nothing was left to search. */
  readonly complete: boolean;
  /** clingo's own clock: from the program's first line on, and of these in the search. */
  readonly totalSeconds: number;
  readonly searchSeconds: number;
  /** Of the processor. */
  readonly cpuSeconds: number;
  /** As seen from here: the start of the process, the program through a pipe, the result as text. */
  readonly seconds: number;
}

const missing = "native clingo is missing (no program `clingo`): install it, on Debian with `apt-get install gringo`";

/** The version of native clingo. @throws Error that says what is missing */
export async function nativeVersion(): Promise<string> {
  const version = /^clingo version (\S+)/u.exec((await run(["--version"], "")).stdout)?.[1];
  if (version === undefined) throw new Error("`clingo --version` does not say that it is clingo");
  return version;
}

/** Solves a program with native clingo in a process of its own. @throws Error when clingo refuses it */
export async function solveNatively(program: string, options: readonly string[]): Promise<NativeResult> {
  const startMs = performance.now();
  const { stdout, stderr } = await run(["--outf=2", ...options, "0", "-"], program);
  const seconds = (performance.now() - startMs) / 1_000;
  const output = parsed(stdout);
  if (output === undefined) throw new Error(`native clingo gave no result: ${stderr.slice(0, 2_000)}`);
  const steps = output.Call.flatMap(({ Witnesses = [] }) => Witnesses);
  return {
    costs: steps.findLast(({ Costs }) => Costs !== undefined)?.Costs,
    lower: output.Bounds?.Lower,
    complete: output.Models.More === "no",
    totalSeconds: output.Time.Total,
    searchSeconds: output.Time.Solve,
    cpuSeconds: output.Time.CPU,
    seconds,
  };
}

/** What of clingo's JSON is read here; `Bounds` are there when the search has not come to its end. */
interface ClingoJson {
  readonly Call: readonly { readonly Witnesses?: readonly { readonly Costs?: readonly number[] }[] }[];
  readonly Bounds?: { readonly Lower: readonly number[] };
  readonly Models: { readonly More: string };
  readonly Time: { readonly Total: number; readonly Solve: number; readonly CPU: number };
}

function parsed(stdout: string): ClingoJson | undefined {
  const output: Partial<ClingoJson> = stdout === "" ? {} : JSON.parse(stdout);
  return output.Time === undefined || output.Models === undefined ? undefined : (output as ClingoJson);
}

/** clingo's exit codes say what it found; whether it worked is seen from what it printed. */
async function run(args: readonly string[], input: string): Promise<{ stdout: string; stderr: string }> {
  const child = spawn("clingo", args);
  const started = new Promise<void>((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", (cause) => reject(new Error(missing, { cause })));
  });
  child.stdin.on("error", () => undefined);
  child.stdin.end(input);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), started]);
  return { stdout, stderr };
}
