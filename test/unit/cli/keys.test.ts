import { describe, expect, it } from "vitest";
import { cli, type Setup } from "../../support/run-cli.ts";

const key = `fw_ada_${"k".repeat(43)}`;
const setup = (answer: object, more: Setup = {}): Setup => ({
  holder: { pid: 7, url: "http://127.0.0.1:3000/" },
  adminToken: "the-token",
  fetch: () => Response.json(answer),
  ...more,
});

describe("fedway keys", () => {
  it("asks for a key with all that was said, and prints it alone", async () => {
    const limits = ["--quota", "hour:requests=1000", "--quota", "hour:rows=5", "-q", "day:seconds=60"];
    const { code, out, err, calls } = await cli(
      ["keys", "add", "ada", "--role", "write", ...limits, "--expires", "2"],
      setup({ key }),
    );
    expect([code, out]).toEqual([0, `${key}\n`]);
    expect(err).toContain("not shown again");
    expect(calls).toMatchObject([
      {
        url: "http://127.0.0.1:3000/api/keys",
        init: { method: "POST", headers: { Authorization: "Bearer the-token" } },
      },
    ]);
    expect(JSON.parse(calls[0]?.init?.body as string)).toEqual({
      name: "ada",
      role: "write",
      quota: { hour: { requests: 1000, rows: 5 }, day: { seconds: 60 } },
      expiresIn: 172_800,
    });
  });

  it.each<[argv: string[], method: string, path: string, body: object | undefined]>([
    [["rotate", "ada"], "POST", "/ada/rotate", { graceSeconds: 86_400 }],
    [["rotate", "ada", "--grace", "2"], "POST", "/ada/rotate", { graceSeconds: 7_200 }],
    [["rotate", "ada", "--now"], "POST", "/ada/rotate", { graceSeconds: 0 }],
    [["remove", "../status"], "DELETE", "/..%2Fstatus", undefined],
  ])("%j", async (argv, method, path, body) => {
    const { calls } = await cli(["keys", ...argv], setup({ key }));
    expect([calls[0]?.init?.method, calls[0]?.url]).toEqual([method, `http://127.0.0.1:3000/api/keys${path}`]);
    expect(calls[0]?.init?.body === undefined ? undefined : JSON.parse(calls[0].init.body as string)).toEqual(body);
  });

  it("lists clients with their keys and use, without what could move a terminal", async () => {
    const used = { hour: { requests: 1, rows: 2, seconds: 3 }, day: { requests: 10, rows: 20, seconds: 1.5 } };
    const keys = [{ live: true }, { live: true, endsAt: "2026-01-01T00:00:00.000Z" }, { live: false }];
    const { out } = await cli(
      ["keys", "list"],
      setup({ clients: [{ name: "ada\u001b[2J", role: "query", keys, used }] }),
    );
    expect(out).toMatch(/query +10 +20 +1\.5 +2, one until 2026-01-01T00:00:00\.000Z\n/);
    expect(out).not.toContain("\u001b");
  });

  it("needs a role and a limit that exist", async () => {
    expect((await cli(["keys", "add", "ada", "--role", "root"], setup({}))).code).toBe(2);
    expect((await cli(["keys", "add", "ada", "--quota", "week:requests=1"], setup({}))).code).toBe(2);
    const malformed = { code: 1, out: "", err: expect.stringContaining("ENDPOINT_MALFORMED") };
    for (const answer of [[1], {}]) expect(await cli(["keys", "add", "ada"], setup(answer))).toMatchObject(malformed);
    for (const clients of ["a", 3, [null], [3]])
      expect(await cli(["keys", "list"], setup({ clients }))).toMatchObject(malformed);
  });
});
