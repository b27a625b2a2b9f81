import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Failure } from '../show/failure.ts';
import type { Terminal } from '../show/terminal.ts';

/** The stored accounts of a profile: an application, an administrator, or both. */
export interface Profile {
  application?: { url: string; applicationId: string; secret: string };
  administration?: { url: string; token: string };
}

export const DEFAULT_PROFILE = 'default';

/** The file of the profiles: `$XDG_CONFIG_HOME/lapel/credentials.json`, else below `~/.config`. */
export function credentialsFile({ env, home }: Terminal): string {
  return join(env['XDG_CONFIG_HOME'] || join(home, '.config'), 'lapel', 'credentials.json');
}

/** Reads all profiles by name; empty when the file does not exist yet. Throws a Failure. */
export async function readProfiles(terminal: Terminal): Promise<Map<string, Profile>> {
  const file = credentialsFile(terminal);
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new Map();
    throw new Failure(`cannot read ${file}: ${(error as Error).message}`, { cause: error });
  }
  try {
    const { profiles } = JSON.parse(text) as { profiles: Record<string, Profile> };
    return new Map(Object.entries(profiles));
  } catch (error) {
    const advice = ['remove it, and run lapel login again'];
    throw new Failure(`${file} was not written by lapel login`, { advice, cause: error });
  }
}

/** Replaces the file as a whole; nobody else on the machine may read it. */
export async function writeProfiles(terminal: Terminal, profiles: ReadonlyMap<string, Profile>): Promise<string> {
  const file = credentialsFile(terminal);
  const unfinished = `${file}.new`;
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await writeFile(unfinished, `${JSON.stringify({ profiles: Object.fromEntries(profiles) }, null, 2)}\n`, {
      mode: 0o600,
    });
    await chmod(unfinished, 0o600); // a left-over file would keep its old mode
    await rename(unfinished, file);
  } catch (error) {
    throw new Failure(`cannot write ${file}: ${(error as Error).message}`, { cause: error });
  }
  return file;
}
