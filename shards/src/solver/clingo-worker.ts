/**
 * The worker thread of the solver. Input: `workerData` (`ClingoBoot`), then `ClingoRequest`s. Output: for each
 * `ClingoProgress`, then a `ClingoEnd` or an error. It runs from source (Node strips the types) and compiled.
 */
import { workerData } from "node:worker_threads";
import { serveTasks } from "../../../src/workers/threads.ts";
import {
  type ClingoBoot,
  type ClingoEnd,
  type ClingoProgress,
  type ClingoRequest,
  ClingoOutput,
} from "./clingo-output.ts";

/** Interface of clingo-wasm's module (its `clingo.d.ts`, which it does not export). */
interface ClingoModule {
  ccall(name: "run", result: "number", types: readonly string[], values: readonly string[]): number;
}
interface ModuleOptions {
  /** The next byte of the standard input; null at its end. */
  readonly stdin: () => number | null;
  readonly print: (line: string) => void;
  readonly printErr: (line: string) => void;
}
declare const WebAssembly: { readonly Memory: { readonly prototype: WasmMemory } };
interface WasmMemory {
  readonly buffer: { readonly byteLength: number };
  grow: (this: WasmMemory, pages: number) => number;
}

const boot: ClingoBoot = workerData;
const pageBytes = 65_536;
const maxMessageLength = 2_000;
const outOfMemory = `it needs more than its memory of ${Math.round(boot.memoryBytes / 2 ** 20)} MiB.`;
/** Exit codes of clasp for a run that failed: out of memory, internal error, wrong program or option. */
const failures: ReadonlySet<number> = new Set([33, 65, 128]);

/**
 * Emscripten asks its memory to grow and takes an exception for "out of memory". Resource limits of workers do not count
 * WebAssembly memory, so this is what bounds the solver. The prototype is this thread's own.
 */
const { prototype } = WebAssembly.Memory;
const { grow } = prototype;
prototype.grow = function growWithinCap(pages) {
  if (this.buffer.byteLength + pages * pageBytes > boot.memoryBytes) throw new RangeError("over the memory cap");
  return grow.call(this, pages);
};

let output = new ClingoOutput(() => {});
let complaints: string[] = [];
/** Part of the program that the solver has not read yet. */
let unread: Iterator<number, undefined> = new Uint8Array().values();

// The package's entry point starts a thread of its own, with a pool of more, and reports a model only when the next one
// comes. This is the module inside, the build for one thread.
const { default: createModule }: { default: (options: ModuleOptions) => Promise<ClingoModule> } = await import(
  new URL("./clingo.js", import.meta.resolve("clingo-wasm")).href
);
const clingo = await createModule({
  stdin: () => unread.next().value ?? null,
  print: (line) => output.feed(line),
  printErr: (line) => {
    if (complaints.length < 100) complaints.push(line);
  },
});

serveTasks<ClingoRequest, ClingoEnd, ClingoProgress>(async ({ program, options }, tell) => {
  output = new ClingoOutput(tell);
  complaints = [];
  unread = program.values();
  // Arguments lie on the module's stack, which has a megabyte.
  const values = ['#include "/dev/stdin".', `--outf=2 ${options.join(" ")} 0`];
  const status = clingo.ccall("run", "number", ["string", "string"], values);
  const { end } = output;
  if (!failures.has(status) && end.result !== "") return end;
  const words = complaints.join("\n") || `it ended with code ${status}`;
  throw new Error(words.includes("bad_alloc") ? outOfMemory : words.slice(0, maxMessageLength));
});
