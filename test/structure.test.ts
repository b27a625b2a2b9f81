import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import t, { type Test } from 'tap';
import { PACKAGED } from '../src/console/packaged.ts';
import { CLI_ROOMS, LEAVES, ROOMS, type Room, RULES, SIMULATOR_LEAVES, SIMULATOR_ROOMS } from './rooms.ts';
import { ALONE, allFiles, filesOf, GROUPS } from './runs/groups.ts';

const ROOT = join(import.meta.dirname, '..');
const SRC = join(ROOT, 'src');
const GENERATED = ['src/contracts/types.ts', 'device-sim/scenario/scenario-file.ts'];
const FOLDERS = ['src', 'console', 'device-sim', 'demo', 'bench', 'harness', 'scripts', 'test'];

const typeScriptIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
const importsOf = (path: string): string[] =>
  [...readFileSync(path, 'utf8').matchAll(/^(?:import|export)[^'"]*?from ['"]([^'"]+)['"]/gm)].map((m) => m[1]!);
const files = typeScriptIn(SRC);
const roomOf = (file: string): string => (file.includes('/') ? file.split('/')[0]! : file.replace('.ts', ''));

const importedBy = (path: string): string[] =>
  importsOf(join(ROOT, path))
    .filter((name) => name.startsWith('.'))
    .map((name) => relative(ROOT, resolve(ROOT, dirname(path), name)));

/** The files of circles of imports, and those between two circles; none when there is no circle. */
function circles(): string[] {
  const paths = FOLDERS.flatMap((folder) => typeScriptIn(join(ROOT, folder)).map((file) => join(folder, file)));
  const imports = new Map(paths.map((path) => [path, importedBy(path)]));
  // Who imports none of those that are left, or is imported by none of them, is in no circle.
  for (let before = -1; before !== imports.size; ) {
    before = imports.size;
    const imported = new Set([...imports.values()].flat());
    for (const [path, targets] of imports)
      if (!imported.has(path) || !targets.some((target) => imports.has(target))) imports.delete(path);
  }
  return [...imports.keys()];
}

t.test('no file imports one that imports it, by whatever way', async (t) => t.same(circles(), []));

/** Holds the files in rooms of a folder against the table of its rooms; what is outside of the folder is not looked at. */
function checkRooms(t: Test, folder: string, rooms: Readonly<Record<string, Room>>, leaves: readonly string[]): void {
  const inRooms = typeScriptIn(join(ROOT, folder)).filter((file) => file.includes('/'));
  t.same([...new Set(inRooms.map(roomOf))].sort(), Object.keys(rooms).sort());
  for (const file of inRooms) {
    const room = roomOf(file);
    const allowed = [room, ...leaves, ...(rooms[room]?.rooms ?? [])];
    for (const target of importedBy(join(folder, file)).map((path) => relative(folder, path)))
      if (!target.startsWith('../')) t.ok(allowed.includes(roomOf(target)), `${file} imports ${target}`);
  }
}

t.test('every folder below src is a room of the table', async (t) => {
  const rooms = new Set(files.filter((file) => file.includes('/')).map(roomOf));
  t.same([...rooms].sort(), Object.keys(ROOMS).sort());
});

t.test('the leaf files are a closed list', async (t) => {
  const top = files.filter((file) => !file.includes('/')).map(roomOf);
  t.same(top.sort(), [...Object.keys(LEAVES), 'main', 'service'].sort());
});

for (const file of files) {
  const room = roomOf(file);
  if (room === 'main' || room === 'service') continue;
  t.test(`src/${file} imports only what its room may`, async (t) => {
    const allowed = new Set([room, ...Object.keys(LEAVES), ...(ROOMS[room]?.rooms ?? [])]);
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

t.test('the pages import their own files, what is packaged for them, and the types of the contract', async (t) => {
  const packaged = PACKAGED.map(({ name }) => name);
  const isTypes = (text: string, name: string): boolean =>
    name.endsWith('/src/contracts/types.ts') && new RegExp(`^import type [^;]*?from '${name}'`, 'm').test(text);
  for (const file of typeScriptIn(join(ROOT, 'console'))) {
    const path = join(ROOT, 'console', file);
    for (const name of importsOf(path)) {
      const target = relative(join(ROOT, 'console'), resolve(dirname(path), name));
      const isOwn = name.startsWith('.') && !target.startsWith('..');
      const allowed = isOwn || packaged.some((one) => one === name) || isTypes(readFileSync(path, 'utf8'), name);
      t.ok(allowed, `console/${file} imports ${name}`);
    }
  }
});

t.test('rules know no database, no clock and no waiting', async (t) => {
  const allowed = [...RULES, 'errors', 'contracts/types'].map((name) => `src/${name}.ts`);
  for (const file of RULES.map((name) => `src/${name}.ts`)) {
    t.notMatch(
      readFileSync(join(ROOT, file), 'utf8'),
      /\b(async|await|Promise|Date\.now|performance|setTimeout)\b/,
      file,
    );
    for (const target of importedBy(file)) t.ok(allowed.includes(target), `${file} imports ${target}`);
  }
});

t.test('the rooms of the command line import only each other’s as they may', async (t) =>
  checkRooms(t, 'src/cli', CLI_ROOMS, []),
);

t.test('nothing outside main.ts uses process.* or imports service.ts', async (t) => {
  for (const file of files.filter((name) => name !== 'main.ts')) {
    t.notMatch(readFileSync(join(SRC, file), 'utf8'), /\bprocess\.(env|argv|exit|on|stdout|stderr)\b/, file);
    t.notOk(
      importsOf(join(SRC, file)).some((name) => name.endsWith('/service.ts')),
      file,
    );
  }
});

t.test('the rooms of the simulator import only each other’s as they may', async (t) =>
  checkRooms(t, 'device-sim', SIMULATOR_ROOMS, SIMULATOR_LEAVES),
);

// Its devices read the contract on their own. Its customer is a customer's program, and uses what customers use.
t.test('the simulator imports of the service the client only, in its customer', async (t) => {
  for (const file of typeScriptIn(join(ROOT, 'device-sim')).map((name) => join('device-sim', name))) {
    const outside = importedBy(file).filter((target) => !target.startsWith('device-sim/'));
    const allowed = file.startsWith('device-sim/customer/') ? /^src\/client\// : /^$/;
    for (const target of outside) t.match(target, allowed, file);
  }
});

t.test('what is not documented of Aedes is in one file', async (t) => {
  for (const file of files.filter((name) => name.startsWith('broker/') && name !== 'broker/aedes-internals.ts')) {
    t.notMatch(readFileSync(join(SRC, file), 'utf8'), /as unknown as|\._(?!write\b|writev\b)[a-z]/, file);
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
  const { include } = (JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { tap: { include: string[] } })
    .tap;
  const runs = readdirSync(join(ROOT, 'test/runs')).filter((file) => /^\d/.test(file));
  t.same(include, ['test/runs/[0-9]*.ts', ...Object.keys(ALONE).map((file) => `test/${file}`)]);
  t.same(
    runs.sort(),
    Object.keys(GROUPS)
      .map((group) => `${group}.ts`)
      .sort(),
  );
  t.same([...Object.keys(ALONE), ...Object.keys(GROUPS).flatMap(filesOf)].sort(), allFiles());
});
