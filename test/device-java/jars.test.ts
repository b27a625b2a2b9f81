import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deviceJars } from '@lapel/tools/scripts/release/device-jars';
import { ROOT } from '@lapel/tools/scripts/release/lockfile';
import t from 'tap';
import { missing } from '../installed.ts';
import { runProgram } from '../run-program.ts';
import { compile, JAVA, sourcesIn } from './java.ts';

t.test('the release has the library for devices as a jar, with its sources', { skip: missing.java() }, async (t) => {
  const folder = t.testdir();
  const [first, second] = [deviceJars(), deviceJars()];
  t.ok(first && second);
  t.same(second, first, 'equal sources give equal bytes');
  const jar = join(folder, 'lapel-device.jar');
  writeFileSync(jar, first?.classes ?? '');
  writeFileSync(join(folder, 'sources.jar'), first?.sources ?? '');
  t.notOk(first?.classes.includes(ROOT), 'it does not say where it was made');
  const listed = async (name: string): Promise<string> =>
    (await runProgram('jar', ['--list', '--file', join(folder, name)])).stdout;
  t.match(await listed('lapel-device.jar'), /^META-INF\/MANIFEST\.MF\n[\s\S]*^lapel\/device\/Device\.class$/m);
  t.match(await listed('sources.jar'), /^lapel\/device\/Device\.java$/m);
  // The program of the cases runs over the jar alone.
  await compile(join(folder, 'tests'), sourcesIn('test'), '--release', '11', '-cp', jar);
  const classes = `${jar}:${join(folder, 'tests')}`;
  const { stdout } = await runProgram('java', ['-cp', classes, 'lapel.device.Cases', join(JAVA, '../cases.json')]);
  t.equal(stdout.match(/"fault":null/g)?.length, stdout.trim().split('\n').length);
});
