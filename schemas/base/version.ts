import { readFileSync } from 'node:fs';

/** The name of the command line in its `User-Agent`. */
export const COMMAND_LINE = 'lapel-command-line';

/** The version of Lapel, from its package.json. */
export function ownVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
