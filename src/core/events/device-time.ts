import { isExactNumber } from '@lapel/schemas/base/exact-json';
import { DomainError, type Fault } from '@lapel/schemas/contracts/errors';
import type { Micros } from '../../runtime/units.ts';

const FORM = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:Z|([+-])(\d\d):(\d\d))$/;

/**
 * Reads a date-time of a device or a customer into microseconds since the epoch (the schema common/device-time, which limits
 * the year so that a double holds the value exactly); digits beyond microseconds are cut off. Throws REQUEST_INVALID for a
 * day that its month lacks.
 */
export function fromDeviceTime(text: string, ...loc: string[]): number {
  const [, year, month, day, hour, minute, second, fraction = '', sign, hours, minutes] = FORM.exec(text) ?? [];
  const millis = Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second));
  if (new Date(millis).getUTCDate() !== Number(day)) {
    const msg = 'Input should be a day of the calendar';
    throw DomainError.invalid({ loc, msg, type: 'string_pattern_mismatch' });
  }
  const micros = millis * 1000 + Number(fraction.slice(0, 6).padEnd(6, '0'));
  const offset = (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * 60_000_000;
  return sign === '-' ? micros + offset : micros - offset;
}

/** The years of a time that can be believed, in UTC; its local year must be one of them too. */
const [FIRST, LAST] = [Date.UTC(1970) * 1000, Date.UTC(2200) * 1000];
const LOCAL = /^(?:19[7-9]\d|2[01]\d\d)-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;
const LONGEST_SHOWN = 256;

/** The time of an event. */
export interface EventTime {
  occurredAt: Micros;
  /** The time that the device sent and that cannot be read; undefined when it could be read, or was not sent. */
  deviceTime?: string | number | boolean | null | undefined;
  /** The fault of a time that cannot be read. */
  fault?: Fault;
}

function believed(sent: string): Micros | undefined {
  const date = sent.slice(0, 19);
  const millis = LOCAL.test(sent) ? Date.parse(`${date}Z`) : Number.NaN;
  // Date.parse takes 24:00:00 and 30 February for a time on the next day.
  if (Number.isNaN(millis) || new Date(millis).toISOString().slice(0, 19) !== date) return undefined;
  const micros = fromDeviceTime(sent);
  return micros >= FIRST && micros < LAST ? micros : undefined;
}

function shown(sent: unknown): EventTime['deviceTime'] {
  const isNumber = Number.isFinite(sent) || isExactNumber(sent);
  if (sent === null || typeof sent === 'boolean' || isNumber) return sent as boolean | number | null;
  const text = typeof sent === 'string' ? sent : JSON.stringify(sent);
  return text.slice(0, LONGEST_SHOWN).toWellFormed();
}

/** Reads `occurredAt` of an event. One that cannot be read is replaced by the time of arrival, because the event counts more. */
export function eventTime(sent: unknown, arrivedAt: Micros): EventTime {
  const loc = ['body', 'occurredAt'];
  if (sent === undefined) return { occurredAt: arrivedAt, fault: { loc, msg: 'Field required', type: 'missing' } };
  const occurredAt = typeof sent === 'string' ? believed(sent) : undefined;
  if (occurredAt !== undefined) return { occurredAt };
  const msg = 'String should be ISO 8601 with an offset, as 2026-11-20T09:30:00.123Z, in the years 1970 to 2199';
  return { occurredAt: arrivedAt, deviceTime: shown(sent), fault: { loc, msg, type: 'string_pattern_mismatch' } };
}
