import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ipaddr from "ipaddr.js";
import { beforeAll, describe, expect, it } from "vitest";
import { createAddressGuard } from "../../src/outbound/address-guard.ts";
import { type Labels, type Rendered, renderOverlay, selects } from "../support/deploy/rendered.ts";

const catalog = fileURLToPath(new URL("../../catalog/", import.meta.url));

interface Block {
  readonly cidr: string;
  readonly except?: readonly string[];
}

interface Peer {
  readonly ipBlock?: Block;
  readonly podSelector?: { readonly matchLabels: Labels };
  readonly namespaceSelector?: { readonly matchLabels: Labels };
}

interface Port {
  readonly protocol: string;
  readonly port: number;
}

interface Policy {
  readonly podSelector: { readonly matchLabels: Labels };
  readonly policyTypes: readonly string[];
  readonly ingress?: readonly { readonly from: readonly Peer[]; readonly ports: readonly Port[] }[];
  readonly egress?: readonly { readonly to: readonly Peer[]; readonly ports: readonly Port[] }[];
}

const policyOf = (rendered: Rendered, name: string): Policy => rendered.get("NetworkPolicy", name).spec as Policy;

/** The rule of the policy that opens the web. */
function webRule(rendered: Rendered) {
  const rules = policyOf(rendered, "fedway").egress?.filter(({ to }) => to.some(({ ipBlock }) => ipBlock)) ?? [];
  const [rule, ...others] = rules;
  if (!rule || others.length > 0) throw new Error(`${rules.length} rules have address ranges`);
  return rule;
}

/** First and last address of a range, as a number of 32 or 128 bits. */
interface Span {
  readonly first: bigint;
  readonly last: bigint;
}

type Kind = "ipv4" | "ipv6";
const widths = { ipv4: 32n, ipv6: 128n } as const;

const toNumber = (address: ipaddr.IPv4 | ipaddr.IPv6): bigint =>
  BigInt(`0x${address.toByteArray().reduce((hex, byte) => hex + byte.toString(16).padStart(2, "0"), "")}`);

function toAddress(value: bigint, kind: Kind): string {
  const hex = value.toString(16).padStart(Number(widths[kind] / 4n), "0");
  return ipaddr.fromByteArray((hex.match(/../g) ?? []).map((byte) => Number.parseInt(byte, 16))).toString();
}

function spanOf(address: ipaddr.IPv4 | ipaddr.IPv6, bits: number): Span {
  const size = 1n << (widths[address.kind() as Kind] - BigInt(bits));
  const first = (toNumber(address) / size) * size;
  return { first, last: first + size - 1n };
}

const parseSpan = (cidr: string): Span => spanOf(...ipaddr.parseCIDR(cidr));

/** All ranges that ipaddr.js, on whose table the guard rests, has names for. */
function namedSpans(kind: Kind): readonly Span[] {
  const example = ipaddr.parse(kind === "ipv4" ? "192.0.2.1" : "2001:db8::1");
  const { SpecialRanges } = Object.getPrototypeOf(example) as {
    SpecialRanges: Readonly<Record<string, readonly unknown[]>>;
  };
  const pairs = Object.values(SpecialRanges).flatMap((ranges) => (Array.isArray(ranges[0]) ? ranges : [ranges]));
  return pairs.map((pair) => spanOf(...(pair as [ipaddr.IPv4 | ipaddr.IPv6, number])));
}

describe("the addresses that pods may reach on the web", () => {
  let blocks: readonly Block[];
  beforeAll(() => {
    blocks = webRule(renderOverlay("production")).to.flatMap(({ ipBlock }) => ipBlock ?? []);
  });

  const blockOf = (kind: Kind): Block => {
    const found = blocks.filter(({ cidr }) => ipaddr.parseCIDR(cidr)[0].kind() === kind);
    expect(found.length).toBe(1);
    return found[0] as Block;
  };

  // Both sides are constant between two borders of their ranges, so agreeing beside every border is agreeing everywhere.
  it.each(["ipv4", "ipv6"] as const)("are those that the address guard dials (%s)", (kind) => {
    const { cidr, except = [] } = blockOf(kind);
    const whole = parseSpan(cidr);
    const holes = except.map(parseSpan);
    const isWithin = (value: bigint, { first, last }: Span): boolean => value >= first && value <= last;
    const policyAllows = (value: bigint): boolean =>
      isWithin(value, whole) && !holes.some((hole) => isWithin(value, hole));
    const guard = createAddressGuard();
    const end = (1n << widths[kind]) - 1n;
    const borders = [whole, ...holes, ...namedSpans(kind), { first: 0n, last: end }];
    const values = new Set(borders.flatMap(({ first, last }) => [first - 1n, first, last, last + 1n]));
    const tried = [...values].filter((value) => value >= 0n && value <= end);
    const allowed = tried.filter((value) => guard.allows(toAddress(value, kind), ""));
    const differing = tried.filter((value) => policyAllows(value) !== guard.allows(toAddress(value, kind), ""));
    expect(differing.map((value) => toAddress(value, kind))).toEqual([]);
    // Both answers occurred.
    expect(allowed.length).toBeGreaterThan(5);
    expect(tried.length - allowed.length).toBeGreaterThan(20);
  });

  it("are given as ranges without spare bits, each hole inside the whole and none inside another", () => {
    for (const { cidr, except = [] } of blocks) {
      const whole = parseSpan(cidr);
      for (const range of [cidr, ...except]) {
        const [address] = ipaddr.parseCIDR(range);
        expect({ range, first: parseSpan(range).first }).toEqual({ range, first: toNumber(address) });
      }
      const holes = except.map(parseSpan).toSorted((a, b) => (a.first < b.first ? -1 : 1));
      expect(holes.every(({ first, last }) => first >= whole.first && last <= whole.last)).toBe(true);
      expect(holes.every(({ first }, at) => at === 0 || first > (holes[at - 1]?.last ?? 0n))).toBe(true);
    }
    expect(blocks.flatMap(({ except = [] }) => except).length).toBeGreaterThan(15);
  });

  it("have the ports of every endpoint of the catalogue", () => {
    const texts = readdirSync(catalog)
      .filter((name) => name.endsWith(".ttl"))
      .map((name) => readFileSync(join(catalog, name), "utf8"));
    const urls = texts.flatMap((text) => [...text.matchAll(/dcat:endpointURL\s+<([^>]+)>/g)].map(([, url]) => url));
    expect(urls.length).toBeGreaterThan(70);
    const ports = urls.map((url) => {
      const { port, protocol } = new URL(url ?? "");
      return port === "" ? { "http:": 80, "https:": 443 }[protocol] : Number(port);
    });
    const open = webRule(renderOverlay("production")).ports;
    expect(open).toEqual([
      { protocol: "TCP", port: 80 },
      { protocol: "TCP", port: 443 },
    ]);
    expect(ports.filter((port) => !open.some((found) => found.port === port))).toEqual([]);
  });
});

describe.each([
  { overlay: "dev", policies: ["fedway", "fedway-redis", "fedway-to-redis"] },
  {
    overlay: "production",
    policies: ["fedway", "fedway-from-ingress", "fedway-from-prometheus", "fedway-to-redis"],
  },
])("network policies of overlay $overlay", ({ overlay, policies }) => {
  let rendered: Rendered;
  beforeAll(() => {
    rendered = renderOverlay(overlay);
  });

  it("are these", () => {
    const names = rendered.ofKind("NetworkPolicy").map(({ metadata }) => metadata.name);
    expect(names.toSorted()).toEqual(policies);
  });

  it("close every pod in both directions first", () => {
    for (const { labels } of rendered.workloads) {
      const closed = rendered
        .ofKind("NetworkPolicy")
        .map(({ spec }) => spec as Policy)
        .filter(({ podSelector }) => selects(podSelector.matchLabels, labels))
        .flatMap(({ policyTypes }) => policyTypes);
      expect(new Set(closed)).toEqual(new Set(["Ingress", "Egress"]));
    }
    expect(policyOf(rendered, "fedway").ingress).toEqual([]);
  });

  it("let every opening name who and which port", () => {
    const openings = rendered.ofKind("NetworkPolicy").flatMap(({ metadata, spec }) => {
      const { ingress = [], egress = [] } = spec as Policy;
      const { name } = metadata;
      const inward = ingress.map(({ from, ports }) => ({ name, peers: from, ports }));
      return inward.concat(egress.map(({ to, ports }) => ({ name, peers: to, ports })));
    });
    expect(openings.length).toBeGreaterThan(3);
    expect(openings.filter(({ peers, ports }) => peers.length === 0 || ports.length === 0)).toEqual([]);
  });

  it("let names be looked up in the cluster's DNS only", () => {
    const [dns] = policyOf(rendered, "fedway").egress ?? [];
    expect(dns).toEqual({
      to: [
        {
          namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "kube-system" } },
          podSelector: { matchLabels: { "k8s-app": "kube-dns" } },
        },
      ],
      ports: [
        { protocol: "UDP", port: 53 },
        { protocol: "TCP", port: 53 },
      ],
    });
  });

  it("let both roles reach Redis", () => {
    const { podSelector, egress = [] } = policyOf(rendered, "fedway-to-redis");
    const chosen = rendered.workloads.filter(({ labels }) => selects(podSelector.matchLabels, labels));
    expect(chosen.map(({ name }) => name)).toEqual(["fedway-web", "fedway-worker"]);
    expect(egress.map(({ ports }) => ports)).toEqual([[{ protocol: "TCP", port: 6379 }]]);
  });
});

describe("who may come in", () => {
  it("is the ingress controller, to web pods, and Prometheus, to all", () => {
    const rendered = renderOverlay("production");
    const shouldAdmit = (name: string, namespace: string, port: number, workloads: readonly string[]) => {
      const { podSelector, ingress } = policyOf(rendered, name);
      expect(ingress).toEqual([
        {
          from: [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } } }],
          ports: [{ protocol: "TCP", port }],
        },
      ]);
      const chosen = rendered.workloads.filter(({ labels }) => selects(podSelector.matchLabels, labels));
      expect(chosen.map((workload) => workload.name)).toEqual(workloads);
    };
    shouldAdmit("fedway-from-ingress", "ingress-nginx", 3000, ["fedway-web"]);
    shouldAdmit("fedway-from-prometheus", "monitoring", 9464, ["fedway-web", "fedway-worker"]);
  });

  it("is Fedway at Redis, which itself reaches nothing", () => {
    const rendered = renderOverlay("dev");
    const { podSelector, ingress, egress } = policyOf(rendered, "fedway-redis");
    expect(selects(podSelector.matchLabels, rendered.workload("fedway-redis").labels)).toBe(true);
    expect(selects(podSelector.matchLabels, rendered.workload("fedway-web").labels)).toBe(false);
    expect(ingress).toEqual([
      {
        from: [{ podSelector: { matchLabels: { "app.kubernetes.io/name": "fedway" } } }],
        ports: [{ protocol: "TCP", port: 6379 }],
      },
    ]);
    expect(egress).toEqual([]);
  });
});
