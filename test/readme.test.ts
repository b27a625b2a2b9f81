import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { freePort } from './free-port.ts';

const ROOT = join(import.meta.dirname, '..');
const README = readFileSync(join(ROOT, 'README.md'), 'utf8');
const BLOCKS = [...README.matchAll(/^```sh\n(.*?)^```/gms)].map(([, block = '']) => block);
const [SHOWN = ''] = /^\S+ {2}transaction\.succeeded .*$/m.exec(README) ?? [];

/** A terminal with its output and its input. Every process in it ends with the test. */
function openTerminal(t: Test, command: readonly string[], options: SpawnOptions) {
  const [program = '', ...args] = command;
  const child: ChildProcess = spawn(program, args, { ...options, detached: true, stdio: 'pipe' });
  let output = '';
  const waiting = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk) => {
      output += String(chunk);
      for (const look of waiting) look();
    });
  }
  const gone = once(child, 'close');
  child.once('close', () => {
    for (const look of waiting) look();
  });
  t.teardown(async () => {
    if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid!, 'SIGTERM');
    await gone;
  });
  return {
    write: (text: string) => child.stdin?.write(text),
    /** Resolves when the output contains these words; throws with the output if the process ends first. */
    async says(words: RegExp | string): Promise<string> {
      const { promise, resolve, reject } = Promise.withResolvers<string>();
      const look = (): void => {
        if (typeof words === 'string' ? output.includes(words) : words.test(output)) resolve(output);
        else if (child.exitCode !== null) reject(new Error(`${command.join(' ')} ended without ${words}:\n${output}`));
      };
      waiting.add(look);
      look();
      return promise.finally(() => waiting.delete(look));
    },
  };
}

/** A folder that looks like a fresh checkout; the service creates its data there. */
function freshFolder(t: Test): string {
  const folder = t.testdir({ home: {} });
  for (const name of [
    'package.json',
    'package-lock.json',
    'node_modules',
    'bin',
    'scripts',
    'src',
    'schemas',
    'device-sim',
  ])
    symlinkSync(join(ROOT, name), join(folder, name));
  return folder;
}

t.test('the path by hand ends in a verified webhook, and the first commands continue from there', async (t) => {
  const cwd = freshFolder(t);
  // Not the ports of the README, because other processes may use those.
  const port: Record<string, number> = {};
  for (const known of ['8080', '8081', '8082', '1883', '9000']) port[known] = await freePort();
  const blocks = BLOCKS.map((block) =>
    block
      .replaceAll(/\b(8080|8081|9000)\b/g, (known) => String(port[known]))
      .replace('npm run sim --', `npm run sim -- --mqtt mqtt://127.0.0.1:${port['1883']}`),
  );
  const env = {
    PATH: process.env['PATH'],
    HOME: join(cwd, 'home'),
    SET_UP_IS_DONE: 'true', // the other tests use the same dependencies at this time
    LAPEL_HTTP_PORT: String(port['8080']),
    LAPEL_ADMIN_PORT: String(port['8081']),
    LAPEL_OBJECTS_PORT: String(port['8082']),
    LAPEL_MQTT_PORT: String(port['1883']),
    LAPEL_URL: `http://127.0.0.1:${port['8080']}`,
  };
  const mine = openTerminal(t, ['bash', '--norc', '-eu'], { cwd, env });
  mine.write('shopt -s expand_aliases\n');
  const stays = (block: string) => openTerminal(t, ['bash', '--norc', '-euc', block], { cwd, env });
  const words = SHOWN.replace(/^\S+/, '').trim();
  t.ok(words.length > 0, 'the README shows what the receiver shows');
  let receiver: ReturnType<typeof stays> | undefined;
  for (const [index, block] of blocks.entries()) {
    if (block.includes('npm run serve')) await stays(block).says('"msg":"listening"');
    else if (block.includes('npm run sim')) stays(block);
    else if (block.includes('webhook listen')) {
      receiver = stays(block);
      await receiver.says('listening at');
    } else {
      if (block.includes('lapel login')) {
        await receiver?.says(words); // waits for it, as a person would
        // A person would get a prompt, and paste the secret.
        mine.write('export LAPEL_APPLICATION_SECRET=$SECRET\n');
      }
      mine.write(`${block}echo done ${index}\n`);
      await mine.says(`done ${index}\n`);
    }
  }
  t.match(await receiver?.says(words), /^\d\d:\d\d:\d\d\.\d{3} {2}transaction\.succeeded/m);
  const said = await mine.says(/transaction\.succeeded +delivered/);
  t.match(said, /"transactionId":1\b/);
  t.match(said, /Logged in to .* as patrol/);
  t.match(said, /setLanguage/);
});
