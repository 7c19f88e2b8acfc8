import { amountText } from "../../../../figures.ts";
import { wktToGeoJSON } from "betterknown";
import type { Feature, FeatureCollection, Geometry, MultiPolygon, Position } from "geojson";
import { circleMarker, geoJSON, map } from "leaflet";
import { feature } from "topojson-client";
import land from "world-atlas/land-110m.json";
import type { Cells } from "./cells.ts";
import { labelOf, sentence } from "./parts.ts";

const mostPlaces = 5000;
const outline = { color: "#7f97a8", weight: 1, fillColor: "#d6e0e7", fillOpacity: 1, interactive: false };
const mark = { color: "#1f6aab", weight: 2, fillColor: "#2f86d0", fillOpacity: 0.6, radius: 6 };

/** Draws places on an outline of the continents (Natural Earth, 1:110 million): no tiles of another host are loaded. */
export function drawMap(place: HTMLElement, given: Cells): () => void {
  const frame = document.createElement("div");
  frame.className = "map";
  const features = given.rows.slice(0, mostPlaces).flatMap((row): Feature[] => {
    const geometry = geometryOf(row, given);
    return geometry === undefined ? [] : [{ type: "Feature", geometry, properties: { row } }];
  });
  place.append(sentence(countOf(features.length, given.rows.length)), frame);
  const drawn = map(frame, { attributionControl: false, worldCopyJump: true, maxZoom: 12 }).setView([20, 0], 1);
  geoJSON(continents(), { style: outline }).addTo(drawn);
  const collection: FeatureCollection = { type: "FeatureCollection", features };
  const places = geoJSON(collection, {
    style: mark,
    pointToLayer: (_feature, at) => circleMarker(at, mark),
    onEachFeature: ({ properties }, layer) => layer.bindPopup(() => popup(properties["row"], given)),
  }).addTo(drawn);
  if (features.length > 0) drawn.fitBounds(places.getBounds(), { maxZoom: 6, padding: [20, 20] });
  return () => drawn.remove();
}

const countOf = (shown: number, all: number): string =>
  shown === all ? `${amountText(all, "place")}.` : `${shown} of ${all} rows have a place that can be drawn here.`;

/** The outline of all land. */
function continents(): MultiPolygon {
  const shapes = feature(land, land.objects.land).features.map(({ geometry }) => geometry);
  const polygons = shapes.flatMap((shape) => (shape.type === "MultiPolygon" ? shape.coordinates : []));
  return { type: "MultiPolygon", coordinates: polygons.map((rings) => rings.map(unbroken)) };
}

/** Rings that cross 180 degrees go on beyond it, so that no line is drawn across the map. */
function unbroken(ring: readonly Position[]): Position[] {
  let turns = 0;
  const shifted = ring.map(([x = 0, y = 0], at) => {
    const step = x - (ring[at - 1]?.[0] ?? x);
    if (Math.abs(step) > 180) turns -= Math.sign(step);
    return [x + turns * 360, y];
  });
  const middle = shifted.reduce((sum, [x = 0]) => sum + x, 0) / shifted.length;
  return shifted.map(([x = 0, y = 0]) => [x - Math.round(middle / 360) * 360, y]);
}

/** The geometry of a row; undefined when it has none in degrees of longitude and latitude. */
function geometryOf(row: Cells["rows"][number], { places }: Cells): Geometry | undefined {
  if (places === undefined) return undefined;
  if ("wkt" in places) return fromWkt(row[places.wkt]?.value ?? "");
  const [longitude, latitude] = [numberOf(row[places.longitude]), numberOf(row[places.latitude])];
  return isDegrees(longitude, latitude) ? { type: "Point", coordinates: [longitude, latitude] } : undefined;
}

const numberOf = (cell: Cells["rows"][number][string] | undefined): number => Number(cell?.value ?? "none");

const isDegrees = (longitude: number, latitude: number): boolean =>
  Math.abs(longitude) <= 180 && Math.abs(latitude) <= 90;

const longestWkt = 200_000;

/** GeoSPARQL 1.1, 8.5.1: a literal may begin with its reference system, by default CRS84 (longitude first). */
function fromWkt(text: string): Geometry | undefined {
  const [, system = "CRS84", shape = ""] = /^\s*(?:<([^>]*)>\s*)?([\s\S]*)/.exec(text) ?? [];
  if (text.length > longestWkt || !system.endsWith("CRS84")) return undefined;
  try {
    const geometry = wktToGeoJSON(shape) ?? undefined;
    return geometry !== undefined && isOnEarth(geometry) ? geometry : undefined;
  } catch {
    return undefined;
  }
}

function isOnEarth(geometry: Geometry): boolean {
  const bounds = geoJSON(geometry).getBounds();
  if (!bounds.isValid()) return false;
  return isDegrees(bounds.getWest(), bounds.getSouth()) && isDegrees(bounds.getEast(), bounds.getNorth());
}

function popup(row: Cells["rows"][number], { columns, places }: Cells): HTMLElement {
  const list = document.createElement("ul");
  const hidden = places !== undefined && "wkt" in places ? places.wkt : undefined;
  for (const column of columns) {
    if (column === hidden || row[column] === undefined) continue;
    const item = document.createElement("li");
    item.textContent = `${column}: ${labelOf(row[column], 200)}`;
    list.append(item);
  }
  return list;
}
