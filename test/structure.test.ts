import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import t from 'tap';

const ROOT = join(import.meta.dirname, '..');
const SRC = join(ROOT, 'src');

// Who may import whom: each room, the rooms that it may import, and the libraries that only it may import.
const ROOMS: Record<string, { rooms: string[]; owns?: string[] }> = {
  contracts: { rooms: [], owns: ['ajv', 'yaml'] },
  database: { rooms: [], owns: ['better-sqlite3'] },
  objects: { rooms: [], owns: ['@aws-sdk', '@smithy'] },
  apk: { rooms: [], owns: ['yauzl'] },
  applications: { rooms: ['contracts', 'database'], owns: ['jose'] },
  devices: { rooms: ['contracts', 'database'] },
  sessions: { rooms: ['database'] },
  webhooks: { rooms: ['contracts', 'database'], owns: ['undici', 'standardwebhooks', 'ipaddr.js'] },
  outbox: { rooms: ['contracts', 'database'] },
  software: { rooms: ['contracts', 'database', 'objects', 'apk'] },
  transactions: { rooms: ['contracts', 'database', 'applications', 'devices', 'software', 'webhooks', 'outbox'] },
  events: { rooms: ['contracts', 'database', 'applications', 'devices', 'webhooks'] },
  http: { rooms: ['contracts'], owns: ['koa'] },
  docs: { rooms: ['contracts'], owns: ['swagger-ui-dist'] },
  broker: { rooms: ['contracts', 'devices', 'sessions', 'outbox', 'transactions', 'events'], owns: ['aedes', 'ws'] },
  api: { rooms: ['http', 'contracts', 'docs', 'applications', 'devices', 'transactions', 'webhooks', 'software'] },
  imports: { rooms: [], owns: ['csv-parse'] },
  admin: { rooms: ['http', 'contracts', 'applications', 'devices', 'software', 'imports'] },
  client: { rooms: ['contracts'], owns: ['standardwebhooks'] },
  cli: { rooms: ['apk', 'client', 'imports'], owns: ['string-width'] },
};
// The rooms of the command line, each with those that it may import; the files above them put the commands together.
const CLI: Record<string, string[]> = {
  show: [],
  line: ['show'],
  account: ['line', 'show'],
  device: ['account', 'line', 'show'],
  webhook: ['account', 'line', 'show'],
  import: ['account', 'line', 'show'],
  software: ['device', 'account', 'line', 'show'],
  admin: ['import', 'software', 'account', 'line', 'show'],
};
const LEAVES = [
  'clock',
  'config',
  'data-folder',
  'deprecations',
  'errors',
  'idle',
  'ids',
  'listening',
  'log',
  'log-limit',
  'metrics',
  'open-files',
  'readiness',
  'secret-hash',
  'socket-bounds',
  'token-buckets',
  'turns',
  'version',
];

const typeScriptIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
const importsOf = (path: string): string[] =>
  [...readFileSync(path, 'utf8').matchAll(/^(?:import|export)[^'"]*?from ['"]([^'"]+)['"]/gm)].map((m) => m[1]!);
const files = typeScriptIn(SRC);
const roomOf = (file: string): string => (file.includes('/') ? file.split('/')[0]! : file.replace('.ts', ''));

/** Files of a folder that import one another in a circle; none when there is no circle. */
function circleIn(folder: string): string[] {
  const root = join(ROOT, folder);
  const imports = new Map(
    typeScriptIn(root).map((file) => [
      file,
      importsOf(join(root, file)).map((name) => relative(root, resolve(root, dirname(file), name))),
    ]),
  );
  // Whoever imports none of those that are left is in no circle.
  for (let before = -1; before !== imports.size; ) {
    before = imports.size;
    for (const [file, names] of imports) if (!names.some((name) => imports.has(name))) imports.delete(file);
  }
  return [...imports.keys()];
}

t.test('every folder below src is a room of the table', async (t) => {
  const rooms = new Set(files.filter((file) => file.includes('/')).map(roomOf));
  t.same([...rooms].sort(), Object.keys(ROOMS).sort());
});

t.test('the leaf files are a closed list', async (t) => {
  const top = files.filter((file) => !file.includes('/')).map(roomOf);
  t.same(top.sort(), [...LEAVES, 'main', 'service'].sort());
});

for (const file of files) {
  const room = roomOf(file);
  if (room === 'main' || room === 'service') continue;
  t.test(`src/${file} imports only what its room may`, async (t) => {
    const allowed = new Set([room, ...LEAVES, ...(ROOMS[room]?.rooms ?? [])]);
    for (const name of importsOf(join(SRC, file))) {
      if (name.startsWith('.')) {
        const target = roomOf(relative(SRC, resolve(SRC, dirname(file), name)));
        t.ok(allowed.has(target), `imports ${name}`);
        const isRepository = file.endsWith('-repository.ts');
        t.notOk(isRepository && name.includes('-repository.ts'), 'a repository imports no other repository');
      } else {
        const owners = Object.entries(ROOMS)
          .filter(([, { owns = [] }]) => owns.some((o) => name === o || name.startsWith(`${o}/`)))
          .map(([owner]) => owner);
        t.ok(owners.length === 0 || owners.includes(room), `${name} belongs to ${owners.join(' and ')}`);
      }
    }
  });
}

t.test('the rooms of the command line import only each other’s as they may', async (t) => {
  const inRooms = files.filter((file) => /^cli\/.*\//.test(file));
  const cliRoomOf = (path: string): string => path.split('/')[1]!;
  t.same([...new Set(inRooms.map(cliRoomOf))].sort(), Object.keys(CLI).sort());
  for (const file of inRooms) {
    const targets = importsOf(join(SRC, file)).filter((name) => name.startsWith('.'));
    for (const target of targets.map((name) => relative(SRC, resolve(SRC, dirname(file), name)))) {
      if (!target.startsWith('cli/')) continue;
      t.ok([cliRoomOf(file), ...CLI[cliRoomOf(file)]!].includes(cliRoomOf(target)), `${file} imports ${target}`);
    }
  }
});

t.test('nothing outside main.ts uses process.* or imports service.ts', async (t) => {
  for (const file of files.filter((name) => name !== 'main.ts')) {
    t.notMatch(readFileSync(join(SRC, file), 'utf8'), /\bprocess\.(env|argv|exit|on|stdout|stderr)\b/, file);
    t.notOk(
      importsOf(join(SRC, file)).some((name) => name.endsWith('/service.ts')),
      file,
    );
  }
});

// The rooms of the simulator, and which of the others each may import.
const SIMULATOR: Record<string, string[]> = {
  mqtt: [],
  files: ['mqtt'],
  model: ['mqtt', 'files'],
  fleet: ['mqtt', 'files', 'model'],
  customer: ['mqtt', 'files', 'model', 'fleet'],
};
const SIMULATOR_LEAVES = ['back-off', 'bounded-map', 'random', 'timers', 'usage-error'];

// Its devices read the contract on their own. The driver of the load is a customer's program, and uses what customers use.
t.test('the simulator imports what its rooms may, and of the service the client only, in its driver', async (t) => {
  const root = join(ROOT, 'device-sim');
  for (const file of typeScriptIn(root)) {
    const room = roomOf(file);
    const allowed = file.includes('/') ? [room, ...SIMULATOR_LEAVES, ...(SIMULATOR[room] ?? [])] : undefined;
    for (const name of importsOf(join(root, file)).filter((name) => name.startsWith('.'))) {
      const target = relative(root, resolve(root, dirname(file), name));
      if (target.startsWith('../'))
        t.ok(file === 'customer/application.ts' && target.startsWith('../src/client/'), file);
      else t.ok(allowed?.includes(roomOf(target)) ?? true, `${file} imports ${name}`);
    }
  }
});

t.test('no files of the simulator import one another in a circle', async (t) => t.same(circleIn('device-sim'), []));

t.test('what is not documented of Aedes is in one file', async (t) => {
  for (const file of files.filter((name) => name.startsWith('broker/') && name !== 'broker/aedes-internals.ts')) {
    t.notMatch(readFileSync(join(SRC, file), 'utf8'), /as unknown as|\._(?!write\b|writev\b)[a-z]/, file);
  }
});

t.test('no file is longer than 400 lines', async (t) => {
  for (const folder of ['src', 'device-sim', 'demo', 'bench', 'scripts', 'test']) {
    for (const file of typeScriptIn(join(ROOT, folder)).filter((name) => name !== 'contracts/types.ts')) {
      t.ok(readFileSync(join(ROOT, folder, file), 'utf8').split('\n').length <= 401, `${folder}/${file}`);
    }
  }
});
