import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { outcomeOf } from './outcome.ts';

const TAP = `TAP version 14
# Subtest: a command
    # Subtest: that is cancelled
        ok 1 - is not delivered
        not ok 2 - has a webhook
          ---
          stack: |
            first line
            second line
          diff: "- 1"
          ...
        1..2
    not ok 1 - that is cancelled # time=3ms
    1..1
not ok 1 - a command # time=4ms
# Subtest: a slow one
    ok 1 - begins
    not ok 2 - timeout!
      ---
      expired: a slow one
      ...
    1..2
not ok 2 - a slow one # time=30000ms
ok 3 - a page # SKIP no such browser
not ok 4 - later # TODO
1..4
`;

t.test('a failed assertion is told once, with the titles around it and its details', async (t) => {
  t.same(outcomeOf(TAP), {
    passed: 2,
    failures: [
      'a command > that is cancelled > has a webhook\n  stack:\n    first line\n    second line\n  diff: - 1',
      'a slow one > timeout!\n  expired: a slow one',
    ],
    skipped: ['a page: no such browser'],
  });
  t.same(outcomeOf('TAP version 14\nok 1 - all is well\n1..1\n'), { passed: 1, failures: [], skipped: [] });
});

t.test('a process that ended early is a failure', async (t) => {
  const failures = (tap: string) => outcomeOf(`TAP version 14\n${tap}`).failures;
  t.same(failures('ok 1 - begun\nBail out! no disk\n'), ['Bail out! no disk']);
  for (const early of ['', 'ok 1 - begun\n', '# Subtest: cut\n    ok 1 - begun\n'])
    t.same(failures(early), ['the process ended before its tests']);
  t.same(failures('not ok 1 - fails\nok 2 - begun\n'), ['fails', 'the process ended before its tests']);
});

t.test('tests that hang are named, also beside others and late in a process, and the others go on', async (t) => {
  const hanging = `import t from 'tap';
performance.now = () => 3_600_000; // as late in a process
t.jobs = 2;
const open = setInterval(() => {}, 1_000);
t.teardown(() => clearInterval(open));
t.test('a device that never answers', () => new Promise(() => {}));
t.test('a receiver', (t) => t.test('that never answers', () => new Promise(() => {})));
t.test('another', async (t) => t.pass());
`;
  const file = join(t.testdir({ 'hanging.ts': hanging }), 'hanging.ts');
  const root = join(import.meta.dirname, '../..');
  const prepared = pathToFileURL(join(import.meta.dirname, 'prepared.ts')).href;
  const tap = await new Promise<string>((resolve) => {
    const options = { cwd: root, env: { ...process.env, TAP_TIMEOUT: '1' }, timeout: 60_000 };
    execFile(process.execPath, ['--import', prepared, file], options, (_, stdout) => resolve(stdout));
  });
  const { passed, failures } = outcomeOf(tap);
  t.equal(passed, 1);
  t.match(failures, [/^a device that never answers > timeout!/, /^a receiver > that never answers > timeout!/]);
  t.equal(failures.length, 2);
});
