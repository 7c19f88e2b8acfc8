import type * as RDF from "@rdfjs/types";
import { hash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { GraphUpdate, LiveSource } from "../hosting/store-thread.ts";
import type { MonitorReader } from "../monitor/monitor.ts";
import { dcat, dcterms, fedway, voidVocabulary as v } from "../rdf/vocabularies.ts";
import type { CapabilityService } from "../registry/capabilities.ts";
import type { CatalogEntry, EditableCatalog } from "../registry/catalog.ts";
import type { EndpointModels } from "../registry/model.ts";
import { type DescriptionService, QuadWriter } from "../registry/descriptions.ts";
import { capabilityQuads, documentQuads, iriOf, publishedQuads, voidQuads } from "./endpoint-graphs.ts";
import { graphText } from "./graph-text.ts";
import { availabilityQuads, incidentQuads } from "./health-graphs.ts";
import { vocabularyQuads } from "./vocabulary.ts";

/** Sources of the dataset. */
export interface RegistryKnowledge {
  readonly catalog: Pick<
    EditableCatalog,
    "version" | "entries" | "federations" | "membersOf" | "document" | "published"
  >;
  readonly models: Pick<EndpointModels, "get" | "version">;
  readonly descriptions: Pick<DescriptionService, "get">;
  readonly capabilities: Pick<CapabilityService, "known" | "version">;
  readonly monitor: Pick<MonitorReader, "health" | "availability" | "incidents">;
  readonly publicUrl: string;
  readonly clock: { now(): number };
  /** Triples of all graphs. */
  readonly mostTriples: number;
}

/** Triples of one graph. */
const mostInGraph = 10_000;
/** Availability and incidents are read again when a query comes and they are older. */
const maxAgeMs = 60_000;
const hourMs = 3_600_000;
const mostIncidents = 1_000;

type Quads = readonly RDF.Quad[];

/** One named graph. It is made again only when its state is another one, and written when its text is. */
interface Graph {
  /** Its IRI: the URL of the document of the API that says the same. */
  readonly name: string;
  readonly state: readonly unknown[];
  readonly quads: (room: number) => Quads | Promise<Quads>;
}

/** Version of a graph in the store. */
interface Held {
  readonly state: Graph["state"];
  readonly digest: string;
  readonly triples: number;
  /** It found no room. */
  readonly isLeftOut: boolean;
}

/** All that the registry knows, as named graphs that are looked through for changes when a query comes. */
export function createRegistryGraphs(knowledge: RegistryKnowledge): LiveSource {
  const { clock, catalog, models, capabilities, mostTriples } = knowledge;
  const held = new Map<string, Held>();
  let triples = 0;
  let asOfMs = 0;
  let version = "";

  async function* changed({ name, state, quads }: Graph): AsyncGenerator<GraphUpdate> {
    const before = held.get(name);
    if (before?.state.every((part, at) => part === state[at])) return;
    await nextTurn();
    const room = mostTriples - triples + (before?.triples ?? 0);
    const made = await quads(Math.min(room, mostInGraph));
    const isLeftOut = made.length > room;
    const kept = isLeftOut ? [] : made;
    const text = graphText(kept, name);
    const digest = hash("sha256", text, "base64");
    if (digest !== before?.digest) yield { graph: name, quads: text };
    triples = mostTriples - room + kept.length;
    held.set(name, { state, digest, triples: kept.length, isLeftOut });
  }
  function* removed(graph: string): Generator<GraphUpdate> {
    yield { graph, quads: "" };
    triples -= held.get(graph)?.triples ?? 0;
    held.delete(graph);
  }
  async function* updates(isEmpty: boolean): AsyncGenerator<GraphUpdate> {
    const now = clock.now();
    const versionNow = [catalog.version, models.version, capabilities.version].join(" ");
    if (!isEmpty && versionNow === version && Math.abs(now - asOfMs) < maxAgeMs) return;
    if (isEmpty) {
      held.clear();
      triples = 0;
    }
    const gone = new Set(held.keys());
    for (const graph of graphsOf(knowledge)) {
      gone.delete(graph.name);
      yield* changed(graph);
    }
    const about = aboutDataset(knowledge, held, now);
    gone.delete(about.name);
    for (const graph of gone) yield* removed(graph);
    yield* changed(about);
    version = versionNow;
    asOfMs = now;
  }
  return { kind: "live", updates, asOfMs: () => asOfMs };
}

/** Small graphs of all endpoints first, so that descriptions are what finds no room. */
function* graphsOf(knowledge: RegistryKnowledge): Generator<Graph> {
  const { catalog } = knowledge;
  yield { name: `${knowledge.publicUrl}/registry/vocabulary`, state: ["once"], quads: vocabularyQuads };
  for (const entry of catalog.entries) yield documentGraph("endpoint", entry, knowledge);
  for (const federation of catalog.federations) yield documentGraph("federation", federation, knowledge);
  yield incidentGraph(knowledge);
  for (const entry of catalog.entries) yield* healthGraphs(entry, knowledge);
  for (const entry of catalog.entries) yield* dataGraphs(entry, knowledge);
}

function documentGraph(
  kind: "endpoint" | "federation",
  shown: CatalogEntry | RegistryKnowledge["catalog"]["federations"][number],
  knowledge: RegistryKnowledge,
): Graph {
  const { catalog, publicUrl } = knowledge;
  const members = "members" in shown ? catalog.membersOf(shown).map(({ id }) => iriOf(knowledge, "endpoint", id)) : [];
  const quads = (): Quads => {
    const document = catalog.document(kind, shown.id);
    const writer = new QuadWriter();
    const iri = iriOf(knowledge, kind, shown.id);
    if (kind === "endpoint") writer.link(`${publicUrl}/registry`, dcat.service, iri);
    for (const member of members) writer.link(iri, dcterms.hasPart, member);
    return document === undefined ? [] : [...documentQuads(document, knowledge), ...writer.take()];
  };
  return { name: `${publicUrl}/api/${kind}s/${shown.id}`, state: [shown, members.join(" ")], quads };
}

function incidentGraph({ monitor, publicUrl }: RegistryKnowledge): Graph {
  const quads = async (): Promise<Quads> =>
    incidentQuads(await monitor.incidents({ limit: mostIncidents }), { publicUrl });
  return { name: `${publicUrl}/api/incidents`, state: [{}], quads };
}

function* healthGraphs({ id }: CatalogEntry, knowledge: RegistryKnowledge): Generator<Graph> {
  const { monitor, capabilities, publicUrl, clock } = knowledge;
  const { last, state, sinceMs } = monitor.health(id) ?? {};
  // Windows begin with a full hour, also where nothing is probed any more.
  const hour = Math.floor(clock.now() / hourMs);
  yield {
    name: `${publicUrl}/api/endpoints/${id}/availability`,
    state: [last?.atMs, state, sinceMs, hour],
    async quads() {
      const availability = await monitor.availability(id);
      return availability === undefined ? [] : availabilityQuads(availability, knowledge);
    },
  };
  const found = capabilities.known(id);
  if (found === undefined) return;
  const quads = (): Quads => capabilityQuads(found, iriOf(knowledge, "endpoint", id));
  yield { name: `${publicUrl}/api/endpoints/${id}/capabilities`, state: [found], quads };
}

function* dataGraphs({ id }: CatalogEntry, knowledge: RegistryKnowledge): Generator<Graph> {
  const { catalog, descriptions, models, publicUrl } = knowledge;
  const described = models.get(id)?.described;
  const published = catalog.published.facts(id);
  const name = `${publicUrl}/api/endpoints/${id}`;
  if (described !== undefined) {
    const quads = async (room: number): Promise<Quads> => {
      const description = await descriptions.get(id, { once: true });
      return description === undefined ? [] : voidQuads(description, room, knowledge);
    };
    yield { name: `${name}/void`, state: [described], quads };
  }
  if (published !== undefined) {
    const quads = (room: number): Quads => publishedQuads(published, room, iriOf(knowledge, "endpoint", id));
    yield { name: `${name}/published`, state: [published], quads };
  }
}

/** How old, how large and how whole the dataset is. */
function aboutDataset({ publicUrl }: RegistryKnowledge, held: ReadonlyMap<string, Held>, now: number): Graph {
  const quads = (): Quads => {
    const writer = new QuadWriter();
    const node = `${publicUrl}/registry`;
    const leftOut = [...held].flatMap(([name, graph]) => (graph.isLeftOut ? name : []));
    writer.type(node, dcat.Catalog, v.Dataset);
    writer.text(node, dcterms.title, "Registry of SPARQL endpoints");
    writer.link(node, v.sparqlEndpoint, `${publicUrl}/registry/sparql`);
    writer.time(node, dcterms.modified, new Date(now).toISOString());
    const triples = [...held.values()].reduce((sum, graph) => sum + graph.triples, 0);
    writer.number(node, v.triples, triples);
    if (leftOut.length > 0) writer.text(node, fedway.leftOut, `${leftOut.length} graphs, the first is ${leftOut[0]}`);
    return writer.take();
  };
  return { name: `${publicUrl}/registry`, state: [{}], quads };
}
