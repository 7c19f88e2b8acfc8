import type * as RDF from "@rdfjs/types";
import { Store } from "n3";

/** The triples as an RDF/JS dataset, for libraries that want one. */
export const toDataset = (quads: readonly RDF.Quad[]): RDF.DatasetCore => new Store([...quads]);
