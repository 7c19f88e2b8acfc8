import { createHash } from "node:crypto";

/** A canned SPARQL JSON answer of the upstream. */
export interface CannedBody {
  /** Path segment at the upstream and catalogue id at Fedway. */
  readonly id: "rows10" | "kb100" | "mb28";
  readonly title: string;
  readonly bytes: Buffer;
  readonly sha256: string;
}

const XSD = "http://www.w3.org/2001/XMLSchema#";

function row(index: number): object {
  return {
    item: { type: "uri", value: `http://example.org/item/${index}` },
    label: { type: "literal", value: `Item number ${index}`, "xml:lang": "en" },
    value: { type: "literal", value: String(index * 7), datatype: `${XSD}integer` },
  };
}

function answer(rows: number): Buffer {
  const bindings = Array.from({ length: rows }, (_, index) => row(index));
  return Buffer.from(JSON.stringify({ head: { vars: ["item", "label", "value"] }, results: { bindings } }));
}

const canned = (id: CannedBody["id"], title: string, rows: number): CannedBody => {
  const bytes = answer(rows);
  return { id, title, bytes, sha256: sha256(bytes) };
};

/** The answers of 10 rows (2 KB), 100 KB and 28 MB. */
export function createBodies(): Readonly<Record<CannedBody["id"], CannedBody>> {
  return {
    rows10: canned("rows10", "10 rows", 10),
    kb100: canned("kb100", "100 KB", 445),
    // A round number of rows would be looked into.
    mb28: canned("mb28", "28 MB", 120_001),
  };
}

export const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");
