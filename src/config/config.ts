import { FedwayError } from "../errors/fedway-error.ts";
import { nearest } from "../errors/nearest.ts";
import type { Setting, SettingTree } from "./setting-parsers.ts";
import { settings } from "./settings.ts";

/** Values that settings are read as. */
type Values<Tree> = {
  readonly [Name in keyof Tree]: Tree[Name] extends Setting<infer Value> ? Value : Values<Tree[Name]>;
};

/** All settings from the environment, in one frozen value; `settings.ts` documents each. Durations in milliseconds. */
export type Config = Omit<Values<typeof settings>, "publicUrl"> & {
  /** Without a trailing slash. */
  readonly publicUrl: string;
};

type Environment = Readonly<Record<string, string | undefined>>;
type Read = (setting: Setting<unknown>) => unknown;

const isSetting = (part: Setting<unknown> | SettingTree): part is Setting<unknown> =>
  typeof part["parse"] === "function";

function allOf(tree: SettingTree): readonly Setting<unknown>[] {
  return Object.values(tree).flatMap((part) => (isSetting(part) ? [part] : allOf(part)));
}

/** The same tree with values in the place of settings. */
function valuesOf<Tree extends SettingTree>(tree: Tree, read: Read): Values<Tree>;
function valuesOf(tree: SettingTree, read: Read): unknown {
  return Object.fromEntries(
    Object.entries(tree).map(([name, part]) => [name, isSetting(part) ? read(part) : valuesOf(part, read)]),
  );
}

/** The variables with their defaults and meanings, in the order of the documentation. */
export const configReference: readonly Pick<Setting<unknown>, "name" | "default" | "meaning">[] = allOf(settings).map(
  ({ name, default: fallback, meaning }) => ({ name, default: fallback, meaning }),
);

const names: readonly string[] = configReference.map(({ name }) => name);

/** A value as a message may show it: short, on one line, without what stands for a user and a password in a URL. */
function shown(value: string): string {
  const [from, to] = [value.indexOf("//"), value.lastIndexOf("@")];
  const harmless = from >= 0 && to > from ? `${value.slice(0, from)}//[secret]${value.slice(to)}` : value;
  return JSON.stringify(harmless.length > 80 ? `${harmless.slice(0, 80)}…` : harmless);
}

/** A reader that notes what is wrong and goes on with the default, so that all problems are found at once. */
const reader =
  (env: Environment, problems: string[]): Read =>
  ({ name, default: fallback, expected, secret, parse }) => {
    const found = env[name]?.trim() ?? "";
    const parsed = parse(found === "" ? fallback : found);
    if (parsed) return parsed.value;
    problems.push(`${name} is ${secret === true ? "not usable" : shown(found)}; expected ${expected}.`);
    const standIn = parse(fallback);
    if (!standIn) throw new Error(`the default of ${name} is not ${expected}`);
    return standIn.value;
  };

function findUnknown(env: Environment, problems: string[]): void {
  for (const name of Object.keys(env).toSorted()) {
    if (!name.startsWith("FEDWAY_") || names.includes(name) || env[name] === undefined) continue;
    const [like] = nearest(name, names, 1);
    problems.push(`${name} is not known; ${like ? `did you mean ${like}?` : "fedway serve --help lists all names."}`);
  }
}

/** `http://HOST:PORT`; a wildcard address is nothing a client can dial, so it becomes the loopback address. */
function ownUrl(host: string, port: number): string {
  const dialled = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return `http://${dialled.includes(":") ? `[${dialled}]` : dialled}:${port}`;
}

function freezeDeeply<T>(value: T): T {
  if (typeof value === "object" && value !== null) Object.values(Object.freeze(value)).forEach(freezeDeeply);
  return value;
}

/** Values that are right by themselves and wrong together. */
function findContradictions(config: Config, problems: string[]): void {
  const { port, metricsPort, role, redisUrl, monitor, clientHeader, trustProxy } = config;
  if (clientHeader !== undefined && typeof trustProxy !== "object") {
    problems.push("FEDWAY_CLIENT_HEADER is set, but FEDWAY_TRUST_PROXY names no addresses whose header is believed.");
  }
  if (metricsPort === port) problems.push(`FEDWAY_METRICS_PORT is ${port}, as PORT is: one of them must be another.`);
  if (role !== "all" && redisUrl === undefined) {
    problems.push(`ROLE is ${role}, but there is no REDIS_URL: processes can share their state in Redis only.`);
  }
  if (monitor.webhooks.length > 0 && monitor.webhookSecret === undefined) {
    problems.push("FEDWAY_WEBHOOKS is set, but there is no FEDWAY_WEBHOOK_SECRET to sign the messages with.");
  }
}

/**
 * The environment as one deeply frozen value. Unset and empty variables take their defaults; variables of other
 * programs are ignored.
 * @throws FedwayError `CONFIG_INVALID`, one error whose message lists every wrong value and every unknown `FEDWAY_*` name
 */
export function loadConfig(env: Environment): Config {
  const problems: string[] = [];
  const read = valuesOf(settings, reader(env, problems));
  const config = { ...read, publicUrl: read.publicUrl ?? ownUrl(read.host, read.port) };
  findUnknown(env, problems);
  if (problems.length === 0) findContradictions(config, problems);
  if (problems.length > 0) {
    throw new FedwayError("CONFIG_INVALID", problems.join("\n"), {
      next: "Correct the variables named above; fedway serve --help lists all of them.",
    });
  }
  return freezeDeeply(config);
}
