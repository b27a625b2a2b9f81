import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import type { Given } from '../line/command-line.ts';
import type { Options } from '../line/options.ts';
import { readTime } from './duration.ts';

/** The terms of a command, as the query of its operation has them. */
export type Terms = SchemaTypes['rest/terms-query'];

/** The options of commands that expire. */
export const EXPIRY_OPTIONS = {
  'expire-in': {
    value: 'DURATION',
    text: 'end the transaction if the command is not delivered in this time: 90s, 30m, 2h, 7d',
  },
  'answer-within': {
    value: 'DURATION',
    text: 'end the transaction if the device does not answer in this time after the delivery',
  },
} satisfies Options;

/** The options of commands that can also take the place of older ones. */
export const TERMS_OPTIONS = {
  ...EXPIRY_OPTIONS,
  supersede: { text: 'take the place of older unfinished commands of the same kind; of installs: of the same package' },
} satisfies Options;

/** The option of commands that change a network of the device. */
export const REVERT_OPTION = {
  'revert-after': {
    value: 'DURATION',
    text: 'the device takes its former list again unless it reaches the service with the new one in this time: 30s to 1h',
  },
} satisfies Options;

export function readRevertAfter(given: Given): { revertAfter?: number } {
  const text = given.text('revert-after');
  return text === undefined ? {} : { revertAfter: readTime('revert-after', text) };
}

/** Reads the terms of a command. Throws a UsageError. */
export function readTerms(given: Given): Terms {
  const [expireIn, answerWithin] = [given.text('expire-in'), given.text('answer-within')];
  return {
    ...(expireIn !== undefined && { expireIn: readTime('expire-in', expireIn) }),
    ...(answerWithin !== undefined && { answerWithin: readTime('answer-within', answerWithin) }),
    ...(given.flag('supersede') && { supersede: 'true' }),
  };
}
