import { createPublicKey, type KeyObject } from 'node:crypto';
import { inspect } from 'node:util';
import { suggestName } from '../scenario/suggest-name.ts';
import { UsageError } from '../usage-error.ts';

/** A value in an error text, at most as long as a line. */
export const shown = (value: unknown): string => {
  const text = inspect(value, { depth: 1, breakLength: Number.POSITIVE_INFINITY, maxStringLength: 60 });
  return text.length <= 100 ? text : `${text.slice(0, 99)}…`;
};

/** Refuses anything but an object whose members all have one of these names. */
export function checkNames(of: string, given: unknown, names: readonly string[]): void {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new UsageError(of, `${shown(given)} is no object with options: ${names.join(', ')}`);
  const unknown = Object.keys(given).find((name) => !names.includes(name));
  if (unknown !== undefined) throw new UsageError(unknown, `is no option of ${of}; ${suggestName(unknown, names)}`);
}

export function readText(name: string, value: unknown, form = 'a text of at least one character'): string {
  if (typeof value === 'string' && value !== '') return value;
  throw new UsageError(name, value === undefined ? 'is needed' : `${shown(value)} is not ${form}`);
}

export function readUrl(name: string, value: unknown, protocols: readonly string[]): string {
  const text = readText(name, value);
  if (URL.canParse(text) && protocols.includes(new URL(text).protocol)) return text.replace(/\/$/, '');
  throw new UsageError(
    name,
    `${shown(text)} is not a URL that begins with ${protocols.map((p) => `${p}//`).join(', ')}`,
  );
}

/** Refuses anything but a number within the bounds, and with `whole` anything but a whole one. */
export function readNumber(
  name: string,
  value: unknown,
  { min, max, whole = false }: { min: number; max: number; whole?: boolean },
): number {
  const isRight = typeof value === 'number' && value >= min && value <= max && (!whole || Number.isInteger(value));
  if (isRight) return value;
  throw new UsageError(name, `${shown(value)} is not a ${whole ? 'whole ' : ''}number from ${min} to ${max}`);
}

export function readOneOf<Name extends string>(name: string, value: unknown, names: readonly Name[]): Name {
  const known = names.find((one) => one === value);
  if (known !== undefined) return known;
  throw new UsageError(name, `there is no ${shown(value)}; ${suggestName(String(value).slice(0, 60), names)}`);
}

/** Reads public keys of ed25519 in PEM. */
export function readKeys(name: string, given: unknown = []): KeyObject[] {
  if (!Array.isArray(given)) throw new UsageError(name, `${shown(given)} is not a list of public keys`);
  return given.map((pem, at) => {
    try {
      const key = createPublicKey(readText(`${name}[${at}]`, pem));
      if (key.asymmetricKeyType === 'ed25519') return key;
    } catch {
      // said below
    }
    throw new UsageError(`${name}[${at}]`, 'is no public key of ed25519 in PEM');
  });
}

export const MQTT = ['mqtt:', 'mqtts:', 'ws:', 'wss:'] as const;
export const HTTP = ['http:', 'https:'] as const;
