import { DomainError } from '../../errors.ts';

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
