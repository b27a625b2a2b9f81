import { readFile as readBytes, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../show/failure.ts';
import { type Configuration, configurationOf } from './configuration.ts';
import { type FileFault, faultText } from './place.ts';
import { type ReadFile, readFile } from './read-file.ts';
import { createReferences, type References } from './references.ts';

/** The most files of a folder, and the most bytes of each. */
const [MOST_FILES, LARGEST] = [200, 1_048_576];
const IS_YAML = /\.ya?ml$/i;

/** The files of a folder, as they were read. */
export interface ReadFolder {
  configuration: Configuration;
  files: readonly { name: string; text: string }[];
  references: References;
}

function refused(found: readonly FileFault[], { hide }: References): Failure {
  const faults = found.map((one) => ({ ...one, text: hide(one.text) }));
  const [first, ...more] = faults.map(faultText);
  const failure = new Failure(String(first), { advice: more });
  failure.done = { faults };
  return failure;
}

async function namesIn(path: string): Promise<string[]> {
  let found: string[];
  try {
    if (!(await stat(path)).isDirectory()) return [path];
    found = (await readdir(path)).filter((name) => IS_YAML.test(name)).sort();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new Failure(code === 'ENOENT' ? `there is no ${path}` : message, {
      cause: error,
      advice: ['lapel export writes such files from what is there'],
    });
  }
  if (found.length === 0) throw new Failure(`${path} has no file *.yaml`);
  if (found.length > MOST_FILES) throw new Failure(`${path} has more than ${MOST_FILES} files`);
  return found.map((name) => join(path, name));
}

async function textOf(path: string, { isNamed }: { isNamed: boolean }): Promise<string> {
  try {
    const stats = await stat(path);
    // A pipe or a device may have no end, and a read that waits for one cannot be interrupted: only -f may name a pipe.
    if (!stats.isFile() && !(isNamed && stats.isFIFO())) throw new Failure(`${path}: cannot be read: it is not a file`);
    if (stats.size > LARGEST) throw new Failure(`${path}: has more than ${LARGEST} bytes`);
    return await readBytes(path, 'utf8');
  } catch (error) {
    // One file that cannot be read ends the command: without its objects the rest would be another configuration.
    if (error instanceof Failure) throw error;
    throw new Failure(`${path}: cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

/** Reads the configuration of a folder, or of one file. Throws a Failure that names file, line and field of each fault. */
export async function readFolder(path: string, env: Readonly<Record<string, string | undefined>>): Promise<ReadFolder> {
  const references = createReferences(env);
  const files: { name: string; text: string }[] = [];
  for (const name of await namesIn(path)) files.push({ name, text: await textOf(name, { isNamed: name === path }) });
  const read = files.map(({ name, text }) => readFile({ name, path: name, text }, references));
  const faults = read.flatMap((one) => (Array.isArray(one) ? one : []));
  if (faults.length > 0) throw refused(faults, references);
  const configuration = configurationOf(read as ReadFile[]);
  if (Array.isArray(configuration)) throw refused(configuration, references);
  return { configuration, files, references };
}
