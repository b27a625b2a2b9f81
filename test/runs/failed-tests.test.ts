import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { beginRecord, failedFiles } from './failed-tests.ts';

const outcome = (...failures: string[]) => ({ passed: 1, skipped: [], failures });

t.test('the files of failures are found by their titles', async (t) => {
  const path = join(t.testdir(), 'failed');
  const [name = ''] = Object.keys(beginRecord(path));
  t.same(failedFiles(outcome(), path), []);
  // A process of its own, as that of a group: what it loads begins no test here.
  const { runProgram } = await import('../run-program.ts');
  const module = join(import.meta.dirname, 'failed-tests.ts');
  const program = `import { noteFailed } from ${JSON.stringify(module)};
    for (const file of ['a.test.ts', 'b.test.ts', 'b.test.ts']) noteFailed({ file, title: \`of \${file}\` });`;
  const args = ['--input-type=module-typescript', '--eval', program];
  const { status, stderr } = await runProgram(process.execPath, args, { env: { ...process.env, [name]: path } });
  t.equal(status, 0, stderr);
  t.equal(readFileSync(path, 'utf8').split('\n').length, 4);
  t.same(failedFiles(outcome('of a.test.ts > sqlite > is sent\n  at: x', 'of b.test.ts\n  at: y'), path), [
    'a.test.ts',
    'b.test.ts',
  ]);
  t.equal(failedFiles(outcome('of a.test.ts > is sent', 'an error that nobody caught'), path), undefined);
});
