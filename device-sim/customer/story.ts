import { storyLine } from '../show.ts';
import type { Entry } from './entry.ts';

/** One line of a device's events: something that the device did, or that happened to it. */
export interface Note {
  readonly at: number;
  readonly text: string;
  /** The actor; without it the device, or `!` for what a fault is about. */
  readonly who?: string;
}

type Line = readonly [at: number | null, who: string, text: string];

function linesOf(entry: Entry): Line[] {
  const { transactionId, deviceId, operation, number, acceptedAt, cancelledAt, requestedAt, result, elsewhere } = entry;
  const { rolloutId } = entry;
  const action = number === undefined ? '' : ` (action ${number})`;
  const took = Math.round((acceptedAt ?? requestedAt) - requestedAt);
  const code = result?.code ? ` ${result.code}` : '';
  const repeated = entry.attempt > 1 ? `; its last delivery was attempt ${entry.attempt}` : '';
  return [
    rolloutId === null
      ? [
          acceptedAt,
          'customer',
          `asks ${deviceId} for ${operation}${action}: 201, transaction ${transactionId}, after ${took} ms`,
        ]
      : [requestedAt, 'service', `makes transaction ${transactionId} for device ${deviceId}, in rollout ${rolloutId}`],
    [cancelledAt, 'customer', `cancels transaction ${transactionId}: 204`],
    [entry.deliveredAt, 'device', `gets command ${transactionId}${repeated}`],
    ...elsewhere.map((other): Line => [other.at, '!', `device ${other.deviceId} ${other.text}`]),
    [entry.answeredAt, 'device', `answers command ${transactionId}: ${entry.answer}`],
    [entry.acknowledgedAt, 'service', `has acknowledged the answer to command ${transactionId}`],
    [
      result?.at ?? null,
      'receiver',
      `gets the result of transaction ${transactionId}: ${result?.status}${code}, webhook ${result?.webhookId}`,
    ],
  ];
}

/**
 * Tells what happened in some transactions of a device, one event in a line, in the order of time: the time since
 * `began`, the actor, and the event.
 */
export function tell(
  began: number,
  entries: readonly Entry[],
  notes: readonly Note[],
  more: readonly Note[] = [],
): string[] {
  const lines = [
    ...entries.flatMap(linesOf),
    ...notes.map(({ at, text }): Line => [at, 'device', text]),
    ...more.map(({ at, text, who = '!' }): Line => [at, who, text]),
  ].filter((line): line is readonly [number, string, string] => line[0] !== null);
  return lines.toSorted(([one], [other]) => one - other).map(([at, who, text]) => storyLine(at - began, who, text));
}
