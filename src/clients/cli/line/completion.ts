import type { Command } from './command.ts';
import { type Argument, COMMON, type Option } from './options.ts';
import { SERVICE_COMMANDS } from './service-commands.ts';

const SHELLS = ['bash', 'zsh'];

type Shape = Pick<Command, 'name' | 'options' | 'arguments'>;

/** The words that can follow each beginning of a command, and the commands with their options and arguments. */
interface Table {
  words: Map<string, string[]>;
  commands: readonly Shape[];
}

const SERVICE: readonly Shape[] = Object.entries(SERVICE_COMMANDS).map(([name, { options }]) => ({ name, options }));

function tableOf(commands: readonly Shape[]): Table {
  const words = new Map<string, string[]>();
  for (const { name } of commands) {
    const parts = name.split(' ');
    for (const [index, word] of parts.entries()) {
      const beginning = parts.slice(0, index).join(' ');
      words.set(beginning, [...new Set([...(words.get(beginning) ?? []), word])]);
    }
  }
  return { words, commands };
}

const optionsOf = ({ options }: Shape): [string, Option][] => Object.entries({ ...options, ...COMMON });
const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** The possible values of an option or argument, as the scripts spell them: `@file`, or a list. */
const valuesOf = ({ choices, file }: Pick<Argument, 'choices' | 'file'>): string =>
  file ? '@file' : (choices ?? []).join(' ');

/** The `case` branches that both scripts share: for each command its options, their values, and its arguments. */
function cases({ words, commands }: Table): string {
  const beginnings = [...words].map(
    ([beginning, next]) => `    ${quote(beginning)}) words=${quote(next.join(' '))} ;;`,
  );
  const whole = commands.map((command) => {
    const names = optionsOf(command).map(([name]) => `--${name}`);
    const values = optionsOf(command)
      .filter(([, option]) => option.value !== undefined)
      .map(([name, option]) => `      --${name}) values=${quote(valuesOf(option))}; takes=1 ;;`);
    const places = (command.arguments ?? []).map(
      (argument, index) => `      ${index}) place=${quote(valuesOf(argument))} ;;`,
    );
    return `    ${quote(command.name)})
      options=${quote(names.join(' '))}
      case "$before" in
${values.join('\n')}
      esac
      case "$count" in
${places.join('\n')}
      esac ;;`;
  });
  return `${beginnings.join('\n')}
  esac
  case "$path" in
${whole.join('\n')}`.replaceAll(/\n +case "\$(?:before|count)" in\n\n +esac/g, '');
}

/**
 * The options of all commands that take a value. Completion counts the arguments of a command, and must not count these
 * values.
 */
const valued = ({ commands }: Table): string => {
  const names = commands.flatMap((command) => optionsOf(command).filter(([, { value }]) => value !== undefined));
  return [...new Set(names.map(([name]) => `--${name}`))].join('|');
};

/** The command paths and their beginnings (`admin`, `admin application`), as alternatives of a shell pattern. */
const known = ({ words, commands }: Table): string =>
  [...new Set([...words.keys(), ...commands.map(({ name }) => name)])]
    .filter((path) => path !== '')
    .map(quote)
    .join('|');

/**
 * The shell loop over the words before the current one: it finds the path of the command and counts the arguments after
 * it.
 */
const walk = (
  table: Table,
  { words, path, from, until }: Record<'words' | 'path' | 'from' | 'until', string>,
): string =>
  `  for ((index = ${from}; index < ${until}; index += 1)); do
    word="\${${words}[index]}"
    next="\${${path}:+$${path} }$word"
    if [[ $skip ]]; then skip=''; continue; fi
    case "$word" in
    ${valued(table)}) skip=1; continue ;;
    -*) continue ;;
    esac
    case "$next" in
    ${known(table)}) [[ $count == 0 ]] && ${path}="$next" ;;
    *) count=$((count + 1)) ;;
    esac
  done`;

function bash(table: Table): string {
  return `# Completion of lapel for bash: eval "$(lapel completion bash)"
_lapel() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}"
  local path='' words='' options='' values='' place='' takes='' skip='' count=0 word index next
${walk(table, { words: 'COMP_WORDS', path: 'path', from: '1', until: 'COMP_CWORD' })}
  case "$path" in
${cases(table)}
  esac
  local offered=''
  if [[ $takes ]]; then offered="$values"
  elif [[ $current == -* ]]; then offered="$options"
  else offered="\${words:-$place}"
  fi
  local -a how
  how=(-W "$offered")
  if [[ $offered == @file ]]; then
    compopt -o filenames 2>/dev/null
    how=(-f)
  fi
  COMPREPLY=()
  while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen "\${how[@]}" -- "$current")
}
complete -F _lapel lapel
`;
}

function zsh(table: Table): string {
  return `#compdef lapel
# Completion of lapel for zsh: eval "$(lapel completion zsh)", or as a file _lapel in a folder of $fpath
_lapel() {
  local current="\${words[CURRENT]}" before="\${words[CURRENT-1]}"
  local path_='' offered='' options='' values='' place='' takes='' skip='' count=0 word index next
  local -a all; all=("\${words[@]}")
${walk(table, { words: 'all', path: 'path_', from: '2', until: 'CURRENT' })}
  local following=''
  case "$path_" in
${cases(table).replaceAll(' words=', ' following=').replaceAll('case "$path" in', 'case "$path_" in')}
  esac
  if [[ -n $takes ]]; then offered="$values"
  elif [[ $current == -* ]]; then offered="$options"
  else offered="\${following:-$place}"
  fi
  if [[ $offered == @file ]]; then _files
  else compadd -- \${=offered}
  fi
}
if [[ $funcstack[1] == _lapel ]]; then _lapel "$@"; else compdef _lapel lapel; fi
`;
}

/**
 * Makes the command `completion`. `all` returns all commands; it is called only when the command runs, because the list
 * of all commands includes this one.
 */
export const completionOf = (all: () => readonly Command[]): Command => ({
  name: 'completion',
  arguments: [{ name: 'SHELL', choices: SHELLS }],
  summary: 'Prints the completion of this command line for a shell',
  about: `bash: put  eval "$(lapel completion bash)"  into ~/.bashrc

zsh:  put  eval "$(lapel completion zsh)"   into ~/.zshrc, below compinit`,
  options: {},
  examples: ['eval "$(lapel completion bash)"', 'lapel completion zsh > ~/.zfunc/_lapel'],
  async run({ positionals: [shell] }) {
    const table = tableOf([...SERVICE, ...all()]);
    const script = shell === 'zsh' ? zsh(table) : bash(table);
    return { json: { ok: true, shell, script }, text: script };
  },
});
