import type { Alarm } from './kinds.ts';
import { COMING_BACK, connectedWords, type FleetNow } from './of-fleet.ts';
import { counted, lasting } from './words.ts';

/**
 * How the service is, in one word and one sentence. `unknown`: nothing can be said yet, which is neither good nor bad.
 */
export interface Verdict {
  state: 'well' | 'attention' | 'critical' | 'unknown';
  text: string;
}

const count = (many: number): string => (many === 1 ? 'One thing' : `${many} things`);

function ofWell(fleet: FleetNow): string {
  const { devices, usual, transactions } = fleet;
  const { atThisHour } = usual;
  const hour = atThisHour !== null && devices.activated > 0 ? `, ${atThisHour} at this hour of other days` : '';
  const waiting = transactions.unfinished;
  const waits =
    waiting === 0 ? 'no command waits' : `${counted(waiting, 'command waits', 'commands wait')} for a device`;
  return `All is well: ${connectedWords(devices).toLowerCase()}${hour}; ${waits}.`;
}

/**
 * The verdict on alarms and on the figures of the fleet, which are null when they could not be looked up. `silentNodes`:
 * the nodes that live and have told nothing of themselves.
 */
export function verdictOf(alarms: readonly Alarm[], fleet: FleetNow | null, silentNodes = 0): Verdict {
  const [critical, warning] = ['critical', 'warning'].map((wanted) => alarms.filter(({ level }) => level === wanted));
  const urgent = critical ?? [];
  if (urgent.length > 0)
    return {
      state: 'critical',
      text: `${count(urgent.length)} must be mended now${warning?.length ? `, and ${count(warning.length).toLowerCase()} soon` : ''}.`,
    };
  if (warning?.length)
    return { state: 'attention', text: `${count(warning.length)} must be looked at; the service does its work.` };
  if (silentNodes > 0)
    return {
      state: 'unknown',
      text: `${count(silentNodes).replace('thing', 'node')} ${silentNodes === 1 ? 'has' : 'have'} not told the state of disk, certificates and work.`,
    };
  if (fleet === null) return { state: 'unknown', text: 'The figures of the fleet could not be looked up.' };
  if (fleet.startedSeconds < COMING_BACK && fleet.devices.connected < fleet.devices.activated)
    return {
      state: 'unknown',
      text: `The service started ${lasting(fleet.startedSeconds)} ago, and devices come back: ${connectedWords(fleet.devices).toLowerCase()}.`,
    };
  return { state: 'well', text: ofWell(fleet) };
}
