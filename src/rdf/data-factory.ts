import type * as RDF from "@rdfjs/types";
import { DataFactory } from "n3";

/** Makes RDF/JS terms and quads (RDF/JS data model specification). */
export const dataFactory: RDF.DataFactory = DataFactory;
