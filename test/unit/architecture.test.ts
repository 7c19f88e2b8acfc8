import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { expect, test } from "vitest";
import { parseAst } from "vitest/node";
import {
  computedImports,
  environmentReaders,
  ground,
  outsideFiles,
  modules,
  typePackages,
  type Module,
} from "../support/architecture-table.ts";
import { faceTable, grown, storedTable } from "../tooling/walks.ts";
const root = new URL("../..", import.meta.url).pathname;
/** What the table calls a path of the repository, and back. */
const named = (path: string): string => path.replace(/^src\//u, "");
const pathOf = (name: string): string => (name.startsWith("shards/") ? name : `src/${name}`);
const folders = ["src", "shards/src"];
const files = folders.flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => named(posix.join(folder, name))),
);
const sources = new Map(files.map((file) => [file, readFileSync(join(root, pathOf(file)), "utf8")]));
const used = new Set<string>();
const publicFilesUsed = new Set<string>();

/** A node of the syntax tree (ESTree) with its place in the source. */
interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [part: string]: unknown;
}

/** One reference of a source to a module. */
interface ImportReference {
  readonly specifier: string;
  readonly line: number;
  /** `import type` or `export type`: erased by the compiler. */
  readonly typeOnly: boolean;
  /** A path from the top of the repository. */
  readonly isFile?: boolean;
  /** `import(x)` with something else than a literal. */
  readonly computed: boolean;
}

function collect(part: unknown, nodes: Node[]): readonly Node[] {
  if (typeof part !== "object" || part === null) return nodes;
  if ("type" in part) nodes.push(part as Node);
  for (const inner of Object.values(part)) collect(inner, nodes);
  return nodes;
}

const nodesOf = (source: string): readonly Node[] => collect(parseAst(source, { lang: "ts", astType: "ts" }), []);

/** The module that a node refers to, and how. */
function referred(node: Node, textOf: (part: unknown) => string): { readonly to: unknown; readonly kind?: unknown } {
  const ownKinds: Readonly<Record<string, string>> = { TSImportType: "type", ImportExpression: "dynamic" };
  if ("source" in node)
    return { to: node["source"], kind: ownKinds[node.type] ?? node["importKind"] ?? node["exportKind"] };
  const callee = textOf(node["callee"]);
  const [first, second] = (node["arguments"] ?? []) as readonly unknown[];
  const isCall = node.type === "CallExpression" && loaders.test(callee);
  const isUrl = node.type === "NewExpression" && callee === "URL" && textOf(second).startsWith("import.meta");
  if (node.type === "CallExpression" && callee === "packageFile") return { to: first, kind: "file" };
  return { to: (isCall || isUrl) && first };
}

const loaders = /^(?:require|.*\bresolve|createRequire\(import\.meta\.url\))$/;

/** All module references: static, dynamic, re-exports, `require` and `new URL(x, import.meta.url)`. */
function scanImports(source: string): readonly ImportReference[] {
  const textOf = (part: unknown): string =>
    part === undefined ? "" : source.slice((part as Node).start, (part as Node).end);
  return nodesOf(source).flatMap((node) => {
    const { to, kind } = referred(node, textOf);
    const literal = /^["'`](?<text>.*?)(?:\$\{.*)?["'`]$/su.exec(to ? textOf(to) : "")?.groups?.["text"];
    if (literal === undefined && (!to || kind !== "dynamic")) return [];
    const line = source.slice(0, node.start).split("\n").length;
    const specifier = literal ?? textOf(to);
    if (kind === "file") return [{ specifier, line, typeOnly: false, computed: false, isFile: true }];
    return [{ specifier, line, typeOnly: kind === "type", computed: literal === undefined }];
  });
}

/** The source reads `process.env`. */
const readsEnvironment = (source: string): boolean =>
  source.includes("process.env") &&
  nodesOf(source).some(
    ({ type, start, end }) => type === "MemberExpression" && source.slice(start, end) === "process.env",
  );

/** The module of a file: the most exact entry of the table. */
function moduleOf(file: string): Module | undefined {
  const fitting = modules.filter(({ name }) => file === name || file.startsWith(`${name}/`));
  return fitting.toSorted((a, b) => b.name.length - a.name.length)[0];
}

function packageOf(specifier: string): string {
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}

/** Why a reference is forbidden; undefined when it is not. */
function violation(file: string, reference: ImportReference): string | undefined {
  const { specifier, typeOnly } = reference;
  const module = moduleOf(file);
  if (!module) return "the file is in no module of the table";
  if (reference.isFile) return outsideFiles.includes(specifier) ? undefined : "is no file of the package";
  if (specifier.startsWith("node:")) return undefined;
  if (specifier.startsWith(".")) {
    const target = posix.join(posix.dirname(pathOf(file)), specifier);
    if (outsideFiles.includes(target)) return undefined;
    return folders.some((folder) => target.startsWith(`${folder}/`))
      ? moduleViolation(module, named(target), typeOnly)
      : "leaves the sources";
  }
  if (typeOnly && !module.ownTypesOnly && typePackages.includes(packageOf(specifier))) return undefined;
  const allowed = module.packages.find((name) =>
    name.endsWith("/*") ? specifier.startsWith(name.slice(0, -1)) : packageOf(specifier) === name,
  );
  if (allowed === undefined) return `${module.name} is no allowed of ${packageOf(specifier)}`;
  used.add(`${module.name} -> ${allowed}`);
  return undefined;
}

function moduleViolation(module: Module, target: string, typeOnly: boolean): string | undefined {
  const to = moduleOf(target);
  if (!to) return `${target} is in no module of the table`;
  const hidden = hiddenFrom(module, target);
  if (hidden !== undefined) return hidden;
  if (to.name === module.name || ground.includes(to.name) || module.imports === "everything") return undefined;
  const rule = module.imports.find((one) => one.module === to.name);
  if (!rule) return `${module.name} may not import ${to.name}`;
  used.add(`${module.name} -> ${to.name}`);
  if (rule.typesOnly && !typeOnly) return `${module.name} may import ${to.name} as types only`;
  const inside = target.slice(to.name.length + 1);
  return rule.files && !rule.files.includes(inside)
    ? `${module.name} may not import ${inside} of ${to.name}`
    : undefined;
}

/** Why a file is private to a module that others import by its public files only. */
function hiddenFrom({ name }: Module, target: string): string | undefined {
  const isIn = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`);
  const owner = modules.find((each) => each.publicFiles !== undefined && isIn(target, each.name));
  if (owner === undefined || isIn(name, owner.name)) return undefined;
  const file = target.slice(owner.name.length + 1);
  publicFilesUsed.add(`${owner.name}/${file}`);
  return owner.publicFiles?.includes(file) ? undefined : `${file} is no public file of ${owner.name}`;
}

const problems = files.flatMap((file) =>
  scanImports(sources.get(file) ?? "").flatMap((reference) => {
    if (reference.computed) return computedImports.includes(file) ? [] : [`${file}:${reference.line} computed import`];
    const found = violation(file, reference);
    return found === undefined ? [] : [`${file}:${reference.line} "${reference.specifier}": ${found}`];
  }),
);

test("every import is in the table of architecture.md", () => {
  expect(files.length).toBeGreaterThan(20);
  expect(problems).toEqual([]);
});

test("only the composition root imports the benchmark factory", () => {
  const outside = files.filter((file) => !file.startsWith("shards/"));
  const importing = outside.filter((file) =>
    scanImports(sources.get(file) ?? "").some(({ specifier }) => specifier.includes("shards/src/")),
  );
  expect(importing).toEqual(["app/plugins.ts"]);
});

test("every rule of the table is used", () => {
  const all = modules.flatMap((module) => [
    ...(module.imports === "everything" ? [] : module.imports.map((rule) => `${module.name} -> ${rule.module}`)),
    ...module.packages.map((name) => `${module.name} -> ${name}`),
  ]);
  expect(all.length).toBeGreaterThan(40);
  expect(all.filter((rule) => !used.has(rule)).toSorted()).toEqual([]);
});

test("every public file is imported by another module", () => {
  const all = modules.flatMap(({ name, publicFiles = [] }) => publicFiles.map((file) => `${name}/${file}`));
  expect(all.length).toBeGreaterThan(0);
  expect(all.filter((file) => !publicFilesUsed.has(file))).toEqual([]);
});

test("every module has files", () => {
  expect(
    modules.filter(({ name }) => !files.some((file) => moduleOf(file)?.name === name)).map(({ name }) => name),
  ).toEqual([]);
});

test("only the configuration and the programs read the environment", () => {
  const readers = files.filter((file) => readsEnvironment(sources.get(file) ?? ""));
  expect(readers.length).toBeGreaterThan(0);
  expect(readers.filter((file) => !environmentReaders.some((allowed) => file.startsWith(allowed)))).toEqual([]);
});

test.each([
  ['import { a } from "x";', ["x"]],
  ['import type { A } from "./x.ts";', ["./x.ts type"]],
  ['import { type A } from "./x.ts";', ["./x.ts"]],
  ['import a, * as b\n  from "x";', ["x"]],
  ['import "x";', ["x"]],
  ['export * from "x";\nexport type { B } from "y";', ["x", "y type"]],
  ['const a = await import("x/web.js");', ["x/web.js"]],
  ["const a = await import(name);", ["name computed"]],
  ['type A = typeof import("x");', ["x type"]],
  ['const a = require("x"); require.resolve("y");', ["x", "y"]],
  ['const a = createRequire(import.meta.url)("#x") as () => B;', ["#x"]],
  ['new URL("./worker.ts", import.meta.url)', ["./worker.ts"]],
  ['packageFile("catalog/")', ["catalog/ file"]],
  ["new URL(`./worker.${extension}`, import.meta.url)", ["./worker."]],
  ['new URL("http://x/", base)', []],
  ['// import "x"\n/* from "y" */ const a = "import \\"z\\" from";', []],
  ['const a = /from "x"/u.test(`from "y" ${b ? "from" : `import "z"`} from "u"`); import "v";', ["v"]],
  ['const from = a / b; const c = "x" / d; import "e";', ["e"]],
  ['throw new Error(`${a} from`, "b"); Array.from("abc");', []],
])("imports of %s", (source, expected) => {
  const found = scanImports(source);
  expect(
    found.map(
      (r) => `${r.specifier}${r.typeOnly ? " type" : ""}${r.computed ? " computed" : ""}${r.isFile ? " file" : ""}`,
    ),
  ).toEqual(expected);
});

test("the environment is found however it is read", () => {
  expect(readsEnvironment('process.env["A"]')).toBe(true);
  expect(readsEnvironment("const { env } = process; // process.env")).toBe(false);
});

test("the files that the overview names exist", () => {
  const overview = readFileSync(join(root, "src/README.md"), "utf8");
  const paths = [...overview.matchAll(/`((?:\w[\w-]*\/)+[\w-]+\.ts)`/gu)].map(([, file = ""]) => file);
  expect(paths.length).toBeGreaterThan(10);
  expect(paths.filter((file) => !file.startsWith("test/") && !files.includes(file))).toEqual([]);
});

test("unit tests open no socket, write no file and start no process or thread", () => {
  const unit = new URL("../unit", import.meta.url).pathname;
  const outside =
    /^import (?!type ).*"(?:node:(?:net|https?|http2|dns|child_process|worker_threads)|.*\/(?:scratch-folder|listening|running-service|built-program|shard-build|sparql-test-server)\.ts)"/mu;
  const tests = readdirSync(unit, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
  expect(tests.filter((name) => outside.test(readFileSync(join(unit, name), "utf8")))).toEqual([]);
});

test("no face of a room grows above the table of the overview", () => {
  const [titles = [], ...rows] = faceTable();
  expect(rows.filter(([room]) => room?.startsWith("`")).length).toBeGreaterThan(20);
  expect(grown(storedTable(), [titles, ...rows])).toEqual([]);
});

test.each([
  ["lines", "1,030", []],
  ["lines", "1,031", ["a, lines: 1,031, and the table has 1,000"]],
  ["`rdf`", "1,031", []],
  ["new", "1", []],
])("the walk's %s may be %s above 1,000", (title, cell, expected) => {
  const stored = [
    ["", "face", "a"],
    ["lines", "", "1,000"],
    ["`rdf`", "100 in 2", "1,000"],
  ];
  expect(
    grown(stored, [
      ["", "face", "a"],
      [title, "", cell],
    ]),
  ).toEqual(expected);
  expect(
    grown(stored, [
      ["", "face", "a"],
      ["`rdf`", "100 in 3", ""],
    ]),
  ).toEqual(["face, `rdf`: 100 in 3, and the table has 100 in 2"]);
});

test("the size of the house is printed", () => {
  const declared =
    /^export (?:default |declare |abstract |async )*(?:const|let|function\*?|class|interface|type|enum) \w+/gmu;
  for (const folder of folders) {
    const texts = [...sources].filter(([file]) => pathOf(file).startsWith(`${folder}/`)).map(([, text]) => text);
    const lines = texts.reduce((sum, text) => sum + text.split("\n").length - 1, 0);
    const exported = texts.reduce((sum, text) => sum + (text.match(declared)?.length ?? 0), 0);
    console.log(`${folder}/: ${texts.length} files, ${lines} lines, ${exported} exported names`);
    expect(exported).toBeGreaterThan(0);
  }
});
