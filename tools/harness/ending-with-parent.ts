import { existsSync } from 'node:fs';

const SETPRIV = '/usr/bin/setpriv';
/**
 * A command that Linux ends with this process, however this process ends. The promise stays in force in the program that
 * takes the place of `setpriv`, under the same process identifier.
 */
export const endingWithParent = (command: readonly string[]): [string, ...string[]] => {
  const [program = '', ...args] = command;
  return existsSync(SETPRIV) ? [SETPRIV, '--pdeathsig', 'KILL', program, ...args] : [program, ...args];
};
