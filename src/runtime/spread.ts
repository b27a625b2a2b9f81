import { hash } from 'node:crypto';

/** The part of the SHA-256 of a text that is used: 48 bits, which a number holds exactly. */
const DIGITS = 12;
const PARTS = 16 ** DIGITS;

/** A number from 0 (inclusive) to 1, always the same for a text. The numbers of many texts are spread evenly. */
export const spread = (text: string): number => Number.parseInt(hash('sha256', text).slice(0, DIGITS), 16) / PARTS;
