import { deriveSeed } from '../random.ts';

/** The most devices one seed can name: six digits of serial number. */
export const MAX_DEVICES = 1_000_000;

/** The Luhn check digit that makes `digits` a valid number when it is appended (ISO/IEC 7812-1, annex B). */
export function luhnDigit(digits: string): string {
  let sum = 0;
  for (let place = 0; place < digits.length; place += 1) {
    const digit = Number(digits[digits.length - 1 - place]);
    const weighted = place % 2 === 0 ? digit * 2 : digit;
    sum += weighted > 9 ? weighted - 9 : weighted;
  }
  return String((10 - (sum % 10)) % 10);
}

/** An IMEI's form: 15 digits, the last of them the check digit. */
export const isDeviceId = (text: string): boolean => /^\d{15}$/.test(text) && luhnDigit(text.slice(0, 14)) === text[14];

/** The IMEI of the device at `index` (0 to 999,999) of a fleet: the same for the same seed, so that a later run finds its devices again. */
export function deviceIdFor(seed: number, index: number): string {
  const model = String(deriveSeed(seed, 0) % 1_000_000).padStart(6, '0');
  const digits = `35${model}${String(index).padStart(6, '0')}`;
  return digits + luhnDigit(digits);
}
