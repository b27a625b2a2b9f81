import type { Child } from '../base/elements.ts';
import { given, typed } from '../base/typed.ts';
import { choice, tick } from './fields.ts';

/** The times that a command can be given, in seconds. */
const TIMES = [
  ['', 'any time'],
  ['600', '10 minutes'],
  ['3600', '1 hour'],
  ['86400', '1 day'],
  ['604800', '7 days'],
  ['2592000', '30 days'],
] as const;

/**
 * The fields for the terms of a command. `supersedes`: the command can take the place of older ones. The other values, in
 * seconds, are chosen at first.
 */
export const termsFields = (supersedes: boolean, { expireIn = '', answerWithin = '' } = {}): Child => [
  choice({ name: 'expireIn', label: 'Deliver within', value: expireIn, hint: 'Otherwise the command expires.' }, TIMES),
  choice({ name: 'answerWithin', label: 'Answer within, from the delivery', value: answerWithin }, TIMES),
  supersedes ? tick({ name: 'supersede', label: 'Replace older unfinished commands of this kind' }, false) : null,
];

/** Reads the terms of a command as the query of its operation. */
export const termsQuery = (data: FormData): Record<string, string> =>
  given({
    expireIn: typed(data, 'expireIn'),
    answerWithin: typed(data, 'answerWithin'),
    supersede: data.has('supersede') ? 'true' : undefined,
  }) as Record<string, string>;
