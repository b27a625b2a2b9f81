import { ALL_COMMANDS } from '@lapel/cli/commands';
import { checkPositionals, readArguments, splitVersions } from '@lapel/cli/line/command-line';
import { readDemoCommand, readServiceCommand, SERVICE_COMMANDS } from '@lapel/cli/line/service-commands';

/** Checks whether the command line accepts a call, as far as this can be checked without a service. */
export function checkCall(call: readonly string[]): string | null {
  const [first = '', ...rest] = call;
  if (Object.hasOwn(SERVICE_COMMANDS, first)) {
    const name = first as keyof typeof SERVICE_COMMANDS;
    if (name === 'demo') readDemoCommand(rest);
    else readServiceCommand(name, rest);
    return null;
  }
  if (first === 'version' && rest.length === 0) return null; // the version of Lapel, not those of a package
  const command = ALL_COMMANDS.find(({ name }) => name.split(' ').every((word, index) => call[index] === word));
  if (!command) return 'no command';
  const given = readArguments(call.slice(command.name.split(' ').length), command.options);
  const names = command.arguments ?? [];
  checkPositionals(splitVersions(given.positionals, names), names);
  for (const name of Object.keys(command.options)) {
    if (command.options[name]?.many) given.list(name);
    else given.text(name);
  }
  return null;
}
