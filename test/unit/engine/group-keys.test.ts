import type * as RDF from "@rdfjs/types";
import { expect, it } from "vitest";
import { BindingsFactory } from "@comunica/utils-bindings-factory";
import { dataFactory } from "../../../src/engine/comunica/engine-instance.ts";
import { keyText } from "../../../src/engine/comunica/distinct.ts";

const variables = ["a", "b"].map((name) => dataFactory.variable(name));
const bindings = new BindingsFactory(dataFactory);

/** `-` leaves a variable unbound. */
const textOf = (values: readonly [string, string]): string =>
  keyText(
    bindings.bindings(
      variables.flatMap((variable, index) => {
        const entry: [typeof variable, RDF.Literal] = [variable, dataFactory.literal(values[index] ?? "")];
        return values[index] === "-" ? [] : [entry];
      }),
    ),
    variables,
  );

const shouldDiffer = (one: readonly [string, string], other: readonly [string, string]) =>
  it(`(${one.join(", ")}) and (${other.join(", ")}) are two keys`, () => {
    expect(textOf(one)).not.toBe(textOf(other));
    expect(textOf(one)).toBe(textOf(one));
  });

shouldDiffer(["x", "-"], ["-", "x"]);
shouldDiffer(["-", "-"], ["", "-"]);
shouldDiffer(['x""y', "-"], ["x", "y"]);
shouldDiffer(["x", "y-"], ["x", "y"]);
