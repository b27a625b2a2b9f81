import { hasCheckDigit } from '@lapel/schemas/contracts/keywords';

/** True for a device identifier: an IMEI, 15 digits whose last is the Luhn check digit. */
export const isDeviceId = (text: string): boolean => /^\d{15}$/.test(text) && hasCheckDigit(text);
