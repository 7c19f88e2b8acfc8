import { type Command, Argument } from "commander";
import { type CliIo, exitCodes, type Running } from "./cli-io.ts";
import { write } from "./output.ts";

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
}

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

function bash(program: Command): string {
  const levels = levelsOf(program, "fedway");
  const commands = levels.slice(1).map(({ path }) => `"${path}"`);
  return `_fedway() {
  local path=fedway words="" word i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="$path \${COMP_WORDS[i]}"
    case "$word" in ${commands.join("|")}) path="$word" ;; esac
  done
  case "$path" in
${levels.map((level) => `    "${level.path}") words="${wordsOf(level)}" ;;`).join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
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
    const options = command.options.map(({ long = "--", short, description }) => {
      const letter = short === undefined ? "" : ` -s ${short.slice(1)}`;
      return `${at} -l ${long.slice(2)}${letter} -d ${quoted(description)}`;
    });
    return commands.concat(options);
  });
  return `${lines.join("\n")}\n`;
}

const scripts = { bash, zsh, fish };
