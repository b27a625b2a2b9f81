// npm run try -- soak fuzz: gives changed documents to each parser of foreign bytes. Each parser runs in a worker of its own
// with little memory, so that an input that fills it, or never ends, is found as well.
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { PARSERS } from './parsers.ts';
import type { Fuzzed, ToFuzz } from './worker.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    minutes: { type: 'string', default: '8' },
    only: { type: 'string' },
    number: { type: 'string' },
  },
});
const names = values.only === undefined ? Object.keys(PARSERS) : [values.only];
const seed = Number(values.seed);
const only = values.number === undefined ? undefined : Number(values.number);
const [milliseconds] = [(Number(values.minutes) * 60_000) / names.length];
if (![seed, milliseconds, only ?? 0].every((value) => value >= 0) || names.some((name) => !PARSERS[name])) {
  process.stderr.write(`--only is one of: ${Object.keys(PARSERS).join(', ')}. The others are numbers.\n`);
  process.exit(2);
}

/** Mebibytes of a worker: each parser needs a tenth of it. */
const MEMORY = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 32 };
/** Milliseconds after which an input counts as one that never ends. */
const LONGEST_INPUT_MS = 60_000;
/** The most findings of one parser in a run: the first of a kind usually come again and again. */
const MOST_FINDINGS = 10;
const END = 0xffff_ffff;

/** Runs one parser from an input on, until its time is over or something is found. */
async function run(name: string, from: number, left: number): Promise<Fuzzed> {
  const current = new Uint32Array(new SharedArrayBuffer(4));
  const workerData: ToFuzz = { name, seed, from, to: only === undefined ? END : only + 1, milliseconds: left, current };
  const worker = new Worker(new URL('worker.ts', import.meta.url), { workerData, resourceLimits: MEMORY });
  const { promise, resolve } = Promise.withResolvers<Fuzzed>();
  const fail = (finding: string): void => {
    const inputs = (current[0] ?? 0) + 1 - from;
    resolve({ inputs, accepted: 0, milliseconds: 0, memoryKib: process.resourceUsage().maxRSS, finding });
  };
  let before = -1;
  const watch = setInterval(() => {
    if (before === current[0]) fail(`no end after ${LONGEST_INPUT_MS} ms`);
    before = current[0] ?? 0;
  }, LONGEST_INPUT_MS);
  worker.once('message', resolve);
  worker.once('error', (error) => fail((error as Error).message));
  worker.once('exit', (code) => fail(`the worker ends with ${code}`));
  try {
    return await promise;
  } finally {
    clearInterval(watch);
    await worker.terminate();
  }
}

process.stdout.write(`seed ${seed}, ${names.length} parsers\n`);
for (const name of names) {
  const sum = { inputs: 0, accepted: 0, milliseconds: 0, findings: 0 };
  const startedAt = performance.now();
  let memoryKib = 0;
  for (let from = only ?? 0; ; ) {
    const left = milliseconds - (performance.now() - startedAt);
    const fuzzed = await run(name, from, Math.max(left, 1));
    sum.inputs += fuzzed.inputs;
    sum.accepted += fuzzed.accepted;
    sum.milliseconds += fuzzed.milliseconds;
    memoryKib = Math.max(memoryKib, fuzzed.memoryKib);
    if (fuzzed.finding === undefined) break;
    sum.findings += 1;
    from += fuzzed.inputs;
    process.stdout.write(
      `npm run try -- soak fuzz --only ${name} --seed ${seed} --number ${from - 1}: ${fuzzed.finding}\n`,
    );
    if (only !== undefined || sum.findings === MOST_FINDINGS || performance.now() - startedAt > milliseconds) break;
  }
  if (sum.findings > 0) process.exitCode = 1;
  const figures = `${sum.inputs} inputs, ${sum.accepted} accepted, ${(sum.milliseconds / 1000).toFixed(1)} s`;
  process.stdout.write(`${name}: ${figures}, ${Math.round(memoryKib / 1024)} MiB, ${sum.findings} findings\n`);
}
