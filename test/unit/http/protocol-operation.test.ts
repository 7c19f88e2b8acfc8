import { describe, expect, it } from "vitest";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import { searchOf, searchText, type ProtocolMessage, readOperation } from "../../../src/http/protocol-operation.ts";

const get = (search: string): ProtocolMessage => ({ method: "GET", search, body: undefined, maxQueryBytes: 100 });
const form = (body: string | Buffer, search = ""): ProtocolMessage => ({
  ...get(search),
  method: "POST",
  body: { form: "urlencoded", bytes: Buffer.from(body) },
});
const direct = (body: string | Buffer, search = ""): ProtocolMessage => ({
  ...get(search),
  method: "POST",
  body: { form: "direct", bytes: Buffer.from(body) },
});

const shouldRead = (name: string, message: ProtocolMessage, expected: object): void =>
  it(name, () => expect(readOperation(message)).toMatchObject(expected));
const shouldRefuse = (name: string, message: ProtocolMessage, code: string): void =>
  it(name, () => {
    try {
      readOperation(message);
    } catch (error) {
      expect(error instanceof FedwayError && error.code).toBe(code);
      return;
    }
    expect.unreachable();
  });

describe("queries", () => {
  shouldRead("GET", get("query=ASK%20%7B%7D"), { kind: "query", text: "ASK {}", strict: false, partial: false });
  shouldRead("plus is a blank", get("query=ASK+%7B%2B%7D"), { text: "ASK {+}" });
  shouldRead("POST form", form("query=ASK%20%7B%7D"), { text: "ASK {}" });
  shouldRead("POST form with raw UTF-8", form("query=é"), { text: "é" });
  shouldRead("POST direct", direct("ASK {}"), { text: "ASK {}" });
  shouldRead("POST direct with a byte order mark", direct("\u{feff}ASK {}"), { text: "ASK {}" });
  shouldRead("direct bodies are not decoded", direct("ASK+%7B%7D"), { text: "ASK+%7B%7D" });
  shouldRead("equals signs in a value", get("query=a=b=c"), { text: "a=b=c" });
  shouldRead("four-byte characters", get("query=%F0%9F%8D%8E"), { text: "🍎" });
  shouldRead("POST form whose query stands in the URL", form("", "query=ASK{}"), { text: "ASK{}" });
});

describe("datasets", () => {
  const search = "default-graph-uri=urn%3Aa&default-graph-uri=urn%3Ab&named-graph-uri=urn%3Ac";
  const dataset = { defaultGraphs: ["urn:a", "urn:b"], namedGraphs: ["urn:c"] };
  shouldRead("in GET", get(`${search}&query=x`), dataset);
  shouldRead("in a form", form(`${search}&query=x`), dataset);
  shouldRead("in the URL of a form", form("query=x", search), dataset);
  shouldRead("in the URL of a direct query", direct("x", search), dataset);
  shouldRead("in both places", form("query=x&named-graph-uri=urn:d", search), { namedGraphs: ["urn:c", "urn:d"] });
  shouldRead("none", get("query=x"), { defaultGraphs: [], namedGraphs: [] });
  shouldRead("rdflib's name for the default graph", get("query=x&default-graph-uri=urn:x-rdflib:default"), {
    defaultGraphs: [],
  });
  shouldRefuse("what is no IRI", get("query=x&default-graph-uri=a%20graph"), "REQUEST_INVALID");
  shouldRefuse("an IRI with control characters", form("query=x", "named-graph-uri=urn:%00"), "REQUEST_INVALID");
  shouldRefuse("an endless IRI", get(`query=x&named-graph-uri=urn:${"x".repeat(2048)}`), "REQUEST_INVALID");
});

describe("parameters of the answer", () => {
  shouldRead("format", get("query=x&format=csv"), { format: "csv" });
  shouldRead("output", get("query=x&output=xml"), { format: "xml" });
  shouldRead("results", get("query=x&results=json"), { format: "json" });
  shouldRead("format wins over output", get("query=x&output=xml&format=csv"), { format: "csv" });
  shouldRead("what no format is called counts nowhere", get("query=x&format=auto&output=text&results=srj"), {
    format: "srj",
  });
  shouldRead("the first of several", get("query=x&format=xml&format=csv"), { format: "xml" });
  shouldRead("empty graphs are none", get("query=x&default-graph-uri=&named-graph-uri=&default-graph-uri=urn:a"), {
    defaultGraphs: ["urn:a"],
    namedGraphs: [],
  });
  shouldRead("an empty format is none", get("query=x&format="), { format: undefined });
  shouldRead("timeout", get("query=x&timeout=1500"), { timeoutMs: 1500 });
  shouldRead("timeout 0 is no timeout", get("query=x&timeout=0"), { timeoutMs: undefined });
  shouldRead("strict", get("query=x&strict=true"), { strict: true, partial: false });
  shouldRead("partial", get("query=x&partial=1"), { strict: false, partial: true });
  shouldRead("partial without a value", get("query=x&partial"), { partial: true });
  shouldRead("partial=false", get("query=x&partial=false"), { partial: false });
  shouldRead("others are ignored", get("query=x&debug=%FF&callback=f&__proto__=1"), { text: "x" });
  shouldRefuse("a timeout that is no number", get("query=x&timeout=1s"), "REQUEST_INVALID");
  shouldRefuse("a flag that is none", get("query=x&strict=maybe"), "REQUEST_INVALID");
  shouldRefuse("a prune that is none", get("query=x&prune=maybe"), "REQUEST_INVALID");
  it("says what a flag may be", () =>
    expect(() => readOperation(get("query=x&prune=maybe"))).toThrow(
      expect.objectContaining({
        details: expect.objectContaining({ next: "Send prune=true, prune=trust or prune=false, or leave it out." }),
      }),
    ));
  shouldRefuse("one of several that is none", form("query=x&timeout=5", "timeout=soon"), "REQUEST_INVALID");
  shouldRefuse("one beside no query", get("timeout=soon"), "REQUEST_INVALID");
});

describe("no query", () => {
  shouldRead("GET is for the service description", get(""), { kind: "description", format: undefined });
  shouldRead("GET with a format", get("format=jsonld"), { kind: "description", format: "jsonld" });
  shouldRead("HEAD too", { ...get(""), method: "HEAD" }, { kind: "description" });
  shouldRefuse("an empty one", get("query="), "QUERY_MISSING");
  shouldRefuse("a blank one", get("query=+%0A"), "QUERY_MISSING");
  shouldRefuse("an empty form", form(""), "QUERY_MISSING");
  shouldRefuse("an empty direct body", direct(""), "QUERY_MISSING");
  shouldRefuse("POST without a body", { ...get(""), method: "POST" }, "QUERY_MISSING");
});

describe("bad queries", () => {
  shouldRefuse("two in GET", get("query=a&query=b"), "QUERY_REPEATED");
  shouldRefuse("two in a form", form("query=a&query=b"), "QUERY_REPEATED");
  shouldRefuse("one in the URL, one in the form", form("query=a", "query=b"), "QUERY_REPEATED");
  shouldRefuse("one in the URL, one as the body", direct("a", "query=b"), "QUERY_REPEATED");
  shouldRefuse("an update in GET", get("update=CLEAR+ALL"), "UPDATE_REFUSED");
  shouldRefuse("an update in a form", form("update=CLEAR+ALL"), "UPDATE_REFUSED");
  shouldRefuse("an update beside a query", form("query=ASK{}&update=CLEAR+ALL"), "UPDATE_REFUSED");
  shouldRefuse("invalid UTF-8 in percent-encoding", get("query=%FF"), "QUERY_ENCODING");
  shouldRefuse("an overlong form in percent-encoding", get("query=%C0%AF"), "QUERY_ENCODING");
  shouldRefuse("a surrogate in percent-encoding", get("query=%ED%A0%80"), "QUERY_ENCODING");
  shouldRefuse("broken percent-encoding", get("query=%4"), "QUERY_ENCODING");
  shouldRefuse("invalid UTF-8 in a form", form(Buffer.from([...Buffer.from("query="), 0xff])), "QUERY_ENCODING");
  shouldRefuse("UTF-16 with its mark", direct(Buffer.from("\u{feff}ASK {}", "utf16le")), "QUERY_ENCODING");
  shouldRefuse("invalid UTF-8 in a direct body", direct(Buffer.from([0x41, 0xc3])), "QUERY_ENCODING");
  shouldRefuse("one byte too many", get(`query=${"a".repeat(101)}`), "QUERY_TOO_LARGE");
  shouldRefuse("too many bytes, not characters", get(`query=${encodeURIComponent("é".repeat(51))}`), "QUERY_TOO_LARGE");
  shouldRead("just enough bytes", get(`query=${encodeURIComponent("é".repeat(50))}`), { kind: "query" });
});

describe("searchOf", () => {
  it("is empty without a mark", () => expect(searchOf("/sparql")).toBe(""));
  it("ends the path at the first mark", () => expect(searchOf("/sparql?query=?x?")).toBe("query=?x?"));
  it("reads raw UTF-8 bytes", () => expect(searchText(`query=${Buffer.from("é").toString("latin1")}`)).toBe("query=é"));
  it("refuses raw bytes that are no UTF-8", () => expect(() => searchText("query=\u{ff}")).toThrow("not UTF-8"));
});
