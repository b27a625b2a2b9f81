import type { Micros } from '../../runtime/units.ts';
import type { Figures } from '../figures.ts';
import type { Alarm } from './kinds.ts';
import { counted, lasting, number } from './words.ts';

/** The figures of the whole fleet, with those by which they are judged. */
export interface FleetNow extends Pick<Figures, 'devices' | 'transactions' | 'deliveries' | 'receivers'> {
  usual: Usual;
  /** How many rollouts the service itself has paused. */
  stoppedRollouts: number;
  /** Seconds since the start of the node that started last. */
  startedSeconds: number;
}

/** How many devices are connected at other times. */
export interface Usual {
  /** At this hour of other days: the median of those that are known; null with fewer than two. */
  atThisHour: number | null;
  /** Half an hour ago; null when nothing was recorded. */
  before: number | null;
}

/** Below this share of the usual number of connected devices, and above this number, the fleet is gone. */
const GONE = { share: 0.5, devices: 20 } as const;
/** Seconds after the start, in which devices come back. */
export const COMING_BACK = 300;
/** Seconds after which a command is old, and after which a webhook is late. */
const OLD_COMMAND = 7 * 86_400;
const LATE_WEBHOOK = 120;

/** The connected devices in words: `12 of 301 devices are connected`. */
export const connectedWords = ({ connected, activated }: FleetNow['devices']): string =>
  activated === 0
    ? 'No device is activated'
    : `${connected === 0 ? 'None' : number(connected)} of ${counted(activated, 'device is', connected <= 1 ? 'devices is' : 'devices are')} connected`;

function ofConnected({ devices, usual, startedSeconds }: FleetNow): Omit<Alarm, 'nodeId'>[] {
  const { connected, activated } = devices;
  if (activated === 0 || startedSeconds < COMING_BACK) return [];
  const words = connectedWords(devices);
  const { atThisHour, before } = usual;
  const found = [
    { usually: atThisHour, when: 'at this hour of other days' },
    { usually: before, when: 'half an hour ago' },
  ].find(({ usually }) => usually !== null && usually > GONE.devices && connected < GONE.share * usually);
  if (found)
    return [
      { kind: 'devicesGone', level: 'critical', text: `${words}; ${found.when} it was ${number(found.usually ?? 0)}.` },
    ];
  // A fleet that is switched off at this hour of each day is as it should be.
  return connected === 0 && atThisHour !== 0 ? [{ kind: 'devicesGone', level: 'warning', text: `${words}.` }] : [];
}

/** The conditions that the figures of the whole fleet show. */
export function ofFleet(fleet: FleetNow, now: Micros): Alarm[] {
  const age = (at: Micros | null): number => (at === null ? 0 : (now - at) / 1_000_000);
  const found: Omit<Alarm, 'nodeId'>[] = ofConnected(fleet);
  const { transactions, deliveries, receivers, stoppedRollouts: stopped } = fleet;
  const late = age(deliveries.oldestDueAt);
  if (late > LATE_WEBHOOK)
    found.push({
      kind: 'webhooksLate',
      level: 'critical',
      text: `A webhook should have been sent ${lasting(late)} ago.`,
    });
  if (stopped > 0)
    found.push({
      kind: 'rolloutsStopped',
      level: 'warning',
      text: `${counted(stopped, 'rollout has', 'rollouts have')} stopped, and ${stopped === 1 ? 'waits' : 'wait'} for a decision.`,
    });
  if (receivers.failing > 0)
    found.push({
      kind: 'receivers',
      level: 'warning',
      text: `${counted(receivers.failing, 'receiver of webhooks fails', 'receivers of webhooks fail')}.`,
    });
  const oldest = age(transactions.oldestAt);
  if (oldest > OLD_COMMAND)
    found.push({
      kind: 'commandsOld',
      level: 'info',
      text: `The oldest command without a result has waited for ${lasting(oldest)}.`,
    });
  return found.map((alarm) => ({ ...alarm, nodeId: null }));
}
