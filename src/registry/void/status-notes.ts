import { dqv, prov, rdf } from "../../rdf/vocabularies.ts";
import { measured } from "./measured-terms.ts";
import type { QuadWriter } from "./quad-writer.ts";
import type { FactStatus } from "./void-description.ts";

/** Notes how statements are known; statements known alike share one measurement, which keeps documents small. */
export interface StatusNotes {
  add(node: string, predicate: string, known: { readonly status: FactStatus; readonly record: number }): void;
  /** Writes all notes; call once. */
  write(): void;
  /** IRI of the request at a position of the description's records. */
  requestIri(position: number): string;
}

/** The term under which a note names the property it speaks of. */
export const noteSubject = `${rdf.namespace}predicate`;

/** Notes for one document; measurements and requests are named below `base`. */
export function createStatusNotes(writer: QuadWriter, base: string): StatusNotes {
  const nodesByNote = new Map<string, string[]>();
  const requestIri = (position: number): string => `${base}#request-${position + 1}`;
  return {
    requestIri,
    add(node, predicate, { status, record }) {
      const key = `${status} ${record} ${predicate}`;
      const nodes = nodesByNote.get(key);
      if (nodes === undefined) nodesByNote.set(key, [node]);
      else nodes.push(node);
    },
    write() {
      let position = 0;
      for (const [key, nodes] of nodesByNote) {
        const [status = "", record = "", predicate = ""] = key.split(" ");
        position += 1;
        const note = `${base}#measurement-${position}`;
        writer.type(note, dqv.QualityMeasurement);
        writer.link(note, dqv.isMeasurementOf, measured.factStatus);
        writer.link(note, noteSubject, predicate);
        writer.text(note, dqv.value, status);
        writer.link(note, prov.wasGeneratedBy, requestIri(Number(record)));
        for (const node of nodes) writer.link(note, dqv.computedOn, node);
      }
    },
  };
}
