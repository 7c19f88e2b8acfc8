import type * as RDF from "@rdfjs/types";
import type { Availability, Incident } from "../monitor/monitor.ts";
import { subjectOf } from "../monitor/subjects.ts";
import { dcterms, dqv, fedway, prov } from "../rdf/vocabularies.ts";
import { QuadWriter } from "../registry/void/quad-writer.ts";
import { iriOf, type Naming } from "./endpoint-graphs.ts";

const iso = (ms: number): string => new Date(ms).toISOString();

/** State and availability of an endpoint (DQV): one measurement a metric and window; what is not known has none. */
export function availabilityQuads({ health, windows }: Availability, naming: Naming): readonly RDF.Quad[] {
  const writer = new QuadWriter();
  const service = iriOf(naming, "endpoint", health.endpoint);
  writer.text(service, fedway.state, health.state);
  if (health.sinceMs !== undefined) writer.time(service, fedway.stateSince, iso(health.sinceMs));
  for (const { window, uptime, p50Ms, p90Ms, probes, firstMs } of windows) {
    const measured = [
      { metric: fedway[`uptime${window}`], value: uptime },
      { metric: fedway[`medianLatency${window}`], value: p50Ms },
      { metric: fedway[`p90Latency${window}`], value: p90Ms },
    ];
    for (const { metric, value } of measured) {
      if (value === undefined) continue;
      const node = `${naming.publicUrl}/api/endpoints/${health.endpoint}/availability#${metric.split("#")[1]}`;
      writer.type(node, dqv.QualityMeasurement);
      writer.link(node, dqv.computedOn, service);
      writer.link(node, dqv.isMeasurementOf, metric);
      writer.number(node, dqv.value, value);
      writer.number(node, fedway.probes, probes);
      if (firstMs !== undefined) writer.time(node, fedway.observedSince, iso(firstMs));
      if (health.last !== undefined) writer.time(node, prov.generatedAtTime, iso(health.last.atMs));
    }
  }
  return writer.take();
}

/** Incidents without their evidence; one of a host is about each of its endpoints, one of the network about none. */
export function incidentQuads(incidents: readonly Incident[], naming: Naming): readonly RDF.Quad[] {
  const writer = new QuadWriter();
  for (const incident of incidents) {
    const { id, endpoint, endpoints = [], startedMs, closedMs, fault } = incident;
    const node = `${naming.publicUrl}/incidents/${id}`;
    const { kind: subject } = subjectOf(incident);
    writer.type(node, fedway.Incident, prov.Activity);
    writer.text(node, dcterms.identifier, id);
    writer.text(node, fedway.incidentKind, "down");
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
