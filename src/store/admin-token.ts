import { randomBytes } from "node:crypto";
import { open, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { FedwayError } from "../errors/fedway-error.ts";
import { dataFolderHolder } from "./data-folder.ts";
import { storeFailed } from "./bounds.ts";
import type { Store } from "./store.ts";

/** The part of the configuration that decides; `Config` fits. */
interface TokenSettings {
  readonly adminToken: string | undefined;
  readonly dataDir: string;
  readonly role: string;
}

/** The token of changes. */
export interface AdminToken {
  /** "off": changes are open to everybody. */
  readonly value: string;
  /** Where it was found; one that is the operator's own is never shown. */
  readonly from: "environment" | "folder" | "store";
}

/** Name of the token's file in the data folder. */
export const adminTokenFile = "admin-token";

/** Where processes that share their state agree on one token. */
const storeKey = "admin/token";

const make = (): string => randomBytes(32).toString("base64url");
const isToken = (text: string): boolean => /^[\x21-\x7e]{16,512}$/.test(text);

/**
 * The token of changes: that of the environment, else the one that the first start made, in the data folder or, where
 * several processes share their state, in the store.
 * @throws FedwayError `CONFIG_INVALID` when the stored value is no token, `STORE_FAILED`
 */
export async function openAdminToken(
  { adminToken, dataDir, role }: TokenSettings,
  { soleOwner, store }: { readonly soleOwner: boolean; readonly store: Store },
): Promise<AdminToken> {
  if (adminToken !== undefined) return { value: adminToken, from: "environment" };
  if (soleOwner) return { value: await tokenInFolder(dataDir), from: "folder" };
  // A worker has no route that changes anything; a token of its own opens nothing.
  return { value: role === "worker" ? make() : await offerToken(store, make()), from: "store" };
}

/** Puts `token` into the store unless there is one; resolves to the one that is there. @throws FedwayError `STORE_FAILED` */
export async function offerToken(store: Store, token: string): Promise<string> {
  if ((await store.put(storeKey, token, { ifVersion: 0 })) !== undefined) return token;
  const kept = await store.get(storeKey);
  if (kept === undefined || !isToken(kept.value)) {
    throw new FedwayError("STORE_FAILED", "The admin token in the shared store cannot be read.", {
      next: "Set FEDWAY_ADMIN_TOKEN, to the same value for all processes.",
    });
  }
  return kept.value;
}

/** The process that holds the folder is the only one that comes here. */
async function tokenInFolder(dataDir: string): Promise<string> {
  const path = join(dataDir, adminTokenFile);
  const token = make();
  try {
    await writeFile(path, `${token}\n`, { flag: "wx", mode: 0o600, flush: true });
    return token;
  } catch (error) {
    if (hasCode(error, "EEXIST")) return keptToken(path);
    // The partial text is no token.
    await rm(path, { force: true }).catch(() => {});
    throw storeFailed("The admin token cannot be written.", error, "Check FEDWAY_DATA_DIR and who owns that folder.");
  }
}

/** The token that an earlier start made; a file that others may read is closed to them. */
async function keptToken(path: string): Promise<string> {
  const text = await readPrivately(path).catch((error: unknown) => {
    throw storeFailed(
      "The admin token's file cannot be read, or not be closed to others.",
      error,
      `Make it yours: chmod 600 ${path}`,
    );
  });
  const token = text.trim();
  if (isToken(token)) return token;
  throw new FedwayError("CONFIG_INVALID", `${path} holds no admin token.`, {
    next: "Remove the file, and the next start makes a new one; or set FEDWAY_ADMIN_TOKEN.",
  });
}

async function readPrivately(path: string): Promise<string> {
  const file = await open(path, "r");
  try {
    const { mode, size } = await file.stat();
    if ((mode & 0o077) !== 0) await file.chmod(0o600);
    return size > 1024 ? "" : await file.readFile("utf8");
  } finally {
    await file.close();
  }
}

const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && "code" in error && error.code === code;

/**
 * The token for the service at `url`, as a program on its machine knows it: that of the environment, else that of the data
 * folder when its holder answers there. Undefined: none is known. @throws FedwayError `STORE_FAILED`
 */
export async function knownAdminToken(
  { adminToken, dataDir }: Omit<TokenSettings, "role">,
  url: string,
): Promise<string | undefined> {
  if (adminToken !== undefined) return adminToken === "off" ? undefined : adminToken;
  const holder = await dataFolderHolder(dataDir);
  if (typeof holder !== "object" || holder.url === undefined || placeOf(url) !== placeOf(holder.url)) return undefined;
  const text = await readFile(join(dataDir, adminTokenFile), "utf8").catch(() => "");
  return isToken(text.trim()) ? text.trim() : undefined;
}

const ownNames = /^(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\])$/;

/** Host and port; all names of this machine are one. */
function placeOf(url: string): string | undefined {
  const { hostname, port } = URL.parse(url) ?? {};
  return hostname === undefined ? undefined : `${ownNames.test(hostname) ? "here" : hostname}:${port}`;
}
