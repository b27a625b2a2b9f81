import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readApiDocument } from '@lapel/schemas/contracts/api-document';
import { loadContracts, type SchemaName } from '@lapel/schemas/contracts/contracts';
import t from 'tap';
import { ROUTES as ADMIN_ROUTES } from '../../src/edge/admin/routes.ts';
import { ROUTES as API_ROUTES } from '../../src/edge/api/routes.ts';
import { commandOf } from '../../src/edge/docs/make/reference/commands.ts';
import { operationsOf } from '../../src/edge/docs/make/reference/operation.ts';
import { samplesOf } from '../../src/edge/docs/make/reference/samples.ts';
import { fill } from '../../src/edge/docs/slots.ts';
import { checkCall } from '../cli/check-call.ts';
import { runProgram } from '../run-program.ts';
import { blocksOf, CHECKED, NOT_RUN, RUN, reasonOf, shellBlocksOf } from './blocks.ts';
import { commandsOf } from './shell.ts';

const ROOT = join(import.meta.dirname, '../..');
const contracts = loadContracts();
const DOCUMENTS = [
  ...readdirSync(ROOT).filter((name) => name.endsWith('.md')),
  ...readdirSync(join(ROOT, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
  'client/README.md',
];

/** A word that begins a command, so a block that begins with it is one of commands. */
const COMMAND = /^(?:lapel|lapel-sim|npm|npx|curl|docker|apt-get|systemctl|journalctl|gcc|mosquitto_\w+|bin\/\S+)\s+\S/;

/** Programs of others that commands of documents call; their options are not ours to check. */
const OTHERS = new Set(
  `apt-get awk bash cat chronyc date df docker du echo env export gcc getent grep head iostat jar java javac journalctl jq ls mosquitto_pub
   mosquitto_rr mosquitto_sub node openssl psql pg_basebackup pg_verifybackup pgrep promtool python3 sed sha256sum sort
   systemctl tail tee timedatectl top touch true wc ./device alias for do done while shopt`.split(/\s+/),
);

const API = /^(?:\$API|\$D|http:\/\/127\.0\.0\.1:8080|https:\/\/lapel\.example)(?=\/)/;
const ADMIN = /^http:\/\/127\.0\.0\.1:8081(?=\/)/;
/** `$D` of the documents is the list of the devices of an application. */
const DEVICES = '/v1/applications/patrol/devices';

/** Checks that a call with curl is a documented one, and that its body fits the schema. */
function checkCurl(words: string[]): void {
  const url = words.find((word) => API.test(word) || ADMIN.test(word));
  if (url === undefined) return; // a call of another service
  const data = words.flatMap((word, index) => (words[index - 1] === '-d' ? [word] : []));
  const method = words[words.indexOf('-X') + 1 || words.length] ?? (data.length > 0 ? 'POST' : 'GET');
  const path = (url.startsWith('$D') ? url.replace('$D', DEVICES) : url.replace(API, '').replace(ADMIN, '')).split(
    '?',
  )[0]!;
  const routes = ADMIN.test(url) ? ADMIN_ROUTES : API_ROUTES;
  const segments = path.split('/');
  const fits = (template: string): boolean => {
    const parts = template.split('/');
    return (
      parts.length === segments.length && parts.every((part, index) => part.startsWith('{') || part === segments[index])
    );
  };
  const route = routes
    .filter((one) => one.method === method && fits(one.path))
    .sort((a, b) => a.path.split('{').length - b.path.split('{').length)[0];
  if (!route) throw new Error(`${method} ${path} is not served`);
  const [body] = data;
  if (body?.startsWith('{') || body?.startsWith('['))
    contracts.check(route.body as SchemaName, JSON.parse(body), 'body');
}

/** Checks a simple command. Throws when it is wrong, or when nothing is known about it. */
function check(given: readonly string[]): void {
  const settings = given.findIndex((word) => !/^\w+=/.test(word)); // settings may stand before a command
  const [program = '', ...args] = settings === -1 ? [] : given.slice(settings);
  if (program === '' || program === 'lapel-sim' || program === 'npm') return; // test/documents.test.ts reads these
  if (program === 'lapel' || program === 'bin/lapel.mjs') {
    if (checkCall(args) !== null) throw new Error('there is no such command');
  } else if (program === 'curl') checkCurl(args);
  else if (['do', 'env', 'while'].includes(program)) check(args);
  else if (!OTHERS.has(program)) throw new Error(`the program ${program} is unknown`);
}

/** Checks all commands of a text. */
function checkAll(text: string): void {
  for (const command of commandsOf(text)) {
    try {
      check(command);
    } catch (error) {
      throw new Error(`${command.join(' ')}: ${(error as Error).message}`, { cause: error });
    }
  }
}

t.test('every block of commands is run by a test, or checked with a reason', async (t) => {
  const looked = new Set<string>();
  for (const file of DOCUMENTS) {
    for (const { language, line, text } of blocksOf(file))
      if (language === '') t.notMatch(text.trimStart(), COMMAND, `${file}:${line} is marked as commands (sh)`);
    const blocks = shellBlocksOf(file);
    if (blocks.length === 0) continue;
    looked.add(file);
    t.ok(file in RUN !== file in CHECKED, `${file} is run or checked`);
    for (const block of blocks) {
      const { status, stderr } = spawnSync('bash', ['-n'], { input: block.text });
      t.equal(status, 0, `${file}:${block.line} ${stderr.toString()}`);
      const isRun = file in RUN && reasonOf(block) === undefined;
      if (!isRun) t.doesNotThrow(() => checkAll(block.text), `${file}:${block.line}`);
    }
  }
  t.same([...looked].sort(), [...Object.keys(RUN), ...Object.keys(CHECKED)].sort(), 'no list names another document');
  const texts = Object.keys(RUN)
    .flatMap(shellBlocksOf)
    .map(({ text }) => text);
  for (const beginning of Object.keys(NOT_RUN))
    t.ok(
      texts.some((text) => text.startsWith(beginning)),
      `there is a block that begins with ${beginning}`,
    );
  for (const test of Object.values(RUN)) t.ok(existsSync(join(ROOT, test)), test);
});

t.test('the check of commands finds what is wrong', async (t) => {
  for (const wrong of [
    'lapel device lst',
    'lapel device list --colour red',
    'lapel device activate',
    'lapel serve --no-such-setting x',
    'curl -s $API/v1/applications/patrol/nothing',
    `curl -X PUT -d '{"language":"ja"}' $API${DEVICES}/1/settings/lang`,
    'unknown-program --help',
  ])
    t.throws(() => checkAll(wrong), wrong);
  const text = `A="$(b 'x|y' | c)" # d\ne -o "$(f)" > g && h \\\n  i; j < k || l "m # 'n'"`;
  t.same(commandsOf(text), [
    ['b', 'x|y'],
    ['c'],
    ['A=$()'],
    ['f'],
    ['e', '-o', '$()'],
    ['h', 'i'],
    ['j'],
    ['l', "m # 'n'"],
  ]);
});

t.test('the examples of the reference: commands exist, and the calls of TypeScript compile', async (t) => {
  const document = await readApiDocument('openapi.yaml', { schemas: contracts.documents, serves: () => false });
  const operations = operationsOf(document);
  const lines: string[] = [];
  for (const operation of operations) {
    const samples = samplesOf(operation).map(({ source, ...sample }) => ({
      ...sample,
      source: fill(source, { shellUrl: (path) => `https://lapel.example${path}` }),
    }));
    const [curl, ...others] = samples;
    t.equal(curl?.label, 'curl', operation.id);
    for (const { name, in: place, required, example } of operation.parameters)
      if (required) t.ok(example !== undefined, `${operation.id} has an example of the ${place} parameter ${name}`);
    t.doesNotThrow(() => checkAll(curl!.source), operation.id);
    const command = commandOf(operation.id);
    if (command !== undefined) t.doesNotThrow(() => checkAll(command), command);
    const isCall = Boolean(operation.scope) && operation.id !== 'readFeed';
    t.equal(
      others.some(({ label }) => label === 'TypeScript'),
      isCall,
      operation.id,
    );
    for (const { label, source } of others) if (label === 'TypeScript') lines.push(`async () => {\n${source}\n},`);
  }
  const without = operations
    .filter(({ id, tag }) => commandOf(id) === undefined && tag !== 'Documents')
    .map(({ id }) => id);
  t.same(
    without.sort(),
    [
      'askAsAssistant',
      'createMember',
      'enrolDevice',
      'listInstallations',
      'listMembers',
      'listOwnTransactions',
      'readFeed',
      'readJwks',
      'readMetadata',
      'readOwnAccess',
      'readOwnTransaction',
      'readResourceMetadata',
      'renewCertificate',
      'revokeMember',
    ],
    'all other operations have a command',
  );
  const folder = t.testdir({
    'samples.ts': `import type { LapelClient } from '${ROOT}/client/index.ts';
declare const lapel: LapelClient;
export const samples = [\n${lines.join('\n')}\n];\n`,
    'tsconfig.json': JSON.stringify({
      extends: `${ROOT}/tsconfig.json`,
      compilerOptions: { noUnusedLocals: false },
      include: ['samples.ts'],
      exclude: [],
    }),
  });
  const { stdout } = await runProgram(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', folder]);
  t.equal(stdout, '');
  t.ok(readFileSync(join(folder, 'samples.ts'), 'utf8').includes('lapel.startRollout('));
});
