import { chmod, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { systemClock } from "../../../src/clock.ts";
import { type CredentialFile, openCredentialFile } from "../../../src/outbound/credential-file.ts";
import { eventually } from "../../support/eventually.ts";
import { newFolder } from "../../support/scratch-folder.ts";

const secret = "s3cret-that-nobody-may-see";
const written = async (text: string, mode = 0o600): Promise<string> => {
  const path = join(newFolder(), "credentials.json");
  await writeFile(path, text);
  await chmod(path, mode);
  return path;
};
const opened = async (entry: unknown): Promise<CredentialFile> =>
  openCredentialFile(await written(JSON.stringify({ a: entry })));

describe("a file of credentials", () => {
  it.each([
    ["is no JSON", `{"a": {"type": "bearer", "token": "${secret}"`],
    ["is no object", `["${secret}"]`],
    ["has a key that is no id", `{"${secret} ": {}}`],
    ["has no type", `{"a": {"token": "${secret}"}}`],
    ["has an unknown type", `{"a": {"type": "${secret}"}}`],
    ["has an unknown field", `{"a": {"type": "bearer", "token": "${secret}", "${secret}": 1}}`],
    ["lacks a field", `{"a": {"type": "basic", "user": "${secret}"}}`],
    ["has a secret twice", `{"a": {"type": "bearer", "token": "${secret}", "tokenFile": "/dev/null"}}`],
    ["begins another header in a token", `{"a": {"type": "bearer", "token": "${secret}\\r\\nX-Evil: 1"}}`],
    [
      "begins another header in a value",
      `{"a": {"type": "header", "name": "x-key", "value": "${secret}\\nX-Evil: 1"}}`,
    ],
    ["begins another header in a name", `{"a": {"type": "header", "name": "x-key: ${secret}\\r\\nx", "value": "1"}}`],
    ["replaces a header of the request", `{"a": {"type": "header", "name": "Content-Length", "value": "${secret}"}}`],
    ["sends the request elsewhere", `{"a": {"type": "header", "name": "HOST", "value": "${secret}"}}`],
    ["has a colon in the user", `{"a": {"type": "basic", "user": "a:b", "password": "${secret}"}}`],
    ["has a path in the origin", `{"a": {"type": "bearer", "token": "${secret}", "origin": "https://a.example/x"}}`],
    [
      "has a user in the token's URL",
      `{"a": {"type": "oauth", "tokenUrl": "https://a:b@c.example", "clientId": "a", "clientSecret": "${secret}"}}`,
    ],
  ])("that %s is refused, and not quoted", async (_, text) => {
    const error: unknown = await openCredentialFile(await written(text)).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "CONFIG_INVALID", message: expect.stringContaining("FEDWAY_CREDENTIALS") });
    expect(JSON.stringify([String(error), error, String((error as Error).cause)])).not.toMatch(/s3cret|may-see/u);
  });
  it.each([0o644, 0o640, 0o604])("that others may read is refused with the command that helps: %o", async (mode) => {
    const text = JSON.stringify({ a: { type: "bearer", token: secret } });
    const path = await written(text, mode);
    await expect(openCredentialFile(path)).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      details: { next: expect.stringContaining(`chmod 600 ${path}`) },
    });
  });
  it("may be readable where its secrets are in files of their own", async () => {
    const tokenFile = join(newFolder(), "token");
    await writeFile(tokenFile, `${secret}\n`);
    const file = await openCredentialFile(await written(JSON.stringify({ a: { type: "bearer", tokenFile } }), 0o644));
    expect(file.get("a")).toEqual({ type: "bearer", token: secret });
    expect(file.get("b")).toBeUndefined();
  });
  it("knows in which forms a secret may be quoted", async () => {
    const file = await opened({ type: "basic", user: "ada", password: 'a"b&c d/e' });
    const basic = Buffer.from('ada:a"b&c d/e').toString("base64");
    const forms = ['a"b&c d/e', 'a\\"b&c d/e', "a%22b%26c%20d%2Fe", "a&quot;b&amp;c d/e", basic];
    expect(file.secrets()).toEqual(expect.arrayContaining(forms));
  });
  it("is read again when it, or a mounted secret, has changed; a broken one changes nothing and is reported once", async () => {
    const folder = newFolder();
    const tokenFile = join(folder, "token");
    await writeFile(tokenFile, "first-token");
    const path = await written(JSON.stringify({ a: { type: "bearer", tokenFile } }));
    const file = await openCredentialFile(path);
    const lines: unknown[] = [];
    const note = (level: string) => (fields: object, text: string) => void lines.push({ level, ...fields, text });
    const following = file.follow({ clock: systemClock, log: { info: note("info"), warn: note("warn") } });
    // As Kubernetes changes a mounted secret: another file in its place.
    await writeFile(join(folder, "next"), "second-token");
    await rename(join(folder, "next"), tokenFile);
    await eventually(() => expect(file.get("a")).toMatchObject({ token: "second-token" }));
    await writeFile(path, `{"a": {"type": "bearer", "token": "${secret}`);
    await eventually(() => expect(lines).toContainEqual(expect.objectContaining({ level: "warn" })));
    await rm(path);
    await eventually(() =>
      expect(lines.at(-1)).toMatchObject({ problem: expect.stringContaining("cannot be opened") }),
    );
    expect(file.get("a")).toMatchObject({ token: "second-token" });
    await writeFile(path, JSON.stringify({ a: { type: "bearer", token: secret } }), { mode: 0o600 });
    await eventually(() => expect(file.get("a")).toMatchObject({ token: secret }));
    await following.stop();
    expect(lines).toHaveLength(4);
    expect(JSON.stringify(lines)).not.toMatch(/s3cret|-token/u);
  });
});

it("the file of the guide is one, with a credential of each type", async () => {
  const guide = await readFile(new URL("../../../deploy/guide/credentials.md", import.meta.url), "utf8");
  const [, text = ""] = /<<'JSON'\n(.*?)\n *JSON$/msu.exec(guide) ?? [];
  const file = await openCredentialFile(await written(text));
  const types = ["wages", "library", "plants", "trains", "patents"].map((id) => file.get(id)?.type);
  expect(types).toEqual(["basic", "digest", "bearer", "header", "oauth"]);
});
