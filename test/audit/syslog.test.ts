import { type ChildProcess, spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { copyFileSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { readConfig } from '../../src/config.ts';
import { createSyslogLine, LINGER_MS } from '../../src/core/audit/syslog/syslog-line.ts';
import { syslogMessage } from '../../src/core/audit/syslog/syslog-message.ts';
import { createAuthority, skip as NO_OPENSSL } from '../broker/authority.ts';
import { createFakeClock } from '../fake-clock.ts';
import { NO_POSTGRES } from '../postgres/databases.ts';
import { until } from '../until.ts';
import { startWorld, type World } from '../world.ts';
import { createCounter } from './syslog-target.ts';

const PROGRAM = join(import.meta.dirname, 'syslog-target.ts');
const SECOND = 1_000;

interface Taken {
  position: number;
  hash: string;
  text: string;
}

/** Reads a message; throws when it is not one of RFC 5424 with an entry. */
function read(message: string): Taken {
  const [, data = '', json = ''] =
    /^<10[89]>1 \d{4}-\d\d-\d\dT[\d:.]+Z \S+ lapel - AUDIT \[lapel@32473 ((?:[^\]\\]|\\.)+)\] (\{[ -~]*\})$/.exec(
      message,
    ) ?? [];
  const { position, hash } = JSON.parse(json) as Taken;
  if (!data.includes(`position="${position}" hash="${hash}"`)) throw new Error(`not in its data: ${message}`);
  return { position, hash, text: json };
}

/** A receiver in a process of its own, which can be killed and started again on its port. */
function createReceiver(t: Test, file: string, tls: readonly string[] = []) {
  let child: ChildProcess | undefined;
  const kill = async (): Promise<void> => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  };
  t.teardown(kill);
  return {
    async start(port: number): Promise<number> {
      child = spawn(process.execPath, [PROGRAM, String(port), file, ...tls], { stdio: ['ignore', 'pipe', 'inherit'] });
      const [line] = (await once(child.stdout!, 'data')) as [Buffer];
      return Number(String(line));
    },
    kill,
    taken: (): Taken[] => (existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean).map(read) : []),
  };
}

/** The sealed entries as administration lists them, the oldest first. */
async function sealed(world: World): Promise<{ position: number; hash: string }[]> {
  const { entries } = (await world.admin().get('/admin/v1/audit?limit=1000')).body as { entries: Taken[] };
  return entries
    .filter(({ position }) => position !== null)
    .map(({ position, hash }) => ({ position, hash }))
    .sort((one, other) => one.position - other.position);
}

const change = async (world: World, count: number): Promise<void> => {
  for (let each = 0; each < count; each += 1)
    await world.admin().post('/admin/v1/developers', { json: { name: `Developer "]\\ ☃ ${each}` } });
};
const waiting = async (world: World): Promise<number> => {
  world.clock.advance(10 * SECOND); // metrics are looked up again after ten seconds
  const text = String((await world.anonymousAdmin().get('/metrics')).body);
  return Number(/^lapel_audit_syslog_waiting_entries (\d+)$/m.exec(text)?.[1]);
};
/** Lets the clock run until the receiver has all entries. */
const taken = (world: World): Promise<void> => until(async () => (await waiting(world)) === 0);
const distinct = (all: readonly Taken[]): object[] =>
  [...new Map(all.map(({ position, hash }) => [position, { position, hash }])).values()].sort(
    (one, other) => one.position - other.position,
  );

t.test(
  'over TLS nothing is lost while the receiver is killed, away, and started again',
  { skip: NO_OPENSSL },
  async (t) => {
    const folder = t.testdir({ data: {}, tls: {} });
    const authority = createAuthority(join(folder, 'tls'), 'log');
    const { certFile, keyFile } = authority.sign('receiver');
    const receiver = createReceiver(t, join(folder, 'taken'), [certFile, keyFile]);
    const port = await receiver.start(0);
    const world = await startWorld(t, {
      dataDir: join(folder, 'data'),
      env: { LAPEL_AUDIT_SYSLOG: `tls://127.0.0.1:${port}`, LAPEL_AUDIT_SYSLOG_CA: authority.ca },
    });
    await change(world, 5);
    await taken(world);
    t.same(distinct(receiver.taken()), await sealed(world), 'each entry with its position and hash');
    t.match(
      receiver.taken().at(-1)?.text,
      /"actor":"token".*"action":"POST \/admin\/v1\/developers".*"objects":\["developer:/,
    );

    await change(world, 3);
    await until(() => distinct(receiver.taken()).length >= 6);
    await receiver.kill();
    await change(world, 20);
    await until(async () => (await waiting(world)) > 0);
    const metrics = String((await world.anonymousAdmin().get('/metrics')).body);
    t.match(metrics, /^lapel_audit_syslog_oldest_waiting_seconds [1-9]/m);
    t.match(metrics, /^lapel_audit_syslog_failures_total [1-9]/m);
    await world.restart();
    await change(world, 4);
    await receiver.start(port);
    await taken(world);
    const all = await sealed(world);
    t.same(distinct(receiver.taken()), all, 'all that happened meanwhile');
    const before = receiver.taken().length;
    await world.restart();
    await taken(world);
    t.ok(receiver.taken().length - before <= 2, 'a restart goes on where it was');
    const [end = { position: 0, hash: '' }] = receiver.taken().slice(-1);
    const { body } = await world.admin().get(`/admin/v1/audit/verification?position=${end.position}&hash=${end.hash}`);
    t.equal(body.broken, null, 'the receiver has an end of the chain to compare with');
  },
);

t.test('a receiver that does not take everything gets it again', async (t) => {
  const got: string[] = [];
  let behaviour: (socket: Socket) => void = (socket) => socket.resetAndDestroy();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => undefined);
    behaviour(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const world = await startWorld(t, { env: { LAPEL_AUDIT_SYSLOG: `tcp://127.0.0.1:${port}` } });
  await change(world, 3);
  const failures = async (): Promise<number> => {
    const text = String((await world.anonymousAdmin().get('/metrics')).body);
    return Number(/^lapel_audit_syslog_failures_total (\d+)$/m.exec(text)?.[1]);
  };
  const refusing: [string, (socket: Socket) => void][] = [
    ['it resets each connection', (socket) => socket.resetAndDestroy()],
    ['it ends each connection at once', (socket) => socket.end()],
    ['it ends the connection after the first bytes', (socket) => socket.once('data', () => socket.end())],
    ['it reads, and never ends', (socket) => socket.resume()],
  ];
  for (const [what, wrong] of refusing) {
    behaviour = wrong;
    const before = await failures();
    await until(async () => {
      world.clock.advance(SECOND);
      return (await failures()) > before;
    });
    t.ok((await waiting(world)) >= 3, what);
  }
  behaviour = (socket) => {
    const take = createCounter((message) => got.push(message));
    socket.on('data', take).on('end', () => socket.end());
  };
  await taken(world);
  t.same(distinct(got.map(read)), await sealed(world));
});

t.test('nothing is waited for after the end of a connection', async (t) => {
  const server = createServer((socket) => void socket.resume());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const clock = createFakeClock();
  const line = createSyslogLine({ clock, target: new URL(`tcp://127.0.0.1:${port}`), caFile: null });
  const sent = line.send(['<108>1 - - - - - -']);
  const [socket] = (await once(server, 'connection')) as [Socket];
  await once(socket, 'data');
  clock.advance(LINGER_MS);
  await sent;
  await until(() => clock.timers() === 0);
  t.pass('no timer is left');
});

t.test('a stop does not wait for a receiver that keeps its connection open', async (t) => {
  const sockets: Socket[] = [];
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.push(socket.on('error', () => undefined).resume());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const world = await startWorld(t, { env: { LAPEL_AUDIT_SYSLOG: `tcp://127.0.0.1:${port}` } });
  await change(world, 1);
  await until(() => {
    world.clock.advance(SECOND);
    return sockets.length > 0;
  });
  await world.service[Symbol.asyncDispose]();
  await until(() => sockets.every((socket) => socket.destroyed || socket.readableEnded));
  t.pass('though the time stood still');
});

t.test('after a restore the receiver gets what happened since, at positions that it has seen before', async (t) => {
  const folder = t.testdir({ data: {} });
  const receiver = createReceiver(t, join(folder, 'taken'));
  const port = await receiver.start(0);
  const dataDir = join(folder, 'data');
  const env = { LAPEL_AUDIT_SYSLOG: `tcp://127.0.0.1:${port}` };
  const world = await startWorld(t, { dataDir, env, database: 'sqlite' });
  await change(world, 2);
  await taken(world);
  const [file, kept] = [join(dataDir, 'lapel.db'), join(dataDir, 'kept.db')];
  await world.restart(() => copyFileSync(file, kept));
  await change(world, 3);
  await taken(world);
  await world.restart(() => {
    for (const end of ['-wal', '-shm']) rmSync(file + end, { force: true });
    copyFileSync(kept, file);
  });
  await change(world, 4);
  await taken(world);
  const hashes = new Set(receiver.taken().map(({ hash }) => hash));
  const now = await sealed(world);
  t.ok(
    now.every(({ hash }) => hashes.has(hash)),
    'it has all entries of the restored log',
  );
  const forked = Map.groupBy(receiver.taken(), ({ position }) => position)
    .values()
    .filter((same) => new Set(same.map(({ hash }) => hash)).size > 1);
  t.ok([...forked].length >= 3, 'and those that the restore has lost');
  t.ok(receiver.taken().some(({ text }) => text.includes('RAISE /numbers') && text.includes('other_file')));
});

t.test('over UDP each entry is a datagram', async (t) => {
  const got: string[] = [];
  const socket = createSocket('udp4', (message) => got.push(message.toString()));
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  t.teardown(() => socket.close());
  const world = await startWorld(t, { env: { LAPEL_AUDIT_SYSLOG: `udp://127.0.0.1:${socket.address().port}` } });
  await change(world, 2);
  await taken(world);
  await until(() => got.length > 0);
  t.same(distinct(got.map(read)), await sealed(world));
});

t.test('one node of several sends', { skip: NO_POSTGRES }, async (t) => {
  const file = join(t.testdir(), 'taken');
  const receiver = createReceiver(t, file);
  const port = await receiver.start(0);
  const world = await startWorld(t, { nodes: 2, env: { LAPEL_AUDIT_SYSLOG: `tcp://127.0.0.1:${port}` } });
  await change(world, 3);
  await world.admin({ node: 1 }).post('/admin/v1/developers', { json: { name: 'at another node' } });
  await taken(world);
  const all = receiver.taken();
  t.same(distinct(all), await sealed(world));
  t.equal(all.length, distinct(all).length, 'none comes twice');
});

t.test('a receiver that cannot be one is refused at the start', async (t) => {
  for (const [env, problem] of [
    [{ LAPEL_AUDIT_SYSLOG: 'https://log.example.com' }, /LAPEL_AUDIT_SYSLOG: must be tls:\/\/HOST:PORT/],
    [{ LAPEL_AUDIT_SYSLOG: 'tls://log.example.com' }, /LAPEL_AUDIT_SYSLOG: must be/],
    [{ LAPEL_AUDIT_SYSLOG: 'tcp://log:601', LAPEL_AUDIT_SYSLOG_CA: 'ca.pem' }, /LAPEL_AUDIT_SYSLOG_CA: needs/],
    [{ LAPEL_AUDIT_SYSLOG: 'tls://log:6514', LAPEL_AUDIT_SYSLOG_CA: '/no/ca' }, /\/no\/ca cannot be read/],
  ] as const)
    t.throws(() => readConfig({ env }), { message: problem });
});

t.test('a message is bounded, and its values cannot end its structured data', async (t) => {
  const row = {
    auditId: 1,
    at: 1_763_631_000_123_456,
    actorKind: 'token',
    actorName: null,
    personId: 'ada',
    personName: 'A\nda "]\\ ☃',
    tokenName: null,
    action: 'GET /x',
    resource: '/x"] [other@1 a="b\\\n',
    requestId: 'r',
    address: '192.0.2.1',
    status: 403,
    details: JSON.stringify({ text: 'x'.repeat(100_000) }),
    position: 7,
    hash: 'f'.repeat(64),
  } as const;
  const message = syslogMessage(row, [{ kind: 'device', id: '1' }], 'host name\n');
  t.ok(message.length < 2_000);
  t.match(message, /^<108>1 2025-11-20T09:30:00\.123456Z hostname lapel - AUDIT \[lapel@32473 position="7" /);
  t.match(message, 'resource="/x\\"\\] [other@1 a=\\"b\\\\ "');
  t.notMatch(message, /[^ -~]/);
  t.match(JSON.parse(message.slice(message.indexOf('] {') + 2)), {
    details: { leftOut: 100_011 },
    personName: row.personName,
  });
  // Each character of another script takes six in ASCII, and a request can concern thousands of objects.
  const wide = { ...row, details: JSON.stringify({ text: '\u{1f4f7}'.repeat(1_000) }) };
  const many = Array.from({ length: 5_000 }, (_, number) => ({ kind: 'device' as const, id: `49015420${number}` }));
  const bounded = syslogMessage(wide, many, 'host');
  t.ok(bounded.length < 5_000, `${bounded.length} characters`);
  t.match(JSON.parse(bounded.slice(bounded.indexOf('] {') + 2)), { details: { leftOut: wide.details.length } });
});
