import t from 'tap';
import { type ConsumerPlace, judge } from '../../src/core/stream/consumer-state.ts';

const HOUR = 3_600_000_000;
const DAY = 24 * HOUR;
const NOW = 1_000 * DAY;
const KEPT = 30 * DAY;

const stateOf = (place: Partial<ConsumerPlace>, kept = KEPT) =>
  judge({ after: 7, updatedAt: NOW, oldestAt: null, removed: 0, ...place }, NOW, kept).state;
const ago = (micros: number) => NOW - micros;

t.test('a consumer is judged by its oldest event, not by the time since it moved', async (t) => {
  t.equal(stateOf({ updatedAt: ago(20 * DAY) }), 'current', 'nothing waits for it');
  t.equal(stateOf({ oldestAt: ago(HOUR - 1) }), 'current');
  t.equal(stateOf({ oldestAt: ago(HOUR) }), 'behind');
  t.equal(stateOf({ oldestAt: ago(HOUR), updatedAt: ago(90 * DAY) }), 'behind', 'after a long time without events');
  t.equal(stateOf({ oldestAt: NOW + HOUR }), 'current', 'a clock that was put back');
});

t.test('it is graver three days before events are lost, or in the last quarter of their time', async (t) => {
  t.equal(stateOf({ oldestAt: ago(27 * DAY - 1) }), 'behind');
  t.equal(stateOf({ oldestAt: ago(27 * DAY) }), 'ending');
  t.equal(stateOf({ oldestAt: ago(18 * HOUR - 1) }, DAY), 'behind');
  t.equal(stateOf({ oldestAt: ago(18 * HOUR) }, DAY), 'ending');
  t.equal(judge({ after: 7, updatedAt: NOW, oldestAt: ago(28 * DAY), removed: 0 }, NOW, KEPT).leftMicros, 2 * DAY);
});

t.test('what was lost is told as long as somebody moves the consumer', async (t) => {
  t.equal(stateOf({ removed: 7 }), 'current', 'it had handled all that were removed');
  t.equal(stateOf({ removed: 8 }), 'lost');
  t.equal(stateOf({ removed: 8, updatedAt: ago(KEPT) }), 'abandoned');
  t.equal(stateOf({ removed: 8, updatedAt: ago(KEPT), oldestAt: ago(HOUR) }), 'abandoned');
  const begin = { after: 0, removed: 8, updatedAt: ago(KEPT) };
  t.equal(stateOf({ ...begin, oldestAt: ago(HOUR) }), 'behind', 'its events are those that are left');
  t.equal(stateOf({ ...begin, oldestAt: ago(29 * DAY) }), 'abandoned');
});

t.test('where events are kept for ever, none is lost', async (t) => {
  const kept = Number.POSITIVE_INFINITY;
  t.equal(stateOf({ oldestAt: ago(900 * DAY) }, kept), 'behind');
  t.equal(stateOf({ oldestAt: ago(30 * DAY), updatedAt: ago(30 * DAY) }, kept), 'abandoned');
});
