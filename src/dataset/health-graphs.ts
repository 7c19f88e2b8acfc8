import type * as RDF from "@rdfjs/types";
import type { Availability, Incident, WindowSummary } from "../monitor/monitor.ts";
import { kindOf, subjectOf } from "../monitor/subjects.ts";
import { dcterms, dqv, fedway, prov } from "../rdf/vocabularies.ts";
import { QuadWriter } from "../registry/descriptions.ts";
import { iriOf, type Naming } from "./endpoint-graphs.ts";

const iso = (ms: number): string => new Date(ms).toISOString();

/** State and availability of an endpoint (DQV): one measurement a metric and window; unknown ones have none. */
export function availabilityQuads({ health, windows }: Availability, naming: Naming): readonly RDF.Quad[] {
  const writer = new QuadWriter();
  const { endpoint, state, sinceMs, last } = health;
  const service = iriOf(naming, "endpoint", endpoint);
  writer.text(service, fedway.state, state);
  if (sinceMs !== undefined) writer.time(service, fedway.stateSince, iso(sinceMs));
  const { firstMs } = windows.at(-1) ?? {};
  if (firstMs !== undefined) writer.time(service, fedway.observedSince, iso(firstMs));
  for (const window of windows) {
    for (const [metric, value] of measuredIn(window)) {
      if (value === undefined) continue;
      const node = `${naming.publicUrl}/api/endpoints/${endpoint}/availability#${metric.slice(fedway.namespace.length)}`;
      writer.type(node, dqv.QualityMeasurement);
      writer.link(node, dqv.computedOn, service);
      writer.link(node, dqv.isMeasurementOf, metric);
      writer.number(node, dqv.value, value);
      writer.number(node, fedway.probes, window.probes);
      if (last !== undefined) writer.time(node, prov.generatedAtTime, iso(last.atMs));
    }
  }
  return writer.take();
}

/** Uptime of each window; latency of one, as a graph for each of many endpoints is large enough. */
function measuredIn({
  window,
  uptime,
  p50Ms,
  p90Ms,
}: WindowSummary): readonly (readonly [string, number | undefined])[] {
  const latency = [[fedway.medianLatency7d, p50Ms] as const, [fedway.p90Latency7d, p90Ms] as const];
  return [[fedway[`uptime${window}`], uptime], ...(window === "7d" ? latency : [])];
}

/** Incidents without their evidence; one of a host is about each of its endpoints, one of the network about none. */
export function incidentQuads(incidents: readonly Incident[], naming: Naming): readonly RDF.Quad[] {
  const writer = new QuadWriter();
  for (const incident of incidents) {
    const { id, endpoint, endpoints = [], startedMs, closedMs, fault, summary } = incident;
    const node = `${naming.publicUrl}/incidents/${id}`;
    const { kind: subject } = subjectOf(incident);
    writer.type(node, fedway.Incident, prov.Activity);
    writer.text(node, dcterms.identifier, id);
    writer.text(node, dcterms.description, summary);
    writer.text(node, fedway.incidentKind, kindOf(incident));
    writer.text(node, fedway.incidentSubject, subject);
    writer.text(node, fedway.fault, fault);
    writer.time(node, prov.startedAtTime, iso(startedMs));
    if (closedMs !== undefined) writer.time(node, prov.endedAtTime, iso(closedMs));
    for (const each of subject === "endpoint" ? [endpoint] : endpoints) {
      writer.link(node, dcterms.subject, iriOf(naming, "endpoint", each));
    }
  }
  return writer.take();
}
