import { open, stat } from "node:fs/promises";
import { type Static, type TProperties, Type } from "typebox";
import { Check } from "typebox/value";
import { type Clock, every } from "../clock.ts";
import { FedwayError, toFedwayError } from "../errors/fedway-error.ts";
import { parsedJson } from "../values.ts";

// Nothing that could end a header, or replace one of the request's own.
const text = (pattern: string) => Type.String({ pattern: `^${pattern}$` });
const line = text("[^\\x00-\\x1f\\x7f]{1,2048}");
const fixed =
  "host|connection|content-.*|transfer-encoding|accept.*|user-agent|te|trailer|upgrade|expect|keep-alive|proxy-.*";
const fixedHeaders = fixed.replaceAll(/[a-z]/gu, (letter) => `[${letter}${letter.toUpperCase()}]`);
const entry = <Fields extends TProperties>(fields: Fields) =>
  Type.Object({ origin: Type.Optional(text("https?://[^/?#@\\s]+")), ...fields }, { additionalProperties: false });
const schema = Type.Union([
  entry({ type: Type.Enum(["basic", "digest"]), user: text("[^:\\x00-\\x1f\\x7f]{1,512}"), password: line }),
  entry({ type: Type.Literal("bearer"), token: text("[\\x21-\\x7e]{1,8192}") }),
  entry({
    type: Type.Literal("header"),
    name: text(`(?!(?:${fixedHeaders})$)[\\w!#$%&'*+.^|~\`-]{1,64}`),
    value: text("[\\x21-\\x7e](?:[\\x20-\\x7e]{0,8190}[\\x21-\\x7e])?"),
  }),
  entry({
    type: Type.Literal("oauth"),
    tokenUrl: text("https?://[^@#\\s]{1,2048}"),
    clientId: line,
    clientSecret: line,
    scope: Type.Optional(text("[\\x20-\\x7e]{1,2048}")),
  }),
]);

const fields =
  "Its type is basic or digest (user, password), bearer (token), header (name, value) or oauth (tokenUrl, clientId, clientSecret, scope); secrets also as passwordFile ...; origin.";

/** The credentials of one endpoint, its secrets in place. */
export type Credential = Static<typeof schema>;

const secretNames = ["password", "token", "value", "clientSecret"] as const;
const longestFile = 1_048_576;
const lookEveryMs = 2_000;

/** Where reloads are reported; never with any content of the files. */
interface FollowOptions {
  readonly clock: Clock;
  readonly log: Record<"info" | "warn", (fields: object, text: string) => void>;
}

/** The file of `FEDWAY_CREDENTIALS` as it was last read well. */
export type CredentialFile = Awaited<ReturnType<typeof openCredentialFile>>;

/** @throws FedwayError `CONFIG_INVALID` when it cannot be used, in words that quote nothing of it */
export async function openCredentialFile(path: string) {
  let found = await readAll(path);
  let problem: string | undefined;
  return {
    get: (id: string): Credential | undefined => found.credentials.get(id),
    /** Secrets that no line of the log may hold. */
    secrets: (): readonly string[] => found.secrets,
    /** Reads a changed file again; a file that cannot be used leaves the credentials as they are. */
    follow({ clock, log }: FollowOptions): { stop(): Promise<void> } {
      const look = async (): Promise<void> => {
        if (problem === undefined && !(await hasChanged(found.stamps))) return;
        found = await readAll(path);
        problem = undefined;
        log.info({ endpoints: found.credentials.size }, "credentials were read again");
      };
      const report = (error: unknown): void => {
        const { message } = toFedwayError(error);
        if (message !== problem)
          log.warn({ problem: message }, "changed credentials are not usable; the former ones stay");
        problem = message;
      };
      return every(lookEveryMs, () => look().catch(report), { clock, onFault: report, firstAfterMs: lookEveryMs });
    },
  };
}

/** The spellings of a credential's secrets in texts; of very short ones none, since they stand in any text. */
export function formsOf(credential: Credential): readonly string[] {
  const secrets = secretNames.map((name): unknown => Reflect.get(credential, name));
  const texts = secrets.filter((secret) => typeof secret === "string");
  if (credential.type === "basic") texts.push(basicOf(credential.user, credential.password));
  // Of "Token 0123456789" the number alone is quoted, too.
  if (credential.type === "header") texts.push(...credential.value.split(" ").filter(({ length }) => length >= 8));
  return texts.flatMap(spellings);
}

/** User and password as a header has them (RFC 7617). */
export const basicOf = (user: string, password: string): string =>
  Buffer.from(`${user}:${password}`).toString("base64");

/** A secret as it is, in JSON, in URLs, in markup and in base64. */
export function spellings(secret: string): readonly string[] {
  const escapes = { "&": "amp", "<": "lt", ">": "gt", '"': "quot" };
  const markup = Object.entries(escapes).reduce((all, [sign, name]) => all.replaceAll(sign, `&${name};`), secret);
  const inUrl = encodeURIComponent(secret.toWellFormed());
  const inUrls = [inUrl, inUrl.replaceAll("%20", "+"), inUrl.replaceAll(/%../gu, (code) => code.toLowerCase())];
  const forms = [JSON.stringify(secret).slice(1, -1), ...inUrls, markup];
  const all = [secret, secret.replaceAll(/\s+/gu, " "), Buffer.from(secret).toString("base64"), ...forms];
  return secret.length < 4 ? [] : [...new Set(all)];
}

const unusable = (message: string, next?: string): FedwayError =>
  new FedwayError("CONFIG_INVALID", `FEDWAY_CREDENTIALS: ${message}`, { next });

type Stamps = Map<string, string>;

/** All credentials, and stamps that show whether a file has changed since. */
async function readAll(path: string) {
  const stamps: Stamps = new Map();
  const { content, openTo } = await readText(path, stamps);
  const file = parsedJson(content);
  if (!isObject(file)) throw unusable(`${path} is no JSON object.`);
  const credentials = new Map<string, Credential>();
  for (const [id, given] of Object.entries(file)) {
    if (!/^[a-z0-9][a-z0-9._-]{0,63}$/u.test(id)) throw unusable(`a key of ${path} is no endpoint's id.`);
    if (openTo !== 0 && isObject(given) && secretNames.some((name) => name in given)) throw openToOthers(path);
    credentials.set(id, await readCredential(id, given, stamps));
  }
  return { credentials, secrets: [...credentials.values()].flatMap(formsOf), stamps };
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const openToOthers = (path: string): FedwayError =>
  unusable(
    `others can read ${path}, which holds secrets.`,
    `Close it to them: chmod 600 ${path}; or move its secrets into files of their own (passwordFile, tokenFile ...).`,
  );

/** A file's text, and the bits that let others read it. The group of a file of another user (root:fedway 640) is Fedway's. */
async function readText(path: string, stamps: Stamps): Promise<{ content: string; openTo: number }> {
  const file = await open(path, "r").catch(() => {
    throw unusable(`${path} cannot be opened.`, "Check that it is there and who may read it.");
  });
  try {
    const found = await file.stat();
    if (!found.isFile() || found.size > longestFile) throw unusable(`${path} is no file of at most 1 MiB.`);
    stamps.set(path, stampOf(found));
    const others = found.uid === process.getuid?.() ? 0o077 : 0o007;
    return { content: await file.readFile("utf8"), openTo: process.getuid ? found.mode & others : 0 };
  } finally {
    await file.close();
  }
}

const stampOf = ({ ino, size, mode, mtimeMs, ctimeMs }: Awaited<ReturnType<typeof stat>>): string =>
  [ino, size, mode, mtimeMs, ctimeMs].join();

async function hasChanged(stamps: Stamps): Promise<boolean> {
  for (const [path, stamp] of stamps) if ((await stat(path).then(stampOf, () => "")) !== stamp) return true;
  return false;
}

async function readCredential(id: string, given: unknown, stamps: Stamps): Promise<Credential> {
  const read: Record<string, unknown> = isObject(given) ? { ...given } : {};
  for (const name of secretNames) {
    const path = read[`${name}File`];
    if (typeof path !== "string" || name in read) continue;
    read[name] = (await readText(path, stamps)).content.replace(/\r?\n$/u, "");
    delete read[`${name}File`];
  }
  if (!Check(schema, read)) throw unusable(`the entry of "${id}" is not usable.`, fields);
  return read;
}
