import t from 'tap';
import type { Window } from '../../src/core/rollouts/rollout.ts';
import { isOpen } from '../../src/core/rollouts/window.ts';

/** The minutes of a day at which a window opens and closes, in UTC. */
function changes(window: Window, day: string, hours = 24): string[] {
  const found: string[] = [];
  let was = false;
  for (let minute = 0; minute < hours * 60; minute += 1) {
    const at = Date.parse(`${day}T00:00:00Z`) + minute * 60_000;
    const is = isOpen(window, at * 1000);
    if (is !== was) found.push(`${is ? 'opens' : 'closes'} ${new Date(at).toISOString().slice(5, 16)}`);
    was = is;
  }
  return found;
}

t.test('a window follows the local time when clocks are put forward or back', async (t) => {
  const night = { from: '22:00', to: '05:00', timeZone: 'America/New_York' };
  t.same(changes(night, '2026-03-08'), ['opens 03-08T03:00', 'closes 03-08T09:00'], 'an hour is missing');
  t.same(changes(night, '2026-11-01'), ['opens 11-01T02:00', 'closes 11-01T10:00'], 'an hour comes twice');
  const missing = { from: '02:10', to: '02:50', timeZone: 'America/New_York' };
  t.same(changes(missing, '2026-03-08'), [], 'its time does not exist on this day');
  const twice = { from: '02:00', to: '02:30', timeZone: 'Europe/Berlin' };
  t.same(changes(twice, '2026-10-25'), [
    'opens 10-25T00:00',
    'closes 10-25T00:30',
    'opens 10-25T01:00',
    'closes 10-25T01:30',
  ]);
});

t.test('a window that passes midnight belongs to the day on which it begins', async (t) => {
  const saturday = { days: ['sat'], from: '22:00', to: '05:00', timeZone: 'UTC' } as const;
  t.same(changes(saturday, '2026-11-20', 96), ['opens 11-21T22:00', 'closes 11-22T05:00']);
  const whole = { ...saturday, to: '22:00' };
  t.same(changes(whole, '2026-11-20', 96), ['opens 11-21T22:00', 'closes 11-22T22:00'], 'it lasts the whole day');
});
