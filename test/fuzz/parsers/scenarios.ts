import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ReadScenario, readScenario } from '@lapel/device-sim/scenario/read-scenario';
import { ScenarioError } from '@lapel/device-sim/scenario/scenario-error';
import type { FuzzedParser } from '../parser.ts';

const FOLDER = join(import.meta.dirname, '../../../device-sim/scenarios');

/** Words of YAML. */
export const WORDS: readonly string[] = [
  '&a ',
  '*a',
  '<<: *a',
  '- ',
  '? ',
  ': ',
  '{',
  '[',
  '"',
  "'",
  '|\n',
  '>-\n',
  '!!binary ',
  '!!set ',
  '\t',
  '---\n',
  '...\n',
  '%YAML 9\n',
  '__proto__: ',
  '.nan',
  '1e999',
  '0x',
  '\ufeff',
];

/** Scenarios in YAML. */
export const yaml: FuzzedParser = {
  documents: readdirSync(FOLDER).map((name) => readFileSync(join(FOLDER, name))),
  words: WORDS,
  read(input) {
    let read: ReadScenario;
    try {
      read = readScenario(input.toString(), 'fuzzed');
    } catch (error) {
      if (!(error instanceof ScenarioError)) throw error;
      assert.ok(error.faults.length > 0, 'an error names a fault');
      return false;
    }
    // JSON is YAML, so what was accepted can be written and read again.
    assert.deepEqual(readScenario(JSON.stringify(read.file), 'again').scenario, read.scenario);
    return true;
  },
};
