import { describe, expect, it } from "vitest";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import { createAddressGuard, createGuardedLookup, isOwnHost } from "../../../src/outbound/address-guard.ts";
import { refusedHosts } from "../../support/refused-hosts.ts";

const guard = createAddressGuard();

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
    expect(error).toMatchObject({
      code: "ADDRESS_REFUSED",
      details: { fault: "address" },
    });
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
    expect(open.allows(address, "a.example")).toBe(true);
  });
  it.each(["10.1.2.4", "::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "fd00:2::1", "localhost", ""])(
    "do not allow %j",
    (address) => {
      expect(open.allows(address, "a.example")).toBe(false);
    },
  );
  it.each(["10.0.0.0/33", "localhost", "10.0.0.0/x", "", "::/129"])("%j is no range", (range) => {
    expect(() => createAddressGuard([range])).toThrow(FedwayError);
  });
});

describe("addresses that the operator wrote himself", () => {
  const operators = createAddressGuard([], "operator");
  const inside = ["127.0.0.1", "127.1", "2130706433", "10.1.2.3", "172.16.0.1", "192.168.1.1", "100.64.0.1"];
  it.each([...inside, "[::1]", "[fd12:3456:789a::1]", "8.8.8.8", "graphdb", "localhost"])(
    "http://%s passes",
    (host) => {
      expect(operators.refuseUrl(`http://${host}/sparql`)).toBeUndefined();
    },
  );
  it.each([
    "169.254.169.254",
    "2852039166",
    "169.254.170.2",
    "[fe80::1]",
    "[fe80::a9fe:a9fe]",
    "[fd00:ec2::254]",
    "[fd20:ce::254]",
    "[fd00:42::42]",
    "100.100.100.200",
    "192.0.0.192",
    "168.63.129.16",
    "0.0.0.0",
    "224.0.0.1",
    "255.255.255.255",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "[fec0::1]",
  ])("http://%s is refused all the same, with the setting that allows it", (host) => {
    const error = operators.refuseUrl(`http://${host}/sparql`);
    expect(error).toMatchObject({
      code: "ADDRESS_REFUSED",
      details: {
        next: "FEDWAY_ALLOW_ADDRESSES has to name its address range.",
      },
    });
    expect(createAddressGuard(["0.0.0.0/0", "::/0"], "operator").refuseUrl(`http://${host}/sparql`)).toBeUndefined();
  });

  it.each([
    ["localhost", true],
    ["localhost.", true],
    ["graphdb", true],
    ["graphdb.data.svc", true],
    ["graphdb.data.svc.cluster.local", true],
    ["a.lan", true],
    ["a.home.arpa", true],
    ["A.Internal", true],
    ["a.home.arpa.org", false],
    ["localhost.example.org", false],
    ["internal.example", false],
    ["10-0-0-1.nip.io", false],
  ])("the name %s may stand for a private address: %s", (name, may) => {
    expect(operators.allows("10.1.2.3", name)).toBe(may);
    expect(operators.allows("169.254.169.254", name)).toBe(false);
    expect(operators.allows("100.100.100.200", name)).toBe(false);
    expect(guard.allows("10.1.2.3", name)).toBe(false);
  });
});

interface Looked {
  readonly error: Error | null;
  readonly result: unknown;
}
const look = (addresses: readonly string[], all: boolean): Promise<Looked> =>
  new Promise((resolve) => {
    const found = addresses.map((address) => ({
      address,
      family: address.includes(":") ? 6 : 4,
    }));
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
    expect(await look(["8.8.8.8", "1.1.1.1"], false)).toEqual({
      error: null,
      result: "8.8.8.8",
    });
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
