import type { DatabaseEyes } from './database-eyes.ts';
import { PHASES, type Phase } from './phases.ts';
import { DEEDS, SPELLS } from './plan.ts';
import { BEGIN } from './time.ts';

/** The events of people, by their calls. */
const CALLS: readonly (readonly [event: string, method: string, path: RegExp])[] = [
  ['cancel', 'DELETE', /^\/v1\/.*\/transactions\/\d+$/],
  ['resume', 'POST', /\/rollouts\/[^/]+\/resume$/],
  ['approve', 'POST', /\/rollouts\/[^/]+\/approve$/],
  ['new-credential', 'POST', /^\/admin\/v1\/devices\/\d+\/credential$/],
  ['remove-device', 'DELETE', /^\/admin\/v1\/devices\/\d+$/],
  ['move-device', 'PATCH', /^\/admin\/v1\/devices\/\d+$/],
];

/** The events of a call; undefined for a call of everyday life. */
export const eventOfCall = (method: string, path: string): string | undefined =>
  CALLS.find(([, asked, form]) => asked === method && form.test(path))?.[0];

/** All kinds of events that worlds have. */
export const EVENTS: readonly string[] = [
  'restart',
  'kill',
  'freeze',
  'backup',
  'restore',
  ...Object.keys(SPELLS),
  ...Object.keys(DEEDS).filter((deed) => deed !== 'restart'),
  ...CALLS.map(([event]) => event),
];

const QUERY = `SELECT ${Object.values(PHASES)
  .map((rows, place) => `EXISTS (SELECT 1 FROM ${rows}) AS p${place}`)
  .join(', ')}`;
const NAMES = Object.keys(PHASES) as Phase[];

/** How often each event has met each phase, by `event x phase`. */
export type Meetings = Record<string, number>;
export const nameOfMeeting = (event: string, phase: string): string => `${event} x ${phase}`;

/** Notes the phases that a world is in whenever an event happens. */
export function createMeetings(eyes: DatabaseEyes) {
  const seen: Meetings = {};
  return {
    seen,
    /** Whether something is in a phase. */
    isIn: (phase: Phase, at: number): boolean =>
      eyes.rows(`SELECT 1 FROM ${PHASES[phase]} LIMIT 1`, { now: (BEGIN + at) * 1000 }).length > 0,
    note(event: string, at: number): void {
      const [row] = eyes.rows(QUERY, { now: (BEGIN + at) * 1000 });
      if (!row) return;
      NAMES.forEach((phase, place) => {
        if (row[`p${place}`] !== 1) return;
        const name = nameOfMeeting(event, phase);
        seen[name] = (seen[name] ?? 0) + 1;
      });
    },
  };
}

/** A table of all meetings of several worlds, and the pairs that never met. */
export function meetingsText(all: readonly Meetings[]): string {
  const sum = (name: string): number => all.reduce((before, one) => before + (one[name] ?? 0), 0);
  const width = Math.max(...EVENTS.map(({ length }) => length));
  const head = NAMES.map((phase, place) => `  ${String(place + 1).padStart(2)}  ${phase}`).join('\n');
  const columns = NAMES.map((_, place) => String(place + 1).padStart(6)).join('');
  const lines = EVENTS.map((event) => {
    const counts = NAMES.map((phase) => String(sum(nameOfMeeting(event, phase)) || '-').padStart(6));
    return `${event.padEnd(width)}${counts.join('')}`;
  });
  const never = EVENTS.flatMap((event) => NAMES.map((phase) => nameOfMeeting(event, phase))).filter(
    (one) => sum(one) === 0,
  );
  const total = EVENTS.length * NAMES.length;
  const told = never.length === 0 ? '' : `Never met:\n${never.map((one) => `  ${one}`).join('\n')}\n`;
  return `\nMeetings of an event with a phase\n${head}\n\n${' '.repeat(width)}${columns}\n${lines.join('\n')}\n\n${total - never.length} of ${total} pairs have met\n${told}`;
}
