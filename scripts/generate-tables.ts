// Writes what the documents in docs/ say that the code says: settings, errors, metrics, rooms, the overview of the command
// line. test/documents.test.ts fails while they differ.
import { writeFileSync } from 'node:fs';
import { documents } from './tables.ts';

for (const { file, wanted } of documents()) writeFileSync(file, wanted);
