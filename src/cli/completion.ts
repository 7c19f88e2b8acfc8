import { type Command, Argument } from "commander";
import { type CliIo, exitCodes, type Running } from "./cli-io.ts";
import { write } from "./output.ts";
import { hasFields, withService } from "./service.ts";

type IdKind = "endpoints" | "federations";

const shells = ["bash", "zsh", "fish"] as const;

/** Adds `completion`: what a shell needs to complete commands and options, made from the commands themselves. */
export function addCompletion(program: Command, running: Running): void {
  program
    .command("completion")
    .description("print what your shell needs to complete commands and options")
    .addArgument(new Argument("<shell>").choices(shells))
    .addHelpText(
      "after",
      "\nFor this shell:\n  bash, zsh  source <(fedway completion bash)   (or zsh)\n  fish       fedway completion fish | source",
    )
    .action(
      running(async (io: CliIo, shell: (typeof shells)[number]) => {
        await write(io.stdout, scripts[shell](program));
        return exitCodes.ok;
      }),
    );
  program
    .command("complete-ids", { hidden: true })
    .addArgument(new Argument("<kind>").choices(["endpoints", "federations"]))
    .action(running(printIds));
}

const idsWithinMs = 1_000;

/** Ids of the running service, else of the catalogue's files and stored changes; none where that takes long or fails. */
async function printIds(io: CliIo, kind: IdKind): Promise<number> {
  const signal = AbortSignal.timeout(idsWithinMs);
  const ids = await knownIds(io, kind, signal).catch(() => []);
  await write(io.stdout, ids.map((id) => `${id}\n`).join(""));
  return exitCodes.ok;
}

async function knownIds(io: CliIo, kind: IdKind, signal: AbortSignal): Promise<readonly string[]> {
  const holder = await io.folderHolder();
  if (holder === undefined) return (await io.catalogIds(signal))[kind];
  if (holder.url === undefined) return [];
  const answer = await withService(io, { url: holder.url }, (service) =>
    service.read<Partial<Record<IdKind, readonly unknown[]>>>(`/api/${kind}?limit=1000`, { signal }, kind),
  );
  return (answer[kind] ?? []).flatMap((each) =>
    hasFields<{ readonly id: string }>(each, "id") && safeId.test(each.id) ? each.id : [],
  );
}

/** Goes into the words of a shell. */
const safeId = /^[\w.-]+$/;

interface Level {
  /** The words of the command, `fedway runs list`. */
  readonly path: string;
  readonly command: Command;
}

const levelsOf = (command: Command, path: string): readonly Level[] => [
  { path, command },
  ...command.commands.filter(isShown).flatMap((each) => levelsOf(each, `${path} ${each.name()}`)),
];

const isShown = (command: Command): boolean => !("_hidden" in command && command._hidden === true);

const wordsOf = ({ command }: Level): string =>
  [
    ...command.commands.filter(isShown).map((each) => each.name()),
    ...command.options.flatMap(({ long }) => long ?? []),
    "--help",
  ].join(" ");

/** Ids that an option or an argument of this name takes. */
const kindOf = (name: string | undefined): IdKind | undefined =>
  name === "endpoint" || name === "federation" ? `${name}s` : undefined;

const idsOf = (kind: IdKind): string => `fedway complete-ids ${kind} 2>/dev/null`;

/** Words after which ids follow. */
const idWords = ({ path, command }: Level): readonly (readonly [IdKind, readonly string[]])[] => {
  const options = command.options.map((option) => [option.attributeName(), [option.short, option.long]] as const);
  const argument = [command.registeredArguments[0]?.name(), [command.name()]] as const;
  return [...options, argument].flatMap(([name, words]) => {
    const kind = kindOf(name);
    return kind === undefined ? [] : [[kind, words.flatMap((word) => (word ? `"${path}:${word}"` : []))] as const];
  });
};

// Not `path`, which zsh takes for its PATH.
function bash(program: Command): string {
  const levels = levelsOf(program, "fedway");
  const commands = levels.slice(1).map(({ path }) => `"${path}"`);
  return `_fedway() {
  local at=fedway words="" word i now="\${COMP_WORDS[COMP_CWORD]}" last="\${COMP_WORDS[COMP_CWORD-1]}"
  [[ "$now" != "=" ]] || now="" # bash makes a word of the = in --endpoint=id
  [[ "$last" != "=" ]] || last="\${COMP_WORDS[COMP_CWORD-2]}"
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="$at \${COMP_WORDS[i]}"
    case "$word" in ${commands.join("|")}) at="$word" ;; esac
  done
  case "$at" in
${levels.map((level) => `    "${level.path}") words="${wordsOf(level)}" ;;`).join("\n")}
  esac
  [[ "$now" == -* ]] || case "$at:$last" in
${levels
  .flatMap(idWords)
  .map(([kind, words]) => `    ${words.join("|")}) words="$(${idsOf(kind)})" ;;`)
  .join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$now"))
}
complete -o default -F _fedway fedway
`;
}

const zsh = (program: Command): string => `autoload -Uz compinit bashcompinit
(( $+functions[compdef] )) || compinit
bashcompinit
${bash(program)}`;

const quoted = (text: string): string => `'${text.replaceAll(/['\\]/g, String.raw`\$&`)}'`;

function fish(program: Command): string {
  const lines = levelsOf(program, "fedway").flatMap(({ path, command }) => {
    const [, ...words] = path.split(" ");
    const below = command.commands.filter(isShown);
    const seen = words.map((word) => `__fish_seen_subcommand_from ${word}`);
    const isOpen =
      below.length > 0 ? [`not __fish_seen_subcommand_from ${below.map((each) => each.name()).join(" ")}`] : [];
    const at = `complete -c fedway -n ${quoted([...seen, ...isOpen].join("; and ") || "true")}`;
    const commands = below.map((each) => `${at} -f -a ${each.name()} -d ${quoted(each.description())}`);
    const options = command.options.map((option) => {
      const { long = "--", short, description } = option;
      const letter = short === undefined ? "" : ` -s ${short.slice(1)}`;
      const kind = kindOf(option.attributeName());
      const ids = kind === undefined ? "" : ` -x -a ${quoted(`(${idsOf(kind)})`)}`;
      return `${at} -l ${long.slice(2)}${letter}${ids} -d ${quoted(description)}`;
    });
    const kind = kindOf(command.registeredArguments[0]?.name());
    const argument = kind === undefined ? [] : [`${at} -f -a ${quoted(`(${idsOf(kind)})`)}`];
    return commands.concat(options, argument);
  });
  return `${lines.join("\n")}\n`;
}

const scripts = { bash, zsh, fish };
