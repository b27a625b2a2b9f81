import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { among } from './among.ts';
import { type ReadScenario, readScenarioFile } from './read-scenario.ts';
import { ScenarioError } from './scenario-error.ts';

const FOLDER = join(import.meta.dirname, '../scenarios');

/** The scenarios that come with the simulator, by name. */
export const readyNames = (): string[] =>
  readdirSync(FOLDER)
    .filter((file) => file.endsWith('.yaml'))
    .map((file) => file.slice(0, -'.yaml'.length))
    .sort();

/** The file of a ready scenario. */
export const readyFile = (name: string): string => join(FOLDER, `${name}.yaml`);

/** A ready scenario by its name, or one of a file. A file of the same name goes first. Throws a ScenarioError. */
export function openScenario(nameOrFile: string): ReadScenario {
  if (existsSync(nameOrFile)) return readScenarioFile(nameOrFile);
  if (readyNames().includes(nameOrFile)) return readScenarioFile(readyFile(nameOrFile));
  const text = `there is no such file, and there is no scenario of this name; ${among(nameOrFile, readyNames())}`;
  throw new ScenarioError(nameOrFile, [{ path: '', line: null, text }]);
}
