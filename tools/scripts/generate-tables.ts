// Writes the parts of docs/ that come from the code: settings, errors, metrics, rooms, the overview of the command line.
// test/documents.test.ts fails while they are out of date.
import { writeFileSync } from 'node:fs';
import { documents } from './tables.ts';

for (const { file, wanted } of documents()) writeFileSync(file, wanted);
