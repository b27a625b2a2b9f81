// The worker of `npm run try -- soak fuzz`: gives inputs to one parser until its time is over, or until a promise is broken.
// The main thread reads the number of the current input from shared memory, also when this thread hangs or dies.
import { parentPort, workerData } from 'node:worker_threads';
import { PARSERS } from './parsers.ts';
import { tryInput } from './try-input.ts';

export interface ToFuzz {
  name: string;
  seed: number;
  /** The first input, and the one before which to stop. */
  from: number;
  to: number;
  /** Milliseconds after which to stop. */
  milliseconds: number;
  /** [0] is the number of the current input. */
  current: Uint32Array;
}

export interface Fuzzed {
  inputs: number;
  accepted: number;
  /** Milliseconds of processor time. */
  milliseconds: number;
  /** The largest memory of the process, in kibibytes. */
  memoryKib: number;
  /** What is wrong with the last input. */
  finding?: string;
}

const INPUTS_PER_LOOK = 50;
const { name, seed, from, to, milliseconds, current } = workerData as ToFuzz;
const parser = PARSERS[name]!;

const startedAt = performance.now();
let accepted = 0;
let number = from;
let finding: string | undefined;
while (number < to && (number % INPUTS_PER_LOOK !== 0 || performance.now() - startedAt < milliseconds)) {
  current[0] = number;
  try {
    if (await tryInput(parser, seed, number)) accepted += 1;
  } catch (error) {
    const { message, stack = '' } = error as Error;
    const [place = ''] = /^ +at .*$/m.exec(stack) ?? [];
    finding = `${message.split('\n', 1)[0]}${place.replace(/^ +/, ' ')}`;
  }
  number += 1;
  if (finding !== undefined) break;
}
const { user, system } = process.threadCpuUsage();
const memoryKib = process.resourceUsage().maxRSS;
const fuzzed: Fuzzed = {
  inputs: number - from,
  accepted,
  milliseconds: (user + system) / 1000,
  memoryKib,
  ...(finding && { finding }),
};
parentPort!.postMessage(fuzzed);
