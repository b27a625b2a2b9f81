import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { readCommandLine } from '@lapel/device-sim/command-line';
import { readAccounts } from '@lapel/device-sim/customer/accounts';
import { runRecord } from '@lapel/device-sim/relay/run-record';
import { hasHeld } from '@lapel/device-sim/replay/replay-text';
import { runReplay } from '@lapel/device-sim/replay/run-replay';
import { run } from '@lapel/device-sim/run';
import { HIDDEN } from '@lapel/schemas/base/secret-names';
import t from 'tap';
import { createFakeClock } from '../../fake-clock.ts';
import { startWorld, type World } from '../../world.ts';

const MAIN = join(import.meta.dirname, '../../../device-sim/main.ts');
const SCENARIO = `
name: through
devices: 2
groups: [{ name: all, behaviour: { processing: true } }]
phases:
  - name: work
    duration: 300ms
    actions:
      - { do: setWifi, each: 2 }
      - { do: setApn, each: 1 }
      - { do: install, each: 1, release: { version: 1.4.0 } }
      - { do: pressButton, each: 2 }
  - { name: gap, duration: 100ms, disconnect: { share: 1, how: politely } }
  - { name: back, duration: 300ms, connect: {}, actions: [{ do: pressButton, each: 1 }] }
expectations: [lost == 0, eventsLost == 0, connected == 100 %]
`;
const never = new AbortController().signal;

const optionsOf = ({ service }: World, mqtt = service.addresses.mqtt): string[] => {
  const { admin, http } = service.addresses;
  return ['--mqtt', mqtt, '--api', http, '--admin', admin, '--admin-token', service.adminToken];
};

/** Resolves to the address that the program prints. */
async function addressOf(child: ChildProcess): Promise<string> {
  let said = '';
  for await (const chunk of child.stderr!.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    said += chunk.toString();
    const [, address] = /^address +(\S+) .*^Let the devices connect/ms.exec(said) ?? [];
    if (address !== undefined) return `mqtt://${address}`;
  }
  throw new Error(`no address came: ${said}`);
}

/** The messages and connections of each device in a record, in their order, without the times. */
function trafficOf(file: string): Map<string, string[]> {
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n').slice(1);
  const each = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  return new Map(
    [...Map.groupBy(each, ({ device }) => String(device))].map(([device, mine]) => [
      device,
      mine.map((line) => JSON.stringify({ ...line, at: undefined })).filter((line) => !line.includes('"disconnected"')),
    ]),
  );
}

t.test('devices of the mqtt package are recorded on their way to a service, and played at another one', async (t) => {
  const folder = t.testdir({ 'scenario.yaml': SCENARIO, first: {}, second: {} });
  const clock = createFakeClock(Date.now() * 1000);
  const world = await startWorld(t, { clock, dataDir: join(folder, 'first') });
  const file = join(folder, 'traffic.ndjson');
  const [own, devices] = [join(folder, 'own.ndjson'), join(folder, 'devices.ndjson')];
  const child = spawn(
    process.execPath,
    [MAIN, 'record', file, '--listen', '127.0.0.1:0', '--mqtt', world.service.addresses.mqtt],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  t.teardown(() => child.kill('SIGKILL'));
  const ended = Promise.all([text(child.stdout), once(child, 'exit')]);
  const through = await addressOf(child);
  child.stderr.resume();

  const line = ['run', join(folder, 'scenario.yaml'), '--client', 'mqtt', '--record', own, '--save', devices];
  const command = readCommandLine([...line, ...optionsOf(world, through)], {});
  if (command.do !== 'run') throw new Error('this is no run');
  const { record } = await run(command.settings, { stopped: never, stream: { write: () => {} } });
  for (const { text, holds, shown } of record.verdicts) t.ok(holds, `${text}: ${shown}`);
  child.kill('SIGINT');
  const [said, [code]] = await ended;
  t.equal(code, 0, said);
  t.match(said, /: 2 devices, 0:\d\d\n\n {2}Connections {2}4 recorded; 0 passed on unread, 0 too many, /);
  t.match(said, /\d+ messages of devices are in .*traffic\.ndjson\n/);

  const traffic = trafficOf(file);
  t.equal(traffic.size, 2);
  const missing = [...trafficOf(own)].flatMap(([device, lines]) =>
    lines.filter((line) => !traffic.get(device)?.includes(line)),
  );
  t.strictSame(missing, [], 'the record has all that the devices themselves know of');
  const written = readFileSync(file, 'utf8');
  t.equal(written.match(/"kind":"disconnected"/g)?.length, 4);
  // The signal may arrive before the last DISCONNECT packets; then the record itself has ended these connections.
  t.ok((written.match(/"kind":"disconnected","how":"politely"/g)?.length ?? 0) >= 2);
  const passwords = [...written.matchAll(/"password":("[^"]*")/g)].map(([, value]) => value);
  t.ok(passwords.length >= 4 && passwords.every((value) => value === JSON.stringify(HIDDEN)), 'passwords are hidden');
  t.match(written, new RegExp(`"url":"http[^?"]+\\?${HIDDEN.replace(/[[\]]/g, '\\$&')}"`), 'so are signatures');
  for (const { credential } of readAccounts(devices)) t.notOk(written.includes(credential), 'and credentials');

  const another = await startWorld(t, { clock: createFakeClock(Date.now() * 1000), dataDir: join(folder, 'second') });
  const again = readCommandLine(['replay', file, '--faster', '10', ...optionsOf(another)], {});
  if (again.do !== 'replay') throw new Error('this is no replay');
  const replayed = await runReplay(again.settings, never);
  const events = written.match(/"kind":"sent","topic":"events"/g)?.length;
  t.match(replayed, { devices: 2, events, webhooks: events, violations: 0, complaints: 0, troubles: [] });
  t.ok((events ?? 0) >= 6);
  t.ok(hasHeld(replayed));
});

t.test('a wrong option is refused by its name, and a service that is away is told', async (t) => {
  const file = join(t.testdir(), 'traffic.ndjson');
  const settingsOf = (...more: string[]) => {
    const command = readCommandLine(['record', file, ...more], {});
    if (command.do !== 'record') throw new Error('this is no record');
    return command.settings;
  };
  const refuses = (message: RegExp, ...more: string[]) => t.throws(() => settingsOf(...more), { message });
  refuses(/^--listen: is needed: where your devices connect$/);
  refuses(/^--listen: "here" is not HOST:PORT$/, '--listen', 'here');
  refuses(/^--mqtt: "ws:\/\/x" is not a URL of mqtt: or mqtts:$/, '--listen', '0', '--mqtt', 'ws://x');
  refuses(/^--count: is no option of "record"$/, '--listen', '0', '--count', '2');
  t.throws(() => readCommandLine(['record'], {}), { message: 'record: needs one file to write' });
  const outside = { stopped: never, say: () => {} };
  const away = settingsOf('--listen', '0', '--mqtt', 'mqtt://127.0.0.1:9', '--wait', '0');
  await t.rejects(runRecord(away, outside), { message: /^the service could not be reached at mqtt:/ });

  const server = createServer().listen(0, '127.0.0.1');
  t.teardown(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const there = settingsOf('--listen', `127.0.0.1:${port}`, '--mqtt', `mqtt://127.0.0.1:${port}`);
  await t.rejects(runRecord(there, outside), { message: /^--listen: .*EADDRINUSE/ });
  await t.rejects(runRecord({ ...there, file: '/nowhere/x' }, outside), { message: /^record: cannot write \/nowhere/ });
});
