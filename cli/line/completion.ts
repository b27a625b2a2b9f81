import type { Command } from './command.ts';
import { type Argument, COMMON, type Option } from './options.ts';
import { SERVICE_COMMANDS } from './service-commands.ts';

const SHELLS = ['bash', 'zsh', 'fish'];

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

/** The possible values of an option or argument, as the scripts spell them: `@file`, `@device`, or a list. */
const valuesOf = ({ choices, file, device }: Pick<Argument, 'choices' | 'file' | 'device'>): string =>
  file ? '@file' : device ? '@device' : (choices ?? []).join(' ');

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
  elif [[ $offered == @device ]]; then
    how=(-W "$(lapel device ids "$current" 2>/dev/null </dev/null)")
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
  elif [[ $offered == @device ]]; then compadd -- \${(f)"$(lapel device ids "$current" 2>/dev/null </dev/null)"}
  else compadd -- \${=offered}
  fi
}
if [[ $funcstack[1] == _lapel ]]; then _lapel "$@"; else compdef _lapel lapel; fi
`;
}

const fishQuote = (text: string): string => `'${text.replaceAll(/[\\']/g, '\\$&')}'`;
const fishWords = (words: string): string => words.split(' ').map(fishQuote).join(' ');

/** The `case` branches of the script for fish: like `cases`, in the syntax of fish. */
function fishCases({ words, commands }: Table): string {
  const beginnings = [...words].map(
    ([beginning, next]) => `    case ${fishQuote(beginning)}\n      set offered ${fishWords(next.join(' '))}`,
  );
  const whole = commands.map((command) => {
    const options = optionsOf(command);
    const values = options
      .filter(([, option]) => option.value !== undefined)
      .map(
        ([name, option]) => `        case --${name}\n          set takes 1; set values ${fishWords(valuesOf(option))}`,
      );
    const places = (command.arguments ?? []).map(
      (argument, index) => `        case ${index}\n          set offered ${fishWords(valuesOf(argument))}`,
    );
    const isChoice = (name: string, branches: string[]): string =>
      branches.length === 0 ? '' : `\n      switch $${name}\n${branches.join('\n')}\n      end`;
    return `    case ${fishQuote(command.name)}
      set options ${fishWords(options.map(([name]) => `--${name}`).join(' '))}${isChoice('before', values)}${isChoice('count', places)}`;
  });
  return `  switch "$path"\n${beginnings.join('\n')}\n  end\n  switch "$path"\n${whole.join('\n')}\n  end`;
}

function fish(table: Table): string {
  const names = known(table).replaceAll('|', ' ');
  return `# Completion of lapel for fish: lapel completion fish | source
function __lapel_complete
  set -l all (commandline -opc)
  set -l current (commandline -ct)
  set -l before $all[-1]
  set -l path ''
  set -l skip ''
  set -l count 0
  set -l options
  set -l offered
  set -l values
  set -l takes ''
  for word in $all[2..-1]
    if test -n "$skip"
      set skip ''
      continue
    end
    switch $word
      case ${valued(table).replaceAll('|', ' ')}
        set skip 1
        continue
      case '-*'
        continue
    end
    set -l next (string trim -- "$path $word")
    if contains -- $next ${names}
      test $count = 0; and set path $next
    else
      set count (math $count + 1)
    end
  end
${fishCases(table)}
  if test -n "$takes"
    set offered $values
  else if string match -q -- '-*' $current
    set offered $options
  end
  if test "$offered" = @file
    __fish_complete_path $current
  else if test "$offered" = @device
    lapel device ids $current 2>/dev/null </dev/null
  else
    string match -v -- '' $offered
  end
end
complete -c lapel -f -a '(__lapel_complete)'
`;
}

const SCRIPTS: Readonly<Record<string, (table: Table) => string>> = { bash, zsh, fish };

/** The completion of some client commands, and of those of the service, for a shell of `SHELLS`. */
export const completionScript = (shell: string, commands: readonly Command[]): string =>
  SCRIPTS[shell]!(tableOf([...SERVICE, ...commands]));

/**
 * Makes the command `completion`. `all` returns all commands; it is called only when the command runs, because the list
 * of all commands includes this one.
 */
export const completionOf = (all: () => readonly Command[]): Command => ({
  name: 'completion',
  arguments: [{ name: 'SHELL', choices: SHELLS }],
  summary: 'Prints the completion of this command line for a shell',
  about: `bash: put  eval "$(lapel completion bash)"  into ~/.bashrc

zsh:  put  eval "$(lapel completion zsh)"   into ~/.zshrc, below compinit

fish: put  lapel completion fish | source  into ~/.config/fish/config.fish`,
  options: {},
  examples: ['eval "$(lapel completion bash)"', 'lapel completion zsh > ~/.zfunc/_lapel'],
  async run({ positionals: [shell = ''] }) {
    const script = completionScript(shell, all());
    return { json: { ok: true, shell, script }, text: script };
  },
});
