import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { BROWSER_PACKAGES } from '@lapel/tools/scripts/release/contents';
import t, { type Test } from 'tap';
import {
  CLI_ROOMS,
  DEVICE_ROOMS,
  PAGES,
  type Room,
  RULES,
  SIMULATOR_LEAVES,
  SIMULATOR_ROOMS,
  type Storeys,
  WINGS,
} from './rooms.ts';
import { ALONE, allFiles, filesOf, GROUPS, SUITES } from './runs/groups.ts';

const ROOT = join(import.meta.dirname, '..');
const SRC = join(ROOT, 'src');
const GENERATED = ['schemas/contracts/types.ts', 'device-sim/scenario/scenario-file.ts'];

interface Manifest {
  workspaces: string[];
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
}
const manifestOf = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8')) as Manifest;
/** The folders of the packages that are beside the service. */
const { workspaces: PACKAGES } = manifestOf('.');
const FOLDERS = ['src', ...PACKAGES, 'test'];

/** The folder of the peers of the benchmark has libraries of its own. */
const LIBRARIES = /(?:^|\/)node_modules\//;
const typeScriptIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !LIBRARIES.test(file),
  );
const importsOf = (path: string): string[] =>
  [...readFileSync(path, 'utf8').matchAll(/^(?:import|export)[^'"]*?from ['"]([^'"]+)['"]/gm)].map((m) => m[1]!);
/** Libraries that a file loads while it runs, or whose files it reads. */
const laterImportsOf = (path: string): string[] =>
  [...readFileSync(path, 'utf8').matchAll(/import(?:\.meta\.resolve)?\(['"`]([^'"`.][^'"`]*)/g)].map((m) => m[1]!);
const files = typeScriptIn(SRC);

const OWN = '@lapel/';
/** The files of this repository that a file imports, by their paths in it. */
const importedBy = (path: string): string[] =>
  importsOf(join(ROOT, path))
    .filter((name) => name.startsWith('.') || name.startsWith(OWN))
    .map((name) =>
      name.startsWith(OWN) ? `${name.slice(OWN.length)}.ts` : relative(ROOT, resolve(ROOT, dirname(path), name)),
    );

/** The files that belong to circles of imports, or lie between two circles; empty if there is no circle. */
function circles(): string[] {
  const paths = FOLDERS.flatMap((folder) => typeScriptIn(join(ROOT, folder)).map((file) => join(folder, file)));
  const imports = new Map(paths.map((path) => [path, importedBy(path)]));
  // A file that imports none of the remaining files, or is imported by none of them, belongs to no circle.
  for (let before = -1; before !== imports.size; ) {
    before = imports.size;
    const imported = new Set([...imports.values()].flat());
    for (const [path, targets] of imports)
      if (!imported.has(path) || !targets.some((target) => imports.has(target))) imports.delete(path);
  }
  return [...imports.keys()];
}

t.test('there are no import cycles', async (t) => t.same(circles(), []));

/** Every wing and room of src/ by its path, with its place from top to bottom. Files directly in a wing wire its rooms. */
const PLACES = new Map<string, { place: number; room: Room }>(
  Object.entries(WINGS)
    .flatMap(([wing, { about, rooms }]): [string, Room][] => {
      const inWing = Object.entries(rooms);
      return [[wing, { about }], ...inWing.map(([name, room]): [string, Room] => [`${wing}/${name}`, room])];
    })
    .map(([path, room], place) => [path, { place, room }]),
);

/** The room of a file of src/, as a path; '' for a file directly in src/. */
function roomOf(file: string): string {
  const [wing = '', room = ''] = file.split('/').slice(0, -1);
  return WINGS[wing]?.rooms[room] === undefined ? wing : `${wing}/${room}`;
}

function mayImport(file: string, target: string): boolean {
  const [own, other] = [roomOf(file), roomOf(target)];
  if (own === other) return true;
  if (other === '') return own !== 'runtime' && PAGES.includes(basename(target, '.ts'));
  const [from, to] = [PLACES.get(own), PLACES.get(other)];
  return to !== undefined && (own === '' ? other === 'runtime' : from !== undefined && from.place < to.place);
}

/**
 * Checks the imports of a folder with rooms against their order. Files beside the rooms either import the rooms, or are
 * imported by all of them.
 */
function checkRooms(t: Test, folder: string, rooms: Storeys, leaves: readonly string[]): void {
  const inRooms = typeScriptIn(join(ROOT, folder)).filter((file) => file.includes('/'));
  const first = (file: string): string => file.replace('.ts', '').split('/')[0]!;
  const order = Object.keys(rooms);
  t.same([...new Set(inRooms.map(first))].sort(), [...order].sort());
  for (const file of inRooms) {
    const allowed = [...leaves, ...order.slice(order.indexOf(first(file)))];
    for (const target of importedBy(join(folder, file)).map((path) => relative(folder, path)))
      if (!target.startsWith('../')) t.ok(allowed.includes(first(target)), `${file} imports ${target}`);
  }
}

t.test('every folder of src is a room of the table, and every file directly in it a page', async (t) => {
  const rooms = new Set(files.filter((file) => file.includes('/')).map(roomOf));
  const known = [...PLACES.keys()];
  // A wing may consist of rooms only; then no file is directly in it.
  t.same([...rooms].sort(), known.filter((path) => rooms.has(path) || !(path in WINGS)).sort());
  const pages = files.filter((file) => !file.includes('/'));
  t.same(pages.sort(), [...PAGES, 'doctor', 'main', 'maintenance', 'service'].map((name) => `${name}.ts`).sort());
});

const WIRING = ['doctor.ts', 'main.ts', 'maintenance.ts', 'service.ts'];

t.test('files import only the rooms and wings below them', async (t) => {
  for (const file of files.filter((name) => !WIRING.includes(name))) {
    for (const target of importedBy(join('src', file))) {
      const allowed = target.startsWith('src/')
        ? mayImport(file, relative('src', target))
        : target.startsWith('schemas/');
      t.ok(allowed, `${file} imports ${target}`);
    }
    const repositories = importsOf(join(SRC, file)).filter((name) => name.includes('-repository.ts'));
    if (file.endsWith('-repository.ts')) t.same(repositories, [], `${file}: a repository imports no other repository`);
  }
});

/** Folders that belong to no package, and that a package may import by their paths. */
const OUTSIDE: Readonly<Record<string, readonly string[]>> = { tools: ['src', 'test'] };

t.test('a package imports another one by its name, and names it in its package.json', async (t) => {
  const byName = (folder: string): ((name: string) => boolean) => {
    const { dependencies, devDependencies } = manifestOf(folder);
    const named = Object.keys({ ...dependencies, ...devDependencies });
    return (name) => named.includes(name.split('/').slice(0, 2).join('/'));
  };
  for (const folder of ['.', ...PACKAGES]) {
    const isNamed = byName(folder);
    const within = folder === '.' ? ['src', 'test'] : [folder, ...(OUTSIDE[folder] ?? [])];
    const paths = folder === '.' ? within : [folder];
    for (const file of paths.flatMap((path) => typeScriptIn(join(ROOT, path)).map((name) => join(path, name)))) {
      for (const name of importsOf(join(ROOT, file))) {
        const target = relative(ROOT, resolve(ROOT, dirname(file), name));
        const allowed = name.startsWith('.')
          ? within.includes(target.split('/')[0]!)
          : !name.startsWith(OWN) || isNamed(name);
        t.ok(allowed, `${file} imports ${name}`);
      }
    }
  }
});

t.test('a library is imported by the rooms that own it, and by no others', async (t) => {
  const rooms = [...PLACES].map(([path, { room }]) => [path, room] as const);
  const owned = rooms.flatMap(([path, { owns = [] }]) => owns.map((library) => ({ library, path })));
  const used = new Set<string>();
  for (const file of files.filter((name) => !WIRING.includes(name))) {
    const names = [...importsOf(join(SRC, file)), ...laterImportsOf(join(SRC, file))];
    for (const name of names.filter((one) => !one.startsWith('.'))) {
      const owners = owned.filter(({ library }) => name === library || name.startsWith(`${library}/`));
      const own = owners.find(({ path }) => path === roomOf(file));
      if (own) used.add(`${own.library} of ${own.path}`);
      else t.same(owners, [], `${file} imports ${name}`);
    }
  }
  t.same([...used].sort(), owned.map(({ library, path }) => `${library} of ${path}`).sort());
});

t.test('a library that most services never need is loaded at its first use', async (t) => {
  for (const file of files)
    t.notOk(/^import (?!type )[^;]*from 'openid-client'/m.test(readFileSync(join(SRC, file), 'utf8')), file);
});

/** Files of the contract that the script of the console contains. */
const IN_BROWSERS = [
  '@lapel/schemas/base/rollout-distance',
  '@lapel/schemas/base/rollout-health',
  '@lapel/schemas/base/rollout-verdict',
  '@lapel/schemas/base/exact-json',
  '@lapel/schemas/base/explain-signature',
  '@lapel/schemas/base/rollouts',
];

t.test('the pages import their own files, their packaged libraries, and little of the contract', async (t) => {
  const isTypes = (text: string, name: string): boolean =>
    name === '@lapel/schemas/contracts/types' && new RegExp(`^import type [^;]*?from '${name}'`, 'm').test(text);
  for (const file of typeScriptIn(join(ROOT, 'console'))) {
    const path = join(ROOT, 'console', file);
    for (const name of importsOf(path)) {
      const target = relative(join(ROOT, 'console'), resolve(dirname(path), name));
      const isOwn = name.startsWith('.') && !target.startsWith('..');
      const allowed =
        isOwn ||
        BROWSER_PACKAGES.some((one) => name === one || name.startsWith(`${one}/`)) ||
        IN_BROWSERS.includes(name) ||
        isTypes(readFileSync(path, 'utf8'), name);
      t.ok(allowed, `console/${file} imports ${name}`);
    }
  }
});

t.test('rules use no database, no clock and no promises', async (t) => {
  const known = ['schemas/contracts/errors', 'schemas/contracts/types', 'src/runtime/units'];
  const allowed = [...RULES, ...known].map((name) => `${name}.ts`);
  for (const file of RULES.map((name) => `${name}.ts`)) {
    t.notMatch(
      readFileSync(join(ROOT, file), 'utf8'),
      /\b(async|await|Promise|Date\.now|performance|setTimeout)\b/,
      file,
    );
    for (const target of importedBy(file)) t.ok(allowed.includes(target), `${file} imports ${target}`);
  }
});

t.test('the rooms of the command line import only rooms below them', async (t) => checkRooms(t, 'cli', CLI_ROOMS, []));

t.test('the rooms of the device library import only rooms below them, and nothing of the other packages', async (t) => {
  checkRooms(t, 'device', DEVICE_ROOMS, []);
  for (const file of typeScriptIn(join(ROOT, 'device')).map((name) => join('device', name)))
    for (const target of importedBy(file)) t.ok(target.startsWith('device/'), `${file} imports ${target}`);
});

t.test('nothing outside main.ts uses process.* or imports service.ts', async (t) => {
  for (const file of files.filter((name) => name !== 'main.ts')) {
    t.notOk(/\bprocess\.(env|argv|exit|on|stdout|stderr)\b/.test(readFileSync(join(SRC, file), 'utf8')), file);
    t.notOk(
      importsOf(join(SRC, file)).some((name) => name.endsWith('/service.ts')),
      file,
    );
  }
});

t.test('the rooms of the simulator import only rooms below them', async (t) =>
  checkRooms(t, 'device-sim', SIMULATOR_ROOMS, SIMULATOR_LEAVES),
);

// The devices implement the contract themselves. The customer is a customer's program, and uses the typed client. Records
// of traffic hide the same secrets as the service, because one list says which fields are secret. One reader reads APK
// files, as Android does. A key that needs a passphrase is told by the code that Node gives, which both programs know from
// one place. Both make certificates in the same way, and name places in YAML files in the same way. Both programs are
// installed together, with the same version and for the same Node.
const OF_THE_SERVICE: Readonly<Record<string, RegExp>> = {
  'device-sim': /^schemas\/base\/locked-key\.ts$/,
  'device-sim/customer': /^client\//,
  'device-sim/device-test': /^schemas\/base\/certificates\.ts$/,
  'device-sim/files': /^schemas\/apk\//,
  'device-sim/recording': /^schemas\/base\/without-secrets\.ts$/,
  'device-sim/scenario': /^schemas\/base\/yaml-place\.ts$/,
};
const OF_THE_INSTALLATION = /^schemas\/base\/(?:installation|version|async-disposable-stack)\.ts$/;
t.test(
  'the simulator imports only the typed client, the readers and makers of common formats, and its installation',
  async (t) => {
    for (const file of typeScriptIn(join(ROOT, 'device-sim')).map((name) => join('device-sim', name))) {
      const outside = importedBy(file).filter(
        (target) => !target.startsWith('device-sim/') && !OF_THE_INSTALLATION.test(target),
      );
      const allowed = OF_THE_SERVICE[dirname(file)] ?? /^$/;
      for (const target of outside) t.match(target, allowed, file);
    }
  },
);

/** Paths of an API as they would be typed by hand: in any client, and as the console would give them to its requests. */
const TYPED_PATH = /['"`](?:[A-Z]+ )?\/(?:admin\/|api\/)?v1\//;
const TYPED_REQUEST = /\b(?:(?:send|read|readPage)(?:<[^()]*>)?\(\s*(?:['"`]|\{)|fetch\(\s*['"`])/;

t.test('clients name their operations, and type no path of an API', async (t) => {
  for (const path of ["'/admin/v1/developers'", '`/v1/applications`']) t.match(path, TYPED_PATH);
  for (const call of [
    "send('DELETE', path)",
    'read<{ rows: Row[] }>(`/devices`)',
    "send(\n  '/a'",
    "read({ path: '/a' })",
    'fetch(`/readyz`)',
  ])
    t.match(call, TYPED_REQUEST);
  const isClean = "send(operation('deleteDevice', { deviceId }))";
  t.notMatch(isClean, TYPED_REQUEST);
  for (const folder of ['console/pages', 'console/parts', 'cli', 'device-sim']) {
    const found = typeScriptIn(join(ROOT, folder));
    t.not(found.length, 0, folder);
    for (const file of found) {
      const text = readFileSync(join(ROOT, folder, file), 'utf8');
      t.notOk(TYPED_PATH.test(text), `${folder}/${file}`);
      if (folder.startsWith('console/')) t.notOk(TYPED_REQUEST.test(text), `${folder}/${file}`);
    }
  }
});

t.test('a file of handlers sees the services that it uses, and no others', async (t) => {
  let picks = 0;
  for (const file of files.filter((name) => /^edge\/(admin|api)\//.test(name) && !name.endsWith('-server.ts'))) {
    const text = readFileSync(join(SRC, file), 'utf8');
    t.notMatch(text, /: (Admin|Api)Services\b(?!\[)/, `${file} is given all services`);
    const declared = /Pick<\s*(?:Admin|Api)Services,([^>]*)>/g;
    const rest = text.replace(declared, '');
    for (const [, names = ''] of text.matchAll(declared))
      for (const [, name = ''] of names.matchAll(/'(\w+)'/g)) {
        picks += 1;
        t.match(rest, new RegExp(`\\b${name}\\b`), `${file} needs no ${name}`);
      }
  }
  t.ok(picks > 50, `${picks} services are named`);
});

t.test('uses of undocumented parts of Aedes are in one file', async (t) => {
  for (const file of files.filter((name) => name.startsWith('edge/mqtt/') && name !== 'edge/mqtt/aedes-internals.ts')) {
    t.notOk(/as unknown as|\._(?!write\b|writev\b)[a-z]/.test(readFileSync(join(SRC, file), 'utf8')), file);
  }
});

t.test('no file is longer than 400 lines', async (t) => {
  for (const folder of FOLDERS) {
    for (const file of typeScriptIn(join(ROOT, folder)).filter((name) => !GENERATED.includes(`${folder}/${name}`))) {
      t.ok(readFileSync(join(ROOT, folder, file), 'utf8').split('\n').length <= 401, `${folder}/${file}`);
    }
  }
});

t.test('every file of tests is run by exactly one process', async (t) => {
  t.same(SUITES.all.flat().sort(), [...Object.keys(ALONE), ...Object.keys(GROUPS)].sort());
  t.same(
    [...Object.keys(ALONE), ...Object.keys(GROUPS).flatMap((group) => Object.values(filesOf(group)).flat())].sort(),
    allFiles(),
  );
});
