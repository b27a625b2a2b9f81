import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { runProgram } from '../run-program.ts';

/** No process has this number: it is above the highest that Linux gives. */
const NOBODY = 4_194_305;
const ROOT = join(import.meta.dirname, '../..');

t.test('a folder that an ended process has left in place of its link breaks no later run', async (t) => {
  const left = join(ROOT, '.tap/in-memory', String(NOBODY));
  mkdirSync(join(left, 'x'), { recursive: true });
  const args = ['--import', pathToFileURL(join(ROOT, 'test/runs/prepared.ts')).href, join(ROOT, 'test/turns.test.ts')];
  const { status, stderr } = await runProgram(process.execPath, args, { cwd: ROOT });
  t.equal(status, 0, stderr);
  t.notOk(existsSync(left), 'and is removed');
});
