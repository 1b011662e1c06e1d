/** `verbatim completion`: prints a shell script that completes commands, options and the values of options. */
import { Argument, type Command, type Option } from 'commander';
import { commandTree, summaryOf, type CommandEntry } from './command-tree.js';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

export function addCompletion(program: Command): void {
  program
    .command('completion')
    .addArgument(new Argument('<shell>', 'whose completion is printed').choices(SHELLS))
    .description('print shell completion: source <(verbatim completion bash), or verbatim completion fish | source')
    .action((shell: Shell) => void process.stdout.write(completionScript(shell, program)));
}

export function completionScript(shell: Shell, program: Command): string {
  const commands = commandTree(program);
  switch (shell) {
    case 'bash':
      return bashScript(commands);
    case 'zsh':
      return zshScript(commands);
    case 'fish':
      return fishScript(commands);
  }
}

/** Completes file names if nothing else fits. */
function bashScript(commands: readonly CommandEntry[]): string {
  const candidates = (entry: CommandEntry): string =>
    `COMPREPLY=($(compgen -W ${quoted(wordsOf(entry))} -- "$current"))`;
  return `# bash completion for verbatim, made by: verbatim completion bash
_verbatim() {
  local current=\${COMP_WORDS[COMP_CWORD]} typed='' index
  for ((index = 1; index < COMP_CWORD; index++)); do
    case "$typed \${COMP_WORDS[index]}" in
      ${patternsOf(commands)}) typed+=" \${COMP_WORDS[index]}" ;;
    esac
  done
  COMPREPLY=()
  case "$typed \${COMP_WORDS[COMP_CWORD - 1]}" in
${linesOf(valuesOf(commands), ({ patterns, values }) => {
  const reply = values.length === 0 ? '' : `COMPREPLY=($(compgen -W ${quoted(values.join(' '))} -- "$current")); `;
  return `    ${patterns}) ${reply}return ;;`;
})}
  esac
  case "$typed" in
${linesOf(commands, (entry) => `    ${quoted(typedOf(entry))}) ${candidates(entry)} ;;`)}
  esac
}
complete -o bashdefault -o default -F _verbatim verbatim
`;
}

function zshScript(commands: readonly CommandEntry[]): string {
  const candidate = ([word, text]: Candidate): string => quoted(`${word}:${text}`);
  return `#compdef verbatim
# zsh completion for verbatim, made by: verbatim completion zsh
_verbatim() {
  local typed='' index
  local -a candidates
  for ((index = 2; index < CURRENT; index++)); do
    case "$typed $words[index]" in
      (${patternsOf(commands)}) typed+=" $words[index]" ;;
    esac
  done
  case "$typed $words[CURRENT-1]" in
${linesOf(valuesOf(commands), ({ patterns, values }) => {
  return `    (${patterns}) ${values.length === 0 ? '_files' : `compadd -- ${values.join(' ')}`}; return ;;`;
})}
  esac
  case "$typed" in
${linesOf(commands, (entry) => {
  return `    (${quoted(typedOf(entry))}) candidates=(${candidatesOf(entry).map(candidate).join(' ')}) ;;`;
})}
  esac
  _describe verbatim candidates || _files
}
if [ "$funcstack[1]" = _verbatim ]; then _verbatim "$@"; else compdef _verbatim verbatim; fi
`;
}

function fishScript(commands: readonly CommandEntry[]): string {
  const lines = commands.flatMap((entry) => {
    const condition = `-n ${quoted(fishCondition(entry))}`;
    const named = entry.below.map((command) => {
      return `complete -c verbatim ${condition} -a ${command.name()} -d ${quoted(summaryOf(described(command)))}`;
    });
    const options = entry.options.map((option) => `complete -c verbatim ${condition} ${fishOption(option)}`);
    // A command that takes files is completed with file names. A command with subcommands is not.
    const noFiles = entry.below.length > 0 ? [`complete -c verbatim ${condition} -f`] : [];
    const words = choicesOf(entry);
    const choices = words.length > 0 ? [`complete -c verbatim ${condition} -f -a ${quoted(words.join(' '))}`] : [];
    return [...noFiles, ...named, ...choices, ...options];
  });
  return ['# fish completion for verbatim, made by: verbatim completion fish', ...lines, ''].join('\n');
}

/** The condition that this command was typed, and none of its subcommands. */
function fishCondition({ path, below }: CommandEntry): string {
  const typed = path.map((name) => `__fish_seen_subcommand_from ${name}`);
  const notBelow = below.map((command) => command.name()).join(' ');
  return [...typed, ...(below.length > 0 ? [`not __fish_seen_subcommand_from ${notBelow}`] : [])].join('; and ');
}

function fishOption(option: Option): string {
  const values = option.argChoices === undefined ? '-r' : `-xa ${quoted(option.argChoices.join(' '))}`;
  return [
    ...(option.short === undefined ? [] : [`-s ${option.short.slice(1)}`]),
    ...(option.long === undefined ? [] : [`-l ${option.long.slice(2)}`]),
    ...(takesValue(option) ? [values] : []),
    `-d ${quoted(summaryOf(option))}`,
  ].join(' ');
}

type Candidate = [word: string, text: string];

function candidatesOf({ below, options }: CommandEntry): Candidate[] {
  const commands = below.map((command): Candidate => [command.name(), summaryOf(described(command))]);
  const named = options.flatMap((option): Candidate[] => {
    return option.long === undefined ? [] : [[option.long, summaryOf(option)]];
  });
  return [...commands, ...named];
}

function wordsOf(entry: CommandEntry): string {
  return candidatesOf(entry)
    .map(([word]) => word)
    .join(' ');
}

/**
 * Everything that takes a value: as `case` patterns, the command with the option or argument, and its allowed values.
 * No allowed values: any value, or a file.
 */
function valuesOf(commands: readonly CommandEntry[]): { patterns: string; values: readonly string[] }[] {
  return commands.flatMap((entry) => [
    ...entry.options.filter(takesValue).map(({ short, long, argChoices: values = [] }) => {
      const names = [short, long].filter((name) => name !== undefined);
      return { patterns: names.map((name) => quoted(`${typedOf(entry)} ${name}`)).join(' | '), values };
    }),
    ...argumentValues(entry),
  ]);
}

function takesValue({ required, optional }: Option): boolean {
  return required || optional;
}

/** The same, for a command whose argument has a fixed set of values. */
function argumentValues(entry: CommandEntry): { patterns: string; values: readonly string[] }[] {
  const values = choicesOf(entry);
  const name = entry.path.at(-1) ?? '';
  return values.length === 0 ? [] : [{ patterns: quoted(`${typedOf(entry)} ${name}`), values }];
}

function choicesOf({ command }: CommandEntry): string[] {
  return command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []);
}

/** The command as the scripts store it: each word with a space before it. */
function typedOf({ path }: CommandEntry): string {
  return path.map((name) => ` ${name}`).join('');
}

function patternsOf(commands: readonly CommandEntry[]): string {
  return commands
    .filter(({ path }) => path.length > 0)
    .map((entry) => quoted(typedOf(entry)))
    .join(' | ');
}

function described(command: Command): { description: string } {
  return { description: command.description() };
}

function linesOf<T>(items: readonly T[], line: (item: T) => string): string {
  return items.map(line).join('\n');
}

/** Quotes for all three shells. No text has a backslash, which fish would treat as an escape. */
function quoted(text: string): string {
  return `'${text.replace(/'/g, `'"'"'`)}'`;
}
