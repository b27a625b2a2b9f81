import { createRandom, deriveSeed } from '@lapel/device-sim/random';
import { mutated } from './mutate.ts';
import type { FuzzedParser } from './parser.ts';

/**
 * The most processor time of one input in microseconds. It is far above what a parser needs for its length, and far below
 * what a cost that grows with the square of the length needs.
 */
const MOST_MICROS = { always: 250_000, perByte: 40 };
/** The most kibibytes by which one input may raise the largest memory of the process. */
const MOST_GROWTH_KIB = 192 * 1024;
/** A slow input is tried again, because the machine does other things, too: the lowest time counts. */
const TRIES = 3;

/** Input `number` of a seed. The first ones are the documents as they are, the others are changed documents. */
export function inputOf(parser: FuzzedParser, seed: number, number: number): Buffer {
  const { documents } = parser;
  return documents[number] ?? mutated(createRandom(deriveSeed(seed, number, 1)), parser);
}

/**
 * Gives one input to a parser. Returns whether it was accepted; throws when a promise is broken. `bound` is the most
 * processor time in microseconds.
 */
export async function tryInput(
  parser: FuzzedParser,
  seed: number,
  number: number,
  bound: typeof MOST_MICROS = MOST_MICROS,
): Promise<boolean> {
  const input = inputOf(parser, seed, number);
  const most = bound.always + bound.perByte * input.length;
  let least = Number.POSITIVE_INFINITY;
  for (let left = TRIES; left > 0; left -= 1) {
    const memory = process.resourceUsage().maxRSS;
    const before = process.threadCpuUsage();
    const isAccepted = await parser.read(input, createRandom(deriveSeed(seed, number, 2)));
    const { user, system } = process.threadCpuUsage(before);
    const growth = process.resourceUsage().maxRSS - memory;
    if (growth > MOST_GROWTH_KIB) throw new Error(`${input.length} bytes take ${growth} KiB of memory`);
    if (!isAccepted && number < parser.documents.length) throw new Error('a valid document is refused');
    least = Math.min(least, user + system);
    if (least <= most) return isAccepted;
  }
  throw new Error(`${input.length} bytes take ${least} microseconds of processor time`);
}
