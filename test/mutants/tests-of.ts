import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';

const TESTS = join(import.meta.dirname, '..');

/** The test groups and folders of rooms of src/, the longest path first. Others have the tests of their own name. */
const OF_ROOM: readonly (readonly [room: string, tests: readonly string[]])[] = [
  ['src/core/software', ['software', 'flow', 'starvation']],
  ['src/core/transactions', ['transactions', 'flow', 'api', 'admin']],
  ['src/core/outbox', ['outbox', 'transactions', 'cluster']],
  ['src/core/encryption', ['encryption', 'flow', 'cluster']],
  ['src/core/webhooks/log', ['webhooks', 'admin', 'flow', 'operations']],
  ['src/core/webhooks', ['webhooks', 'flow', 'operations']],
  ['src/core/rollouts', ['rollouts']],
  ['src/core/sessions', ['sessions', 'broker', 'flow', 'removals']],
  ['src/core/selection', ['rollouts', 'fleet', 'api']],
  ['src/core/enrolments', ['enrolment']],
  ['src/core/authorities', ['enrolment']],
  ['src/core/applications', ['applications', 'flow', 'api']],
  ['src/core/devices', ['devices', 'flow', 'enrolment', 'admin']],
  ['src/core/events', ['events', 'flow', 'broker']],
  ['src/core/requests', ['flow']],
  ['src/edge/admin/sign-in', ['people']],
  ['src/edge/admin/sessions', ['admin', 'people', 'entrance', 'console']],
  ['src/edge/admin', ['admin', 'people']],
  ['src/edge/mqtt', ['broker', 'sessions']],
  ['src/edge/feed', ['console', 'api']],
  ['src/edge/pages', ['http', 'docs', 'console']],
  ['src/edge/docs', ['docs']],
  ['src/edge/http', ['http', 'entrance', 'flow', 'api', 'starvation']],
];
const USUAL = ['flow'];
/** These repeat crashes for minutes, or fill disks; a mutant is tried against the others. */
const TOO_LONG = [
  'flow/crash.test.ts',
  'flow/events-crash.test.ts',
  'flow/disk-faults.test.ts',
  'rollouts/crash.test.ts',
];

/** The folders below test/ whose files are tried against a mutant of a file, in this order. */
export function testsOf(file: string): readonly string[] {
  // The rows of each room are removed with the applications that they belong to.
  if (file.endsWith('-clearing.ts')) return ['removals'];
  const known = OF_ROOM.find(([room]) => file.startsWith(`${room}/`));
  if (known) return known[1];
  const [, , room = ''] = file.split('/');
  return existsSync(join(TESTS, room)) ? [room, ...USUAL] : USUAL;
}

export const isTried = (test: string): boolean => !TOO_LONG.includes(test);

const wordsOf = (path: string): string[] =>
  basename(path)
    .split('.')[0]!
    .split('-')
    .map((word) => word.replace(/s$/, ''));

/** The test files whose names share the most words with the file come first, because they probably find its mutant. */
export function nearestFirst(tests: readonly string[], file: string): string[] {
  const words = new Set(wordsOf(file));
  const shared = (test: string): number => wordsOf(test).filter((word) => words.has(word)).length;
  return [...tests].sort((a, b) => shared(b) - shared(a) || (a < b ? -1 : 1));
}
