import type { VoidDescription } from "../../registry/descriptions.ts";
import { amountText } from "../../figures.ts";
import { catalogPathBy } from "./catalog-filter.ts";
import { shortName, termLink } from "./figures.ts";
import { type Html, html } from "../../html.ts";
import type { CatalogEntry } from "../../registry/catalog.ts";
import { type EndpointModels, joinsOf, type KnownJoin } from "../../registry/model.ts";
import { iriParts } from "../../rdf/display-text.ts";
import { graphPicture, mostNodes, type PictureEdge } from "./graph-picture.ts";
import { countWithSign } from "../../views/description-view.ts";
import { endpointLink, table } from "./layout.ts";

const countText = (count: Parameters<typeof countWithSign>[0] | undefined): string =>
  count === undefined ? "not counted" : countWithSign(count);

/** The largest classes as boxes, with the properties that lead from one to another; nothing where there is one class only. */
export function schemaPicture({ classPartitions }: VoidDescription): Html {
  const largest = classPartitions
    .toSorted((a, b) => (b.entities?.value ?? -1) - (a.entities?.value ?? -1))
    .slice(0, mostNodes);
  if (largest.length < 2) return html``;
  const shown = new Set(largest.map((each) => each.class));
  const edges = largest.flatMap((each) =>
    each.properties.flatMap(({ property, objectClasses }) =>
      objectClasses
        .filter(({ iri }) => shown.has(iri))
        .map(({ iri, triples }) => ({
          from: each.class,
          to: iri,
          label: shortName(property),
          count: countText(triples),
        })),
    ),
  );
  const nodes = largest.map((each) => ({
    id: each.class,
    title: iriParts(each.class).local || each.class,
    detail: countText(each.entities),
    path: catalogPathBy("class", each.class),
  }));
  return html`<h3>Largest classes and what links them</h3>
${graphPicture({ name: "Classes of this endpoint", nodes, edges })}`;
}

/** A property that leads from the data of one endpoint to that of another. */
export interface FoundLink {
  readonly from: string;
  readonly to: string;
  readonly join: Exclude<KnownJoin, { readonly how: "subjects" }>;
}

/** Links that descriptions have between an endpoint and these others, or all; each with its direction. */
export const linksOf = (models: EndpointModels, id: string, among?: ReadonlySet<string>): readonly FoundLink[] =>
  joinsOf(models, id, among).flatMap((join) => {
    if (join.how === "subjects") return [];
    return [{ from: join.back ? join.with : id, to: join.back ? id : join.with, join }];
  });

/** Links among members, of those that are drawn; measured ones first. */
export function linksAmong(models: EndpointModels, members: readonly CatalogEntry[]): readonly FoundLink[] {
  const ids = new Set(members.slice(0, mostNodes).map(({ id }) => id));
  const found = [...ids].flatMap((id) => linksOf(models, id, ids).filter(({ from }) => from === id));
  return found.toSorted((a, b) => Number(b.join.how === "linkset") - Number(a.join.how === "linkset"));
}

const textOf = ({ join: { triples, how } }: FoundLink): string =>
  how === "linkset" ? countText(triples) : "by descriptions";

/** Members as boxes, with the links between their data. */
export function membersPicture(members: readonly CatalogEntry[], links: readonly FoundLink[]): Html {
  if (links.length === 0) return html`<p class="muted">No link between its members is known.</p>`;
  const linking = new Set(links.flatMap(({ from, to }) => [from, to]));
  const nodes = members.map(({ id, title }) => ({
    id,
    title,
    detail: linking.has(id)
      ? amountText(links.filter(({ from, to }) => [from, to].includes(id)).length, "link")
      : "no known link",
    path: `/endpoints/${id}`,
  }));
  const edges = links.map(
    (each): PictureEdge => ({
      from: each.from,
      to: each.to,
      label: shortName(each.join.property),
      count: textOf(each),
    }),
  );
  return graphPicture({ name: "Links between members", nodes, edges });
}

const mostListed = 20;
/** The links of one endpoint with others, as a table. */
export const linksTable = (links: readonly FoundLink[]): Html =>
  links.length === 0
    ? html`<p class="muted">No link to another endpoint is known.</p>`
    : table({
        name: "Links with other endpoints",
        columns: [
          ["From", ({ from }) => endpointLink(from)],
          ["Property", ({ join: { property } }) => termLink("property", property)],
          ["To", ({ to }) => endpointLink(to)],
          ["#Links", textOf],
        ],
        rows: links.slice(0, mostListed),
      });

const safeIri = /^[^\s<>"{}|\\^`]+$/u;

/** A query that follows a link from one member to another; undefined where no link is known. */
export function linkQuery(links: readonly FoundLink[]) {
  const link = links.find(({ join }) => safeIri.test(join.property));
  if (link === undefined) return undefined;
  const { from, to, join } = link;
  return {
    title: `${shortName(join.property)}: from ${from} to ${to}`,
    query: `SELECT * WHERE {
  SERVICE <${from}> { ?thing <${join.property}> ?other . }
  SERVICE <${to}> { ?other ?about ?value . }
} LIMIT 20`,
  };
}
