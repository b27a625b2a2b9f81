// Runs the given test files in this process. The tests of a mutant are few and run for a short time.
import '../runs/prepared.ts';
import { isOneByOne } from '../runs/groups.ts';
import { runFiles } from '../runs/run-files.ts';

const files = process.argv.slice(2);
await runFiles({ oneByOne: files.filter(isOneByOne), atOnce: files.filter((file) => !isOneByOne(file)) });
