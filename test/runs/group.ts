// Runs the tests of groups in this process, one group after another. The arguments name the groups.
import './prepared.ts';
import { filesOf } from './groups.ts';
import { runFiles } from './run-files.ts';

for (const files of process.argv.slice(2).map(filesOf)) await runFiles(files);
