import { describe, expect, it } from "vitest";
import { jsonTerm } from "../../../src/results/json-terms.ts";

const xsd = "http://www.w3.org/2001/XMLSchema#";
const typed = (value: string, type: string) => jsonTerm(`"${value}"^^<${xsd}${type}>`);
const kept = (value: string, type: string) => ({ value, datatype: xsd + type });

describe("terms as JSON values", () => {
  it.each([
    ['"Gonçalo"', "Gonçalo"],
    [String.raw`"two\nlines \"quoted\" \\ @en"`, 'two\nlines "quoted" \\ @en'],
    ['"Gonçalo"@pt', { value: "Gonçalo", language: "pt" }],
    ['"x"@ar--rtl', { value: "x", language: "ar--rtl" }],
    ["<http://x.example/a>", { iri: "http://x.example/a" }],
    ["_:b0", { blank: "b0" }],
    ['<<( <urn:a> <urn:b> "c" )>>', { triple: '<<( <urn:a> <urn:b> "c" )>>' }],
    ['"1"^^<http://x.example/t>', { value: "1", datatype: "http://x.example/t" }],
  ])("%s", (text, expected) => expect(jsonTerm(text)).toEqual(expected));

  it.each([
    ["3", "integer", 3],
    ["-03", "int", -3],
    ["9007199254740991", "nonNegativeInteger", 9_007_199_254_740_991],
    ["0.10", "decimal", 0.1],
    ["123456789012.345", "decimal", 123_456_789_012.345],
    ["1.5E3", "double", 1_500],
    ["0.1", "float", 0.1],
    ["true", "boolean", true],
    ["0", "boolean", false],
  ])("%s of %s is a value", (value, type, expected) => expect(typed(value, type)).toBe(expected));

  it.each([
    ["9007199254740993", "integer"],
    ["1.0", "integer"],
    ["", "integer"],
    [" 1", "integer"],
    ["1234567890.1234567", "decimal"],
    ["1e3", "decimal"],
    ["0x10", "double"],
    ["INF", "double"],
    ["1e400", "double"],
    ["yes", "boolean"],
    ["1902-02-17", "date"],
  ])("%s of %s keeps its text and datatype", (value, type) => expect(typed(value, type)).toEqual(kept(value, type)));
});
