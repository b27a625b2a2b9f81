import assert from 'node:assert/strict';
import { configurationOf } from '@lapel/cli/files/read/configuration';
import { readFile } from '@lapel/cli/files/read/read-file';
import { createReferences } from '@lapel/cli/files/read/references';
import { FILES } from '../../files/drifts.ts';
import type { FuzzedParser } from '../parser.ts';
import { WORDS } from './scenarios.ts';

/** The files of `lapel plan`. */
export const files: FuzzedParser = {
  documents: Object.values(FILES).map((text) => Buffer.from(text.replace('DEVICE', '490154203237518'))),
  words: [...WORDS, `\${env:HOME}`, `\${env:`, `$\${`, '}', 'absent: true', 'exclusive: [endpoints]'],
  read(input) {
    const read = (text: string) => readFile({ name: 'a.yaml', path: 'a.yaml', text }, createReferences({ HOME: 'x' }));
    const file = read(input.toString());
    if (Array.isArray(file)) {
      assert.ok(file.length > 0, 'a refusal names a fault');
      return false;
    }
    // JSON is YAML, so what was accepted can be written and read again.
    const again = read(JSON.stringify(file.written));
    assert.ok(!Array.isArray(again), 'it is read a second time');
    assert.deepEqual(again.content, file.content);
    const all = configurationOf([file]);
    if (Array.isArray(all)) assert.ok(all.length > 0, 'a refusal names a fault');
    return !Array.isArray(all);
  },
};
