import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { startProgram } from '@lapel/tools/bench/peers/program';
import { freePort } from '@lapel/tools/harness/free-port';
import t, { type Test } from 'tap';
import { until } from '../until.ts';

/** Starts a program that says when it listens, and ends when it is told anything. */
async function startListener(t: Test, name: string) {
  const port = await freePort();
  const log = join(t.testdirName, name);
  const code = `
    require('net')
      .createServer((socket) => socket.on('data', () => process.exit()).on('error', () => undefined))
      .listen(${port}, '127.0.0.1', () => console.log('it listens'));
  `;
  const program = await startProgram({ command: [process.execPath, '-e', code], port, log });
  t.teardown(() => program[Symbol.asyncDispose]());
  return {
    program,
    said: () => readFileSync(log, 'utf8').trim().split('\n'),
    /** Resolves when the program has ended by itself. */
    async end(): Promise<void> {
      const socket = connect(port, '127.0.0.1').on('error', () => undefined);
      socket.write('end');
      await once(socket.resume(), 'close');
      await until(() => Number.isNaN(program.cpuSeconds()));
    },
  };
}

t.test('a program that has ended by itself, and is killed and started at once, runs only once', async (t) => {
  t.testdir({});
  const one = await startListener(t, 'one');
  const other = await startListener(t, 'other');
  await one.end();
  await one.program.kill();
  await one.program.start();
  // The other one ends later, so a second copy of the first one would come before it is back.
  await other.end();
  await until(() => other.said().length === 2);
  t.same(one.said(), ['it listens', 'it listens']);
});
