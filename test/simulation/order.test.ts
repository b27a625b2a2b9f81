import type { RunRecord } from '@lapel/device-sim/report/record';
import t from 'tap';
import { excusedVerdicts } from './order.ts';

type Given = Pick<RunRecord, 'troubles' | 'verdicts'>;
const given = (
  troubles: readonly string[],
  counts: Readonly<Record<string, number>>,
  story: readonly string[] = [],
): Given => ({
  troubles,
  verdicts: Object.entries(counts).map(([text, value]) => ({ text, value, story, holds: value === 0 })) as never,
});
const BARE = 'device 1: command 5 came after command 7';
const OWN = '1: the service broke the contract: command 5 came after command 7';
const HELD = new Set([5]);

t.test('only the order of commands that a pause has held back is excused', async (t) => {
  const both = given([BARE, OWN], { 'unordered == 0': 1, 'violations == 0': 1 });
  t.same(excusedVerdicts(both, HELD), ['unordered == 0', 'violations == 0']);
  t.same(excusedVerdicts(both, new Set()), [], 'another command');
  t.same(excusedVerdicts(given([BARE, OWN], { 'unordered == 0': 1, 'violations == 0': 2 }), HELD), ['unordered == 0']);
  t.same(
    excusedVerdicts(
      given(['the cancel of command 5 came, although the command had succeeded'], { 'violations == 0': 1 }),
      HELD,
    ),
    [],
    'another breach',
  );
  t.same(excusedVerdicts(given([`${BARE} (3 times)`], { 'unordered == 0': 3 }), HELD), ['unordered == 0']);
  t.same(excusedVerdicts(given([`${BARE} (3 times)`], { 'unordered == 0': 4 }), HELD), []);
  const story = [BARE, '  +   14.474 s  device    is connected'];
  t.same(excusedVerdicts(given([], { 'unordered == 0': 1 }, story), HELD), ['unordered == 0'], 'a list that is full');
  t.same(excusedVerdicts(given([BARE], { 'unordered == 0': 1 }, story), HELD), ['unordered == 0'], 'told twice');
});

t.test('while a clock is wrong, the time between two stages is excused', async (t) => {
  const early = given(['rollout rol_1: stage 2 began -3.2 s after stage 1, whose soak is 4 s'], {
    'violations == 0': 1,
  });
  t.same(excusedVerdicts(early, HELD, { isTimeRight: false }), ['violations == 0']);
  t.same(excusedVerdicts(early, HELD), [], 'a right clock excuses nothing');
});

t.test('the order of commands that a restore has taken back is judged by the books, and not by devices', async (t) => {
  const none = new Set<number>();
  t.same(excusedVerdicts(given([OWN], { 'violations == 0': 1 }), none, { takenBack: 7 }), ['violations == 0']);
  t.same(excusedVerdicts(given([OWN], { 'violations == 0': 1 }), none, { takenBack: 6 }), [], 'a command of after it');
  t.same(excusedVerdicts(given([BARE], { 'unordered == 0': 1 }), none, { takenBack: 7 }), []);
});
