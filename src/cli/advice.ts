import { resources } from "../views/resources.ts";

const id = String.raw`([\w.~%{}-]*[\w}])`;
const [shown, listed] = [["show"], ["show", "list"]].map((commands) =>
  Object.entries(resources)
    .flatMap(([name, { command = "show" }]) => (commands.includes(command) ? name : []))
    .join("|"),
);

/** Advice for HTTP clients and agents, and the command that does the same; the first that fits counts. */
const commands: readonly (readonly [pattern: string, command: string])[] = [
  [`POST /api/endpoints/${id}/describe`, "fedway describe $1"],
  [`POST /api/endpoints/${id}/capabilities`, "fedway probe $1"],
  [`DELETE /api/runs/${id}`, "fedway runs cancel $1"],
  [String.raw`(?:GET )?/api/endpoints\?property=IRI`, "fedway terms IRI"],
  [`(?:GET )?/api/(${shown})/${id}(?!/)`, "fedway $1 show $2"],
  [`(?:GET )?/api/(${listed})(?![/?])`, "fedway $1 list"],
  ["(?:GET )?/api/status", "fedway status"],
  [`run_query with endpoint=${id} and these IRIs, without`, "fedway query --endpoint $1 with these IRIs, without"],
  ["find_endpoints", "fedway find"],
  ["search_terms", "fedway terms"],
  ["check_query", "fedway check"],
  ["run_query", "fedway query"],
  ["partial=true", "--partial"],
  ["partial=subset", "--subset"],
  ["prune=false", "--no-prune"],
  ["prune=trust", "--prune trust"],
  ["another HOST or PORT", "another --host or --port"],
];

const patterns = commands.map(
  ([pattern, command]) => [new RegExp(`(?<![\\w/])${pattern}\\b(?!/)`, "g"), command] as const,
);

/** Advice for users of the command line: routes, tools and parameters become commands and options. */
export const asCommands = (text: string): string =>
  patterns.reduce((all, [pattern, command]) => all.replaceAll(pattern, command), text);
