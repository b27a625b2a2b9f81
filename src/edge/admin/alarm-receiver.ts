import { DomainError } from '@lapel/schemas/contracts/errors';
import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import { toUtc } from '../../runtime/clock.ts';
import type { Answer } from '../http/route.ts';
import type { AdminServices } from './services.ts';

type Services = Pick<AdminServices, 'alarmSender'>;

function bodyOf(sender: AdminServices['alarmSender']): SchemaTypes['admin/alarm-receiver'] {
  const { host, isSigned, last } = sender?.state() ?? { host: null, isSigned: false, last: null };
  return { host, isSigned, lastAttempt: last && { ...last, at: toUtc(last.at) } };
}

/** Says who is told of alarms, and how the latest message went. */
export function readAlarmReceiver({ alarmSender }: Services): Answer {
  return { status: 200, body: bodyOf(alarmSender) };
}

/** Sends a test message to the receiver of alarms, and answers how it went. Throws ALARM_RECEIVER_UNSET. */
export async function testAlarmReceiver({ alarmSender }: Services): Promise<Answer> {
  if (!alarmSender) throw new DomainError('ALARM_RECEIVER_UNSET');
  await alarmSender.test();
  return { status: 200, body: bodyOf(alarmSender) };
}
