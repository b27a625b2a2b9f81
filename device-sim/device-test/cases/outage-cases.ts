import { stillAnswers } from '../asking.ts';
import { Breach } from '../breach.ts';
import { connected, type Stage } from '../stage.ts';
import type { Case } from './case.ts';

/** The pauses after which the judgement is made for the first time, and the last time. */
const FEW = 4;
const MANY = 8;
/**
 * How many times as long as the mean of the first two pauses each of the last two must be. A pause that doubles, with a
 * random half, reaches this with the fourth one.
 */
const GROWTH = 1.3;
/** A shorter time before the first attempt is no pause: many devices try once at once. */
const AT_ONCE_MILLISECONDS = 100;
/** The longest outage. A device that makes few attempts in it has long pauses already. */
const OUTAGE_MILLISECONDS = 60_000;
/** After the outage the device may wait this many times as long as its last pause was. */
const NEXT_PAUSE = 3;

/** The pauses before the attempts at these times, in milliseconds. */
function pausesOf(cutAt: number, knocks: readonly number[]): number[] {
  const [first = 0, ...more] = knocks.map((at, index) => at - (knocks[index - 1] ?? cutAt));
  return knocks.length === 0 ? [] : first < AT_ONCE_MILLISECONDS ? more : [first, ...more];
}

const grow = (pauses: readonly number[]): boolean => {
  const [first = 0, second = 0] = pauses;
  return Math.min(...pauses.slice(-2)) >= (GROWTH * (first + second)) / 2;
};
const shown = (pauses: readonly number[]): string => pauses.map((pause) => `${(pause / 1000).toFixed(2)} s`).join(', ');

async function outage(stage: Stage): Promise<string> {
  const { service, settings, timers } = stage;
  const [cutAt, before] = [timers.now(), service.logins];
  const pauses = (): number[] => pausesOf(cutAt, service.door.knocks);
  service.door.accepts = () => pauses().length >= FEW && (grow(pauses()) || pauses().length >= MANY);
  service.cut();
  await service.until(() => service.logins > before, OUTAGE_MILLISECONDS);
  service.door.accepts = undefined;
  const seen = pauses();
  if (seen.length >= FEW && !grow(seen))
    throw new Breach('reconnect-pauses', 'pauses before the attempts to connect that grow', shown(seen), {
      isTimed: true,
    });
  await connected(stage, { waitMs: settings.waitMs + NEXT_PAUSE * (seen.at(-1) ?? 0) });
  await stillAnswers(stage, 'answers');
  return seen.length > 0 ? `pauses ${shown(seen)}` : 'no attempt within a minute';
}

export const outageCases: Readonly<Record<string, Case>> = {
  outage: {
    about:
      'the service closes each new connection at once, until its pauses have grown (four to eight attempts), or a minute is over',
    rules: ['reconnect-pauses'],
    when: 'last',
    play: outage,
  },
};
