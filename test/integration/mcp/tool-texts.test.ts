import { estimateTokens } from "../../../src/token-estimate.ts";
import { countTokens } from "gpt-tokenizer";
import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { problemForModel } from "../../../src/agent/problem-for-model.ts";
import { skillText } from "../../../src/agent/skill.ts";
import { toolProfiles } from "../../../src/agent/tool.ts";
import { createHint, type Toolbox } from "../../../src/agent/toolbox.ts";
import type { App } from "../../../src/app.ts";
import { FedwayError, toProblem } from "../../../src/errors/fedway-error.ts";
import { openService } from "../../support/running-service.ts";

// What models are told: how long it is, and that everything it names exists.

const src = fileURLToPath(new URL("../../../src/", import.meta.url));
const sources = globSync("**/*.ts", { cwd: src }).map((file) => ({ file, text: readFileSync(src + file, "utf8") }));

let app: App;
let full: Toolbox;
beforeAll(async () => {
  app = await openService({});
  full = app.toolbox("full");
});
afterAll(() => app?.close());

/** What a client puts before its model. */
const shown = ({ tools }: Toolbox): string =>
  JSON.stringify(tools.map(({ name, description, input }) => ({ name, description, parameters: input })));

const everyText = (box: Toolbox): string => JSON.stringify(box.tools) + skillText(box.hint);

describe("the budget of tool descriptions", () => {
  it.each([
    ["small", 700],
    ["full", 1_000],
    ["builder", 1_000],
    ["paper", 500],
  ] as const)("holds for %s", (profile, most) => {
    const text = shown(app.toolbox(profile));
    const tokens = { measured: countTokens(text), estimated: estimateTokens(text) };
    console.log(`${profile}: ${app.toolbox(profile).tools.length} tools, ${JSON.stringify(tokens)}`);
    expect(tokens.measured).toBeLessThanOrEqual(most);
    // Estimated from above.
    expect(tokens.estimated).toBeLessThanOrEqual(most);
  });

  it("holds for the skill text", () => {
    for (const profile of toolProfiles)
      expect([profile, countTokens(skillText(app.toolbox(profile).hint))]).toEqual([
        profile,
        expect.toSatisfy((tokens) => tokens <= 300),
      ]);
  });
});

const argumentsOf = (box: Toolbox): ReadonlyMap<string, readonly string[]> =>
  new Map(box.callable.map(({ name, input }) => [name, Object.keys(input.properties)]));

describe("feedback", () => {
  it("names only tools and arguments that exist", async () => {
    const withAll = await openService({}, { FEDWAY_ACCEPT_ADAPTERS: "on" });
    const known = argumentsOf(withAll.toolbox("full"));
    await withAll.close();
    const named = sources.flatMap(({ file, text }) =>
      [...text.matchAll(/(?<!\$)\{([a-z]+_[a-z_]+)(?:\.([a-z_]+))?\}/g)].map(([, tool = "", argument]) => ({
        file,
        tool,
        argument,
      })),
    );
    expect(named.length).toBeGreaterThan(15);
    const wrong = named.filter(({ tool, argument }) => {
      const names = known.get(tool);
      return names === undefined || (argument !== undefined && !names.includes(argument));
    });
    expect(wrong).toEqual([]);
  });

  it("asks for no SERVICE but for endpoints that the user names", () => {
    for (const profile of ["full", "small"] as const) {
      const sentences = everyText(app.toolbox(profile)).split(/"|\n/);
      const wrong = sentences.filter(
        (text) => text.includes("SERVICE") && !/without SERVICE|No SERVICE|user names/.test(text),
      );
      expect([profile, wrong]).toEqual([profile, []]);
    }
  });

  it("gives values to arguments that exist only", () => {
    const known = new Set([...argumentsOf(full).values()].flat());
    const given = sources
      .filter(({ file }) => /^(?:agent|diagnosis|mcp)\//.test(file))
      .flatMap(({ file, text }) =>
        [...text.matchAll(/["`][^"`\n]*?[ (]([a-z]+(?:_[a-z]+)*)=(?:\w|\$\{)[^"`\n]*["`]/g)].map(([, name = ""]) => ({
          file,
          name,
        })),
      );
    expect(given.length).toBeGreaterThan(0);
    expect(given.filter(({ name }) => !known.has(name))).toEqual([]);
  });

  it("names tools by a hint, so that those that are switched off vanish", () => {
    const names = [...argumentsOf(full).keys()];
    const own = (file: string, name: string): boolean =>
      /^(?:app\/|cli\/|agent\/tools\/paper-names|agent\/ask\/|http\/(?:(?:ask|session)-routes|pages\/browser\/))/.test(
        file,
      ) || file === `agent/tools/${name.replaceAll("_", "-")}.ts`;
    const bare = sources.flatMap(({ file, text }) => {
      const code = text.replaceAll(/\/\*.*?\*\/|\/\/.*/gs, "");
      return names
        .filter((name) => !own(file, name) && new RegExp(String.raw`(?<!\{)\b${name}\b`).test(code))
        .map((name) => `${file}: ${name}`);
    });
    expect(bare).toEqual([]);
  });

  it("loses every word of a tool that is switched off", async () => {
    for (const { name } of full.tools)
      expect(skillText(createHint(full.tools.filter((tool) => tool.name !== name)))).not.toContain(name);
    const off = ["search_terms", "run_query"];
    const less = await openService({}, { FEDWAY_TOOLS_OFF: off.join(", ") });
    for (const profile of toolProfiles) {
      const text = everyText(less.toolbox(profile));
      expect(off.filter((name) => text.includes(name))).toEqual([]);
    }
    await less.close();
  });

  it("has no routes, headers and settings in what is to be done next", () => {
    const advice = sources.flatMap(({ file, text }) =>
      [...text.matchAll(/\bnext:\s*(?:\n\s*)?(["`])((?:(?!\1).)*)\1/gs)].map(([, , next = ""]) => ({ file, next })),
    );
    expect(advice.length).toBeGreaterThan(100);
    const said = advice
      // What people meet in a browser, in a terminal, or while they start the service.
      .filter(
        ({ file }) =>
          !/^(?:http\/|cli\/|app\b|config\/|store\/|jobs\/|shards\/|workers\/|hosting\/|monitor\/)/.test(file),
      )
      .map(({ file, next }) => ({
        file,
        next: problemForModel(toProblem(new FedwayError("REQUEST_INVALID", "x", { next })), full.hint).next ?? "",
      }));
    const wrong = said.filter(({ next }) =>
      /\/api|\/docs|\/sparql\b|\bGET\b|\bPOST\b|FEDWAY_|Fedway-|maxRows|\{|partial=/.test(
        next.replaceAll(/\$\{[^}]*\}|\{ \?[^}]*\}|\{ \.\.\. \}|\{ <[^}]*\}/g, ""),
      ),
    );
    expect(wrong).toEqual([]);
  });
});
