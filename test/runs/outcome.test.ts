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
});
