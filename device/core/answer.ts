import type { Ack } from '../disk/records.ts';
import { isObject } from './messages.ts';

/** The end of a command: the result of its operation, or why it failed. */
export type Outcome = { result?: object | undefined } | { failure: { code: string; message: string } };

const LONGEST_CODE = 64;
const LONGEST_MESSAGE = 1000;
const MOST_RESULT_BYTES = 65_536;

/** Cuts a text after so many characters, and no character in two. */
const cut = (text: string, length: number): string => text.slice(0, length).replace(/[\uD800-\uDBFF]$/, '');

/** The acknowledgement, as its schema says; `fault` is what had to be left out. */
export function answerOf(transactionId: number, outcome: Outcome): { ack: Ack; fault?: string } {
  if ('failure' in outcome) {
    const { code, message } = outcome.failure;
    const error = { code: cut(code, LONGEST_CODE) || 'INTERNAL', message: cut(message, LONGEST_MESSAGE) };
    return { ack: { transactionId, status: 'failed', error } };
  }
  const ack: Ack = { transactionId, status: 'succeeded' };
  const { result } = outcome;
  if (result === undefined) return { ack };
  if (!isObject(result)) return { ack, fault: 'the result is no object' };
  const bytes = Buffer.byteLength(JSON.stringify(result));
  if (bytes > MOST_RESULT_BYTES) return { ack, fault: `the result has ${bytes} bytes; 65,536 are allowed` };
  return { ack: { ...ack, result } };
}
