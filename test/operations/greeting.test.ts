import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { greetingOf } from '../../src/runtime/greeting.ts';

const MAIN = join(import.meta.dirname, '../../src/main.ts');
/** Runs a program in a terminal of its own; a part of util-linux. */
const SCRIPT = '/usr/bin/script';
const addresses = {
  http: 'http://127.0.0.1:8080',
  admin: 'http://127.0.0.1:8081',
  mqtt: 'mqtt://127.0.0.1:1883',
  objects: 'http://127.0.0.1:9000',
};

t.test('a service greets with its addresses, and with the place of the token, never the token', async (t) => {
  const greeting = (admin: { token: string | null; tokenFile: string | null }): string =>
    greetingOf({ addresses, admin, dataDir: '/data' });
  const first = greeting({ token: null, tokenFile: null });
  t.match(first, / Console +http:\/\/127\.0\.0\.1:8081\/console, with the token in \/data\/admin-token\n/);
  t.match(first, / Documents +http:\/\/127\.0\.0\.1:8080\/docs\n/);
  for (const url of Object.values(addresses)) t.match(first, url);
  t.match(greeting({ token: null, tokenFile: '/run/token' }), 'with the token in /run/token');
  const given = greeting({ token: 'a secret of 32 characters or more', tokenFile: null });
  t.match(given, 'with the token in LAPEL_ADMIN_TOKEN');
  t.notMatch(given, 'a secret');
});

t.test('in a terminal it greets, and writes no line for programs', { skip: !existsSync(SCRIPT) }, async (t) => {
  const env: Record<string, string | undefined> = { PATH: process.env['PATH'], LAPEL_DATA_DIR: t.testdir() };
  for (const name of ['HTTP', 'ADMIN', 'MQTT', 'OBJECTS']) env[`LAPEL_${name}_PORT`] = '0';
  const child = spawn(SCRIPT, ['-qec', `exec ${process.execPath} ${MAIN} serve`, '/dev/null'], { env });
  t.teardown(() => child.kill('SIGKILL'));
  const said = Promise.withResolvers<string>();
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk;
    if (output.includes('Ctrl-C stops it')) said.resolve(output);
  });
  child.on('close', () => said.resolve(output));
  const text = await said.promise;
  t.match(text, /Lapel \S+ is ready\./);
  t.notMatch(text, '"msg"');
  child.stdin.write('\u0003');
  await once(child, 'close');
});
