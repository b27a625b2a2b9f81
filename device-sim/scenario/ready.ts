import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type ReadScenario, readScenarioFile } from './read-scenario.ts';

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
  const isReady = !existsSync(nameOrFile) && readyNames().includes(nameOrFile);
  return readScenarioFile(isReady ? readyFile(nameOrFile) : nameOrFile);
}
