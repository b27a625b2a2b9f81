import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readFileSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { createLog } from '../../src/runtime/log.ts';
import { createSupervisor } from '../../src/runtime/supervisor.ts';
import { createFakeClock } from '../fake-clock.ts';
import { startProcess } from '../flow/service-process.ts';

/** Runs the probe of the image. */
async function probe(env: Record<string, string>) {
  const child = spawn(process.execPath, [join(import.meta.dirname, '../../bin/ready.mjs')], { env, stdio: 'pipe' });
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'close')]);
  return { code: code as number, output };
}

const log = createLog({ level: 'silent', destination: undefined });

t.test('systemd hears that the service is ready, that it is alive, and that it stops', async (t) => {
  const folder = t.testdir({ data: {}, told: '' });
  const told = join(folder, 'told');
  // In place of systemd's program: it writes each message as a line.
  const program = join(folder, 'systemd-notify');
  writeFileSync(program, `#!/bin/sh\nIFS='|'\necho "$*" >> ${told}\n`);
  chmodSync(program, 0o755);
  const service = await startProcess(t, {
    PATH: `${folder}:${process.env['PATH']}`,
    LAPEL_DATA_DIR: join(folder, 'data'),
    NOTIFY_SOCKET: join(folder, 'socket'),
    WATCHDOG_USEC: '300000',
  });
  const changes = watch(told);
  t.teardown(() => changes.close());
  const hears = async (pattern: RegExp): Promise<void> => {
    while (!pattern.test(readFileSync(told, 'utf8'))) await once(changes, 'change');
  };
  await hears(/^READY=1\|STATUS=ready\n(?:.*\n)*WATCHDOG=1\|STATUS=ready\nWATCHDOG=1\|STATUS=ready\n/);

  const env = { LAPEL_ADMIN_HOST: '0.0.0.0', LAPEL_ADMIN_PORT: new URL(service.addresses.admin).port };
  t.same(await probe(env), { code: 0, output: '{"status":"ok"}' }, 'the probe of containers finds it ready');
  service.signal('SIGTERM');
  t.same(await service.closed, { code: 0, signal: null });
  await hears(/^STOPPING=1\|STATUS=finishes requests and messages in flight\n$/m);
  t.match(await probe(env), { code: 1, output: /ECONNREFUSED|connect/ }, 'and not any more');
});

t.test('without systemd, or with a watchdog for another process, nothing is sent for it', async (t) => {
  const sent: string[] = [];
  const send = async (lines: readonly string[]): Promise<void> => void sent.push(...lines);
  const vitals = { problems: async () => [], commit: async () => undefined };
  const clock = createFakeClock();
  const alone = createSupervisor({ env: {}, pid: 7, clock, log, send });
  await alone.ready(vitals);
  await alone.stopping();
  t.same([sent, clock.timers()], [[], 0]);

  const env = { NOTIFY_SOCKET: '/run/systemd/notify', WATCHDOG_USEC: '60000000', WATCHDOG_PID: '8' };
  const other = createSupervisor({ env, pid: 7, clock, log, send });
  await other.ready(vitals);
  clock.advance(30_000);
  await new Promise(setImmediate);
  t.same(sent, ['READY=1', 'STATUS=ready', 'STATUS=ready']);
});

t.test('commits that never end stop the signs of life, unless the database itself is at fault', async (t) => {
  const clock = createFakeClock();
  const sent: string[] = [];
  let problems: { part: string; reason: string }[] = [];
  let commit: () => Promise<undefined> = async () => undefined;
  const env = { NOTIFY_SOCKET: '/run/systemd/notify', WATCHDOG_USEC: '60000000', WATCHDOG_PID: '7' };
  const send = async (lines: readonly string[]): Promise<void> => void sent.push(lines.join(' '));
  const supervisor = createSupervisor({ env, pid: 7, clock, log, send });
  await supervisor.ready({ problems: async () => problems, commit: () => commit() });
  const next = async (): Promise<string | undefined> => {
    sent.length = 0;
    clock.advance(20_000);
    await new Promise(setImmediate);
    return sent[0];
  };
  t.equal(await next(), 'WATCHDOG=1 STATUS=ready');

  commit = () => Promise.reject(new Error('the disk is full'));
  problems = [{ part: 'database', reason: 'cannot be written:\n\u001b[31mthe disk is full' }];
  await next();
  const full = 'WATCHDOG=1 STATUS=not ready: database: cannot be written: [31mthe disk is full';
  t.equal(await next(), full, 'a restart would not make room');

  const stuck = Promise.withResolvers<undefined>();
  commit = () => stuck.promise;
  await next();
  problems = [{ part: 'database', reason: 'does not answer' }];
  const away = 'WATCHDOG=1 STATUS=not ready: database: does not answer';
  t.equal(await next(), away, 'nor bring the database back');
  problems = [];
  t.equal(await next(), 'STATUS=ready', 'the database answers, so the service itself hangs');
  t.equal(await next(), 'STATUS=ready');
  stuck.resolve(undefined);
  await next();
  t.equal(await next(), 'WATCHDOG=1 STATUS=ready', 'it works again');

  await supervisor.stopping();
  clock.advance(60_000);
  await new Promise(setImmediate);
  t.match(sent.at(-1), /^STOPPING=1/);
});
