import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type ReadScenario, readScenarioFile } from './read-scenario.ts';
import { ScenarioError } from './scenario-error.ts';
import { suggestName } from './suggest-name.ts';

const FOLDER = join(import.meta.dirname, '../scenarios');

/** The names of the included scenarios. */
export const readyNames = (): string[] =>
  readdirSync(FOLDER)
    .filter((file) => file.endsWith('.yaml'))
    .map((file) => file.slice(0, -'.yaml'.length))
    .sort();

/** The file of an included scenario. */
export const readyFile = (name: string): string => join(FOLDER, `${name}.yaml`);

/**
 * Opens an included scenario by its name, or the scenario of a file. A file of the same name takes precedence. Throws a
 * ScenarioError.
 */
export function openScenario(nameOrFile: string): ReadScenario {
  if (existsSync(nameOrFile)) return readScenarioFile(nameOrFile);
  if (readyNames().includes(nameOrFile)) return readScenarioFile(readyFile(nameOrFile));
  const text = `there is no such file, and there is no scenario of this name; ${suggestName(nameOrFile, readyNames())}`;
  throw new ScenarioError(nameOrFile, [{ path: '', line: null, text }]);
}
