import { spawnSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseAllDocuments } from "yaml";

// fetch-deploy-checkers.sh reads these three lines.
const kubernetesValidateVersion = "1.37.0";
const composeSpecVersion = "0.2.1";
const kustomizeVersion = "5.0.3";

/** An object of Kubernetes as YAML or JSON gives it. */
export interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  // Each kind has its own shape; the tests that read it check what they find.
  readonly spec?: unknown;
  readonly data?: Readonly<Record<string, string>>;
  readonly automountServiceAccountToken?: boolean;
}

const root = fileURLToPath(new URL("../../../", import.meta.url));
const folder = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "fedway", "deploy-checkers");
const schemas = join(folder, `schemas-${kubernetesValidateVersion}-${composeSpecVersion}`, "bin");
const howToGet = "get it with: test/support/engines/fetch-deploy-checkers.sh";

interface Outcome {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function run(command: string, args: readonly string[], input?: string): Outcome {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
    ...(input === undefined ? {} : { input }),
  });
  return { status, stdout: stdout ?? "", stderr: `${stderr ?? ""}${error?.message ?? ""}` };
}

/** The command that renders a folder: kubectl's own kustomize when it is version 5, else the one that was fetched. */
function kustomizeCommand(): readonly [command: string, subcommand: string] {
  if (/^Kustomize Version: v5\./m.test(run("kubectl", ["version", "--client"]).stdout)) return ["kubectl", "kustomize"];
  const fetched = join(folder, `kustomize-${kustomizeVersion}`);
  if (!existsSync(fetched)) throw new Error(`There is neither a recent kubectl nor kustomize; ${howToGet}`);
  return [fetched, "build"];
}

/** Renders a folder of k8s/. @throws Error with what kustomize says */
export function renderKustomization(path: string): readonly KubernetesObject[] {
  const [command, subcommand] = kustomizeCommand();
  const { status, stdout, stderr } = run(command, [subcommand, path]);
  if (status !== 0) throw new Error(`${command} ${subcommand} ${path}:\n${stderr}`);
  return parseAllDocuments(stdout).map((document) => document.toJS() as KubernetesObject);
}

function requireSchemas(program: string): string {
  const path = join(schemas, program);
  if (!existsSync(path)) throw new Error(`The schemas of Kubernetes and Compose are missing; ${howToGet}`);
  return path;
}

/** What the schemas of a version of Kubernetes have against objects, unknown fields and kinds included; empty when all is well. */
export function schemaProblems(objects: readonly KubernetesObject[], kubernetesVersion: string): string {
  const file = join(newFolder(), "objects.yaml");
  writeFileSync(file, objects.map((object) => JSON.stringify(object)).join("\n---\n"));
  const args = ["--strict", "--quiet", "-k", kubernetesVersion, file];
  const { status, stdout, stderr } = run(requireSchemas("kubernetes-validate"), args);
  // Kinds without a schema are only warned of.
  return `${stdout}${stderr}` || (status === 0 ? "" : `status ${status}`);
}

const composeProgram = `
import json, sys
from compose_spec import PyCompose
try:
    PyCompose.from_json(sys.stdin.read())
except ValueError as problem:
    print(problem)
`;
import { newFolder } from "../scratch-folder.ts";

/** What the Compose specification has against a file's content; empty when all is well. */
export function composeProblems(content: unknown): string {
  const { status, stdout, stderr } = run(requireSchemas("python"), ["-c", composeProgram], JSON.stringify(content));
  return status === 0 ? stdout.trim() : `${stdout}${stderr}` || `status ${status}`;
}
