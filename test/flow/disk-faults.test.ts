import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { missing } from '../installed.ts';
import { runProgram } from '../run-program.ts';
import { until } from '../until.ts';
import { ADMIN_TOKEN, type Addresses, startProcess } from './service-process.ts';

const SOURCE = join(import.meta.dirname, 'disk-faults.c');

type Fault = 'hold' | 'hold-copy' | 'fail';

/** A service on a disk that hangs or fails when it is told to. */
async function startFaulty(t: Test) {
  const folder = t.testdir({ faults: {}, data: {} });
  const faults = join(folder, 'faults');
  const preloaded = join(folder, 'disk-faults.so');
  const made = await runProgram('gcc', ['-Wall', '-Werror', '-shared', '-fPIC', '-o', preloaded, SOURCE, '-ldl']);
  if (made.status !== 0) throw new Error(made.stderr);
  const data = { LAPEL_DATA_DIR: join(folder, 'data') };
  const service = await startProcess(t, { ...data, LD_PRELOAD: preloaded, DISK_FAULTS: faults });
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' };
  const developers = (at: Addresses): string => `${at.admin}/admin/v1/developers`;
  let created = 0;
  return {
    service,
    /** Starts the service again, on a disk that works. */
    again: () => startProcess(t, data),
    begin: (fault: Fault): void => writeFileSync(join(faults, fault), ''),
    end: (fault: Fault): void => rmSync(join(faults, fault)),
    has: (sign: 'held' | 'copy-held' | 'thread'): boolean => existsSync(join(faults, sign)),
    /** Creates a developer; returns the status of the answer. */
    async create(): Promise<number> {
      created += 1;
      const body = JSON.stringify({ developerId: `developer-${created}`, name: 'one' });
      return (await fetch(developers(service.addresses), { method: 'POST', headers, body })).status;
    },
    async total(at = service.addresses): Promise<number> {
      const answer = await fetch(developers(at), { headers });
      return ((await answer.json()) as { total: number }).total;
    },
    /** The reasons for which the service is not ready; empty: it is. */
    async unready(): Promise<string> {
      const answer = await fetch(`${service.addresses.admin}/readyz`);
      const { problems = [] } = (await answer.json()) as { problems?: { part: string; reason: string }[] };
      return problems.map(({ part, reason }) => `${part}: ${reason}`).join('; ');
    },
    alive: async (): Promise<number> => (await fetch(`${service.addresses.admin}/healthz`)).status,
  };
}

const options = { skip: missing.gcc(), buffered: true };
t.jobs = 4;

t.test('while the disk hangs, what is not on it is told to nobody, and the process goes on', options, async (t) => {
  const { service, begin, end, has, create, total, alive, unready } = await startFaulty(t);
  let before = 0;
  while (!has('thread')) {
    t.equal(await create(), 201);
    before += 1;
  }
  begin('hold');
  const ended: string[] = [];
  const note = <Of>(name: string, of: Promise<Of>): Promise<Of> => of.finally(() => ended.push(name));
  const call = note('call', create());
  await until(() => has('held'));
  const look = note('look', total());
  for (let probe = 0; probe < 20; probe += 1) t.equal(await alive(), 200);
  t.same(ended, []);
  await until(async () => (await unready()).includes('database: the disk has not answered for'));
  end('hold');
  t.equal(await call, 201);
  t.ok((await look) >= before);
  t.equal(await unready(), '');
  service.signal('SIGTERM');
  t.same(await service.closed, { code: 0, signal: null });
});

t.test('while the disk hangs and SQLite copies its log, the process goes on', options, async (t) => {
  const { begin, end, has, create, total, alive } = await startFaulty(t);
  while (!has('thread')) t.equal(await create(), 201);
  begin('hold-copy');
  await until(() => has('copy-held')); // when no commit has come for some seconds
  const before = await total();
  for (let probe = 0; probe < 20; probe += 1) t.equal(await alive(), 200);
  const call = create();
  t.equal(await total(), before);
  end('hold-copy');
  t.equal(await call, 201);
});

for (const [title, waitsFor] of [
  ['from its first commit on', 'nothing'],
  ['under load, when a thread waits for the disk', 'thread'],
] as const)
  t.test(`a disk that fails ends the process, and nobody gets an answer: ${title}`, options, async (t) => {
    const { service, begin, has, create, total, again } = await startFaulty(t);
    let before = 0;
    for (; waitsFor === 'thread' && !has('thread'); before += 1) t.equal(await create(), 201);
    begin('fail');
    await t.rejects(create(), 'the connection is cut');
    t.same(await service.closed, { code: 70, signal: null });
    t.match(service.output.stderr, /could not be written to the disk: i\/o error/);
    const restarted = await again();
    t.ok((await total(restarted.addresses)) >= before, 'everything that was answered is there');
  });
