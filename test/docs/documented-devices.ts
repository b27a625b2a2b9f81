import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DEBIAN_PYTHON, missing } from '../installed.ts';

const PAGE = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'devices.md'), 'utf8');

/** The program of the page in a language. */
export function programOf(language: string): string {
  const [, program] = new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'ms').exec(PAGE) ?? [];
  if (program === undefined) throw new Error(`docs/devices.md has no program in ${language}`);
  return program;
}

/** The languages in which docs/devices.md shows a device, with the command that runs it. */
export const DOCUMENTED = [
  { language: 'ts', command: process.execPath, skip: false },
  { language: 'python', command: DEBIAN_PYTHON, skip: missing.paho() },
];
