import type { Entry } from './entry.ts';

/** One line of a story: something that happened to a device, or that it did. */
export interface Note {
  readonly at: number;
  readonly text: string;
}

type Line = readonly [at: number | null, who: string, text: string];

function linesOf(entry: Entry): Line[] {
  const { transactionId, deviceId, operation, number, acceptedAt, requestedAt, result, elsewhere } = entry;
  const action = number === undefined ? '' : ` (action ${number})`;
  const took = Math.round((acceptedAt ?? requestedAt) - requestedAt);
  const code = result?.code ? ` ${result.code}` : '';
  const repeated = entry.attempt > 1 ? `; its last attempt was ${entry.attempt}` : '';
  return [
    [
      acceptedAt,
      'customer',
      `asks ${deviceId} for ${operation}${action}: 201, transaction ${transactionId}, after ${took} ms`,
    ],
    [entry.deliveredAt, 'device', `gets command ${transactionId}${repeated}`],
    ...elsewhere.map((other): Line => [other.at, '!', `device ${other.deviceId} ${other.text}`]),
    [entry.answeredAt, 'device', `answers ${transactionId}: ${entry.answer}`],
    [entry.acknowledgedAt, 'service', `has acknowledged the answer to ${transactionId}`],
    [result?.at ?? null, 'receiver', `gets ${result?.status}${code} of ${transactionId}, webhook ${result?.webhookId}`],
  ];
}

/** The story of some transactions of a device: lines with the time since `began`, the actor, and the event. */
export function tell(
  began: number,
  entries: readonly Entry[],
  notes: readonly Note[],
  more: readonly Note[] = [],
): string[] {
  const lines = [
    ...entries.flatMap(linesOf),
    ...notes.map(({ at, text }): Line => [at, 'device', text]),
    ...more.map(({ at, text }): Line => [at, '!', text]),
  ].filter((line): line is readonly [number, string, string] => line[0] !== null);
  return lines
    .toSorted(([one], [other]) => one - other)
    .map(([at, who, text]) => `+${((at - began) / 1000).toFixed(3).padStart(9)} s  ${who.padEnd(8)}  ${text}`);
}
