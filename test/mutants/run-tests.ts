// Runs the given test files in this process. The tests of a mutant are few and run for a short time.
import '../runs/prepared.ts';
import t from 'tap';

/** Tests of the process that run at a time. */
const AT_ONCE = 3;

t.jobs = AT_ONCE;
for (const file of process.argv.slice(2)) await import(`../${file}`);
