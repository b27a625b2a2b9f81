import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import type { Terminal } from '../show/terminal.ts';
import { UsageError } from './usage-error.ts';

/** Reads a text from a file, or from standard input (`-`). Throws a UsageError. */
export async function readText(option: string, path: string, { stdin }: Pick<Terminal, 'stdin'>): Promise<string> {
  try {
    return path === '-' ? await text(stdin) : await readFile(path, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new UsageError(option, code === 'ENOENT' ? `there is no file ${path}` : message);
  }
}

/** Reads JSON from a file, or from standard input (`-`). Throws a UsageError. */
export async function readJson(option: string, path: string, terminal: Terminal): Promise<unknown> {
  const content = await readText(option, path, terminal);
  try {
    return JSON.parse(content) as unknown;
  } catch (error) {
    throw new UsageError(option, `${path} is not valid JSON: ${(error as Error).message}`);
  }
}
