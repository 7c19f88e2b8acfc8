import { describe, expect, it } from "vitest";
import { incidentFeed, type IncidentFeedInput } from "../../../src/http/atom-feed.ts";
import { incident } from "../../support/monitor-records.ts";

interface Element {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: Element[];
  text: string;
}

/** The document as a tree; throws when it is not well-formed. */
function parse(xml: string): Element {
  const root: Element = { name: "", attributes: {}, children: [], text: "" };
  const open = [root];
  const piece = /<\?[^>]*\?>|<\/([\w:]+)>|<([\w:]+)((?:\s+[\w:]+="[^"<]*")*)\s*(\/?)>|([^<]+)/gy;
  let read = 0;
  for (const [all, closed, opened, attributes = "", empty, text = ""] of xml.matchAll(piece)) {
    read += all.length;
    open.at(-1)!.text += unescaped(text);
    if (opened !== undefined) {
      const pairs = [...attributes.matchAll(/([\w:]+)="([^"]*)"/g)].map(([, key, value]) => [
        key,
        unescaped(value ?? ""),
      ]);
      const element = { name: opened, attributes: Object.fromEntries(pairs), children: [], text: "" };
      open.at(-1)!.children.push(element);
      if (empty === "") open.push(element);
    }
    if (closed !== undefined && open.pop()?.name !== closed) throw new Error(`not well-formed at ${closed}`);
  }
  const [feed] = root.children;
  if (feed === undefined || read < xml.length || open.length > 1) throw new Error("not well-formed");
  return feed;
}

const references: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };

/** The text behind references; throws where one is unknown, or an ampersand is none. */
const unescaped = (text: string): string =>
  text.replaceAll(/&(#x[0-9a-f]+|#\d+|\w+)?;?/giu, (_all, name = "") => {
    const code = name.startsWith("#x") ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
    const value = name.startsWith("#") ? String.fromCodePoint(code) : references[name];
    if (value === undefined) throw new Error(`unknown reference ${name}`);
    return value;
  });

const child = (element: Element, name: string): Element => {
  const found = element.children.filter((one) => one.name === name);
  expect(found.map((one) => one.name)).toEqual([name]);
  return found[0] ?? element;
};
const entriesOf = (feed: Element): readonly Element[] => feed.children.filter(({ name }) => name === "entry");

const closed = { closedMs: Date.parse("2026-03-01T12:05:30Z"), closedBy: "recovered" } as const;
const input: IncidentFeedInput = {
  incidents: [incident(), incident({ id: "places-1", endpoint: "places", ...closed })],
  entries: [{ id: "people", title: "People" }],
  publicUrl: "https://fedway.example",
  path: "/feed.atom",
  updatedMs: Date.parse("2026-01-01T00:00:00Z"),
};

describe("the feed", () => {
  it("has an entry for each opening and closing, newest first", () => {
    const feed = parse(incidentFeed(input));
    expect(feed).toMatchObject({ name: "feed", attributes: { xmlns: "http://www.w3.org/2005/Atom" } });
    expect(child(feed, "updated").text).toBe("2026-03-01T12:05:30.000Z");
    const told = entriesOf(feed).map((entry) => [child(entry, "title").text, child(entry, "updated").text]);
    expect(told).toEqual([
      ["places is up again", "2026-03-01T12:05:30.000Z"],
      ["People is down (timeout)", "2026-03-01T10:30:00.000Z"],
      ["places is down (timeout)", "2026-03-01T10:30:00.000Z"],
    ]);
    const [closing, opening] = entriesOf(feed).map((entry) => child(entry, "summary").text);
    expect(closing).toBe("It answers again. It lasted 2 h 5 min; faults: 2 timeout, 1 http-5xx.");
    expect(opening).toContain("http://people.example/sparql has failed since 2026-03-01T10:00:00.000Z.");
  });

  it("has all that Atom demands (RFC 4287, sections 4.1.1 and 4.1.2)", () => {
    const feed = parse(incidentFeed(input));
    const ids = [feed, ...entriesOf(feed)].map((element) => child(element, "id").text);
    expect(ids).toHaveLength(4);
    expect(new Set(ids).size).toBe(4);
    for (const id of ids) {
      expect(id).toMatch(/^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    }
    expect(child(child(feed, "author"), "name").text).toBe("Fedway");
    const links = feed.children.filter(({ name }) => name === "link").map(({ attributes }) => attributes);
    expect(links).toMatchObject([
      { rel: "self", href: "https://fedway.example/feed.atom" },
      { rel: "alternate", href: "https://fedway.example/status" },
    ]);
    for (const entry of entriesOf(feed)) {
      expect(child(entry, "link").attributes["href"]).toMatch(
        /^https:\/\/fedway\.example\/incidents\/(people|places)-\d$/,
      );
    }
  });

  it("keeps the ids of entries when an incident is closed and a title changes", () => {
    const idsOf = (feed: string): readonly string[] => entriesOf(parse(feed)).map((entry) => child(entry, "id").text);
    const before = idsOf(incidentFeed({ ...input, incidents: [incident()] }));
    const after = idsOf(incidentFeed({ ...input, incidents: [incident(closed)], entries: [] }));
    expect(before).toHaveLength(1);
    expect(after).toHaveLength(2);
    expect(after).toContain(before[0]);
  });

  it("is a feed without incidents, too", () => {
    const feed = parse(incidentFeed({ ...input, incidents: [] }));
    expect(entriesOf(feed)).toEqual([]);
    expect(child(feed, "updated").text).toBe("2026-01-01T00:00:00.000Z");
  });

  it.each([
    ['<script>alert("&amp;")</script>\'', '<script>alert("&amp;")</script>\''],
    ["]]> \u0000 \u0008 \uFFFE \u{1F600}", "]]> \uFFFD \uFFFD \uFFFD \u{1F600}"],
    ["\uD800 alone", "\uFFFD alone"],
  ])("escapes %j", (title, shown) => {
    const xml = incidentFeed({ ...input, entries: [{ id: "people", title }], incidents: [incident()] });
    const [entry] = entriesOf(parse(xml));
    expect(entry && child(entry, "title").text).toBe(`${shown} is down (timeout)`);
    expect(xml).not.toContain("<script");
  });

  it.each([
    ["removed", "It was removed from the catalogue."],
    ["moved", "Its URL has changed."],
    ["maintenance", "Its maintenance has begun."],
  ] as const)("does not say that it is up when it was %s", (closedBy, says) => {
    const [entry] = entriesOf(parse(incidentFeed({ ...input, incidents: [incident({ ...closed, closedBy })] })));
    expect(entry && child(entry, "title").text).toBe("People: the incident is closed");
    expect(entry && child(entry, "summary").text).toContain(says);
  });

  it("is bounded", () => {
    const incidents = Array.from({ length: 500 }, (_, index) => incident({ ...closed, id: `i-${index}` }));
    expect(entriesOf(parse(incidentFeed({ ...input, incidents })))).toHaveLength(200);
  });
});
