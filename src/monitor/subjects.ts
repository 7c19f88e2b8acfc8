import { createHash } from "node:crypto";
import { bareHost, isOwnHost } from "../outbound/address-guard.ts";
import type { IncidentKind, NamedFinding } from "./monitor.ts";

/** Subject of an incident: one endpoint, several endpoints of one host, or this service's network. */
export type IncidentSubject =
  | { readonly kind: "endpoint" }
  | { readonly kind: "network"; readonly partly?: true }
  | { readonly kind: "host"; readonly host: string };

/** Stands for the network in the place of an endpoint's id, which begins with a letter or a digit. */
export const networkSubject = "_network";

/** Stands for the hosts that cannot be reached while others can. */
export const partSubject = "_network.part";

const hostPrefix = "_host.";

/** Stands for a host in the place of an endpoint's id. */
export const hostSubject = (host: string): string => hostPrefix + host;

/** The name of a record is that of a host, of the network or of a finding, not the id of an endpoint. */
export const isShared = (name: string): boolean => name.startsWith("_") || name.includes("~");

/** Names the record of a finding among those of the endpoints. */
export const findingName = ({ endpoint, kind, key }: NamedFinding): string =>
  `${endpoint}~${kind}-${createHash("sha256").update(key).digest("hex").slice(0, 12)}`;

/** The endpoint, or what stands in its place, of the record with this name. */
export function ownerOfRecord(name: string): string {
  const end = name.indexOf("~");
  return end < 0 ? name : name.slice(0, end);
}

/** Name of the record that an incident opened in. */
export const recordOfIncident = (id: string): string => id.slice(id.indexOf(".") + 1);

/** An incident, as far as its kind and subject go. */
interface Named {
  readonly endpoint: string;
  readonly kind?: IncidentKind | undefined;
}

/** The kind of an incident. */
export const kindOf = (incident: Named): IncidentKind =>
  incident.kind ?? (subjectOf(incident).kind === "network" ? "network" : "down");

/** Subject of an incident. */
export function subjectOf({ endpoint }: Named): IncidentSubject {
  if (endpoint === networkSubject) return { kind: "network" };
  if (endpoint === partSubject) return { kind: "network", partly: true };
  if (!endpoint.startsWith(hostPrefix)) return { kind: "endpoint" };
  return { kind: "host", host: endpoint.slice(hostPrefix.length) };
}

const idForm =
  /^[0-9a-z]{9}\.([a-z0-9][a-z0-9._-]{0,63}|_network(?:\.part)?|_host\.[a-z0-9.-]{1,253})(?:~[a-z]+-[0-9a-f]{12})?$/u;

/** The endpoint, host or network that the id of an incident names; undefined when it is no such id. */
export const endpointOfIncident = (id: string): string | undefined => idForm.exec(id)?.[1];

/** A catalogue's entry. */
interface Placed {
  readonly url: string;
}

/** Empty for the operator's own machines, where a host says nothing of what runs on it, and which need no network. */
interface Place {
  readonly host?: string;
  readonly domain?: string;
}

const places = new WeakMap<Placed, Place>();

/** The host of an endpoint; undefined for the operator's own machines. */
export const hostOf = (entry: Placed): string | undefined => placeOf(entry).host;

/**
 * The domain that an endpoint's host was registered under: hosts of one domain often fail together, those of two are
 * unrelated. Undefined for the operator's own machines.
 */
export const domainOf = (entry: Placed): string | undefined => placeOf(entry).domain;

function placeOf(entry: Placed): Place {
  const place = places.get(entry) ?? placeIn(entry.url);
  places.set(entry, place);
  return place;
}

function placeIn(url: string): Place {
  const hostname = URL.parse(url)?.hostname ?? "";
  if (hostname === "" || isOwnHost(hostname)) return {};
  const host = bareHost(hostname).replaceAll(/[^a-z0-9.-]/gu, "-");
  const isAddress = /^[\d.]+$/u.test(host) || hostname.startsWith("[");
  return { host, domain: isAddress ? host : registered(host) };
}

/**
 * The last two labels, or three where the second one is short as in `gov.uk` and `go.jp`. A guess without the list of public
 * suffixes: what it gets wrong makes two domains of one, or one of two, and a verdict takes several.
 */
function registered(host: string): string {
  const labels = host.split(".");
  const [second = "", top = ""] = labels.slice(-2);
  return labels.slice(top.length === 2 && second.length <= 3 ? -3 : -2).join(".");
}
