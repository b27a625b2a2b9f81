import { plainText } from '../plain-text.ts';
import { clock } from '../show.ts';
import type { ReplayRecord } from './run-replay.ts';

/** Whether the service did all that the devices may expect of it. */
export const hasHeld = ({ violations, connectFailures, unconfirmed, events, webhooks }: ReplayRecord): boolean =>
  violations === 0 && connectFailures === 0 && unconfirmed === 0 && (webhooks === null || webhooks === events);

function resultOf(record: ReplayRecord): string {
  if (!hasHeld(record)) return 'NOT OK';
  return record.isStopped ? 'NOT RUN' : 'OK';
}

/** The result of a replay, for people. */
export function replayText(record: ReplayRecord): string {
  const { file, devices, milliseconds, faster, connections, connectFailures, isFull, isStopped } = record;
  const { commands, answers, unconfirmed, unknown, statuses, events, webhooks, complaints, violations, troubles } =
    record;
  const arrived = webhooks === null ? '' : `, ${webhooks} arrived as webhooks`;
  return [
    `${resultOf(record)}  ${plainText(file)}: ${devices} devices, ${clock(milliseconds)}, ${faster} times as fast`,
    '',
    `  Connections  ${connections} made, ${connectFailures} given up`,
    `  Commands     ${commands} received, ${answers} messages about them acknowledged, ${unknown} of operations that the record does not have`,
    `  Status       ${statuses} reports acknowledged`,
    `  Events       ${events} acknowledged${arrived}`,
    `  Promises     ${violations} violations; ${complaints} messages of devices reported as wrong`,
    ...(unconfirmed > 0 ? [`  Messages of devices that were never acknowledged: ${unconfirmed}`] : []),
    ...(isStopped ? ['  The replay was stopped before its end.'] : []),
    ...(isFull ? ['  The record ended at its greatest size; later traffic is missing.'] : []),
    ...troubles.map((text) => `    ${plainText(text)}`),
    '',
  ].join('\n');
}
