import { randomUUID } from 'node:crypto';
import { lstatSync } from 'node:fs';
import { link, mkdir, open, readdir, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { Failure } from '../../show/failure.ts';

/**
 * The file for a secret that the service shows once. Beside it stands a mark from before the request until the secret is
 * on the disk. So the next plan knows a secret that was lost when the apply was interrupted in between.
 */
export interface SecretFile {
  /** As the configuration has it. */
  name: string;
  exists: boolean;
  /** Whether the object was made, and the secret was lost. */
  isLost: boolean;
  /** Makes the mark, then asks for the secret, then writes it. Throws a Failure if the file exists. */
  receive(ask: () => Promise<string>): Promise<void>;
}

/** Writes a file that only its owner may read, and waits for the disk. The file must not exist. */
async function writeNew(path: string, text: string): Promise<void> {
  await using file = await open(path, 'wx', 0o600);
  await file.writeFile(text);
  await file.sync();
}

/** Whether the name is taken, also by a symbolic link that leads nowhere: nothing can be written there. */
const isTaken = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

/** Removes what applies that were killed have left beside the file: nobody would know what these files are. */
async function removeUnfinished(path: string): Promise<void> {
  const begin = `${basename(path)}.`;
  for (const name of await readdir(dirname(path)))
    if (name.startsWith(begin) && UUID.test(name.slice(begin.length)))
      await rm(join(dirname(path), name), { force: true });
}

/** Whether the service has refused the request, so that it has made nothing. */
const isRefused = (error: unknown): boolean =>
  error instanceof Failure && error.refusal !== undefined && error.refusal.status >= 400 && error.refusal.status < 500;

export function openSecretFile(name: string, configuration: string): SecretFile {
  const path = resolve(dirname(configuration), name);
  const mark = `${path}.pending`;
  const exists = isTaken(path);
  return {
    name,
    exists,
    isLost: !exists && isTaken(mark),
    async receive(ask) {
      const unfinished = `${path}.${randomUUID()}`;
      try {
        if (isTaken(path)) throw new Failure(`${path} exists; it is not overwritten`);
        await mkdir(dirname(path), { recursive: true, mode: 0o700 });
        const isFirst = !isTaken(mark);
        if (isFirst) await writeNew(mark, 'The secret of this name is being made by lapel apply.\n');
        await using file = await open(unfinished, 'wx', 0o600); // before it is asked for: a name can be too long
        const secret = await ask().catch(async (error: unknown) => {
          // Else the next plan would believe in a secret that was lost.
          if (isFirst && isRefused(error)) await rm(mark, { force: true });
          throw error;
        });
        await file.writeFile(`${secret}\n`);
        await file.sync();
        await link(unfinished, path); // unlike a rename, this does not replace a file
        await rm(mark, { force: true });
        await removeUnfinished(path);
      } catch (error) {
        if (error instanceof Failure || (error as NodeJS.ErrnoException).syscall === undefined) throw error;
        throw new Failure(`cannot write the secret to ${path}: ${(error as Error).message}`, { cause: error });
      } finally {
        await rm(unfinished, { force: true }).catch(() => undefined);
      }
    },
  };
}
