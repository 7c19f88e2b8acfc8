import { describe, expect, it } from "vitest";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import { createAddressGuard, createGuardedLookup, isOwnHost } from "../../../src/outbound/address-guard.ts";

const guard = createAddressGuard();

const refusedHosts = [
  "127.0.0.1",
  "127.1",
  "127.0.1",
  "127.255.255.254",
  "2130706433",
  "0x7f000001",
  "0x7f.0x0.0x0.0x1",
  "0x7f.1",
  "017700000001",
  "0177.0.0.1",
  "00000177.1",
  "127.0.0.1.",
  "%31%32%37.0.0.1",
  "１２７.0.0.1",
  "127。0。0。1",
  "①②⑦.0.0.1",
  "0.0.0.0",
  "0",
  "0.1.2.3",
  "10.0.0.1",
  "10.255.255.255",
  "167772161",
  "0xa000001",
  "100.64.0.1",
  "100.127.255.255",
  "169.254.169.254",
  "2852039166",
  "0xa9fea9fe",
  "172.16.0.1",
  "172.31.255.255",
  "192.168.1.1",
  "192.168.257",
  "0300.0250.1.1",
  "192.0.0.1",
  "192.0.0.192",
  "192.0.2.7",
  "192.31.196.1",
  "192.52.193.1",
  "192.88.99.1",
  "192.175.48.1",
  "198.18.0.1",
  "198.19.255.255",
  "198.51.100.7",
  "203.0.113.7",
  "224.0.0.1",
  "239.255.255.255",
  "240.0.0.1",
  "255.255.255.255",
  "[::]",
  "[::1]",
  "[0:0:0:0:0:0:0:1]",
  "[0000::0001]",
  "[::127.0.0.1]",
  "[::ffff:127.0.0.1]",
  "[::ffff:7f00:1]",
  "[0:0:0:0:0:ffff:127.0.0.1]",
  "[::ffff:8.8.8.8]",
  "[::ffff:0:127.0.0.1]",
  "[64:ff9b::7f00:1]",
  "[64:ff9b::10.0.0.1]",
  "[64:ff9b::8.8.8.8]",
  "[64:ff9b:1::a00:1]",
  "[100::1]",
  "[2001::1]",
  "[2001:0:7f00:1::]",
  "[2001:2::1]",
  "[2001:10::1]",
  "[2001:20::1]",
  "[2001:db8::1]",
  "[2002:7f00:1::]",
  "[2002:808:808::1]",
  "[3fff::1]",
  "[5f00::1]",
  "[fc00::1]",
  "[fd12:3456:789a::1]",
  "[fe80::1]",
  "[febf::1]",
  "[fec0::1]",
  "[ff02::1]",
  "[ff0e::1]",
  "[4000::1]",
] as const;

const allowedHosts = [
  "8.8.8.8",
  "1.1.1.1",
  "93.184.216.34",
  "172.15.255.255",
  "172.32.0.1",
  "100.63.255.255",
  "100.128.0.1",
  "169.253.1.1",
  "192.0.1.1",
  "198.17.255.255",
  "223.255.255.255",
  "134744072",
  "[2001:4860:4860::8888]",
  "[2606:4700:4700::1111]",
  "[2a02:2e0:3fe:1001:302::]",
  "endpoint.example",
  "localhost.example",
  "10.example",
] as const;

describe("literals in every notation", () => {
  it("the tables are as long as they were written", () => {
    expect([refusedHosts.length, allowedHosts.length]).toEqual([81, 18]);
  });
  it.each(refusedHosts)("refuses http://%s/sparql", (host) => {
    const error = guard.refuseUrl(`http://${host}/sparql`);
    expect(error).toMatchObject({ code: "ADDRESS_REFUSED", details: { fault: "address" } });
    expect(error?.message).toBe("The endpoint's address is not one that Fedway may connect to.");
  });
  it.each(allowedHosts)("lets http://%s/sparql pass", (host) => {
    expect(guard.refuseUrl(`http://${host}/sparql`)).toBeUndefined();
  });
  // The connector sees the host as the HTTP client hands it over: without brackets, perhaps not normalised.
  it.each(["127.1", "0x7f000001", "2130706433", "0177.0.0.1", "::1", "::ffff:7f00:1", "fe80::1%eth0", "127.0.0.1."])(
    "refuses the bare host %s",
    (host) => {
      expect(guard.refuseHost(host)?.code).toBe("ADDRESS_REFUSED");
    },
  );
});

describe("URLs", () => {
  it.each([
    "ftp://endpoint.example/",
    "file:///etc/passwd",
    "unix:/var/run/docker.sock",
    "data:text/plain,x",
    "gopher://endpoint.example/",
    "javascript:alert(1)",
    "http://user@endpoint.example/",
    "http://user:secret@endpoint.example/",
    "http://:secret@endpoint.example/",
    "//endpoint.example/",
    "/sparql",
    "",
    "http://",
    "http://[::1",
    `http://endpoint.example/${"x".repeat(2_048)}`,
  ])("refuses %j", (url) => {
    expect(guard.refuseUrl(url)?.code).toBe("ADDRESS_REFUSED");
  });
});

describe("exceptions", () => {
  const open = createAddressGuard(["127.0.0.0/8", "10.1.2.3", "fd00:1::/32"]);
  it.each(["127.0.0.1", "127.9.9.9", "10.1.2.3", "fd00:1::5", "8.8.8.8"])("allow %s", (address) => {
    expect(open.allows(address)).toBe(true);
  });
  it.each(["10.1.2.4", "::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "fd00:2::1", "localhost", ""])(
    "do not allow %j",
    (address) => {
      expect(open.allows(address)).toBe(false);
    },
  );
  it.each(["10.0.0.0/33", "localhost", "10.0.0.0/x", "", "::/129"])("%j is no range", (range) => {
    expect(() => createAddressGuard([range])).toThrow(FedwayError);
  });
});

interface Looked {
  readonly error: Error | null;
  readonly result: unknown;
}
const look = (addresses: readonly string[], all: boolean): Promise<Looked> =>
  new Promise((resolve) => {
    const found = addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
    const lookup = createGuardedLookup(guard, (_hostname, done) => done(null, found));
    lookup("endpoint.example", { all }, (error, result) => resolve({ error, result }));
  });

describe("the operator's own hosts", () => {
  it.each([
    ["localhost", true],
    ["localhost.", true],
    ["127.0.0.1", true],
    ["10.1.2.3", true],
    ["[::1]", true],
    ["[fd00::1]", true],
    ["[::ffff:8.8.8.8]", true],
    ["8.8.8.8", false],
    ["[2606:4700::1111]", false],
    ["localhost.example.org", false],
    ["sparql.svc.cluster.local", false],
    ["query.wikidata.org", false],
  ])("%s: %s", (host, own) => {
    expect(isOwnHost(host)).toBe(own);
  });
});

describe("the guarded lookup", () => {
  it("hands on exactly the vetted addresses", async () => {
    expect(await look(["8.8.8.8", "2606:4700::1"], true)).toEqual({
      error: null,
      result: [
        { address: "8.8.8.8", family: 4 },
        { address: "2606:4700::1", family: 6 },
      ],
    });
    expect(await look(["8.8.8.8", "1.1.1.1"], false)).toEqual({ error: null, result: "8.8.8.8" });
  });
  it.each([
    [["10.0.0.1"]],
    [["8.8.8.8", "10.0.0.1"]],
    [["8.8.8.8", "::1"]],
    [["8.8.8.8", "1.1.1.1", "169.254.169.254"]],
    [["fe80::1%eth0"]],
    [["not an address"]],
  ])("refuses the whole name for %j", async (addresses) => {
    for (const all of [true, false]) {
      const { error } = await look(addresses, all);
      expect(error).toMatchObject({ code: "ADDRESS_REFUSED" });
      expect(error?.message).not.toContain(addresses.at(-1));
    }
  });
  it("does not hand on an empty answer", async () => {
    expect((await look([], true)).error).toMatchObject({ code: "ENOTFOUND" });
  });
});
