import { rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { editorSchemaText } from '@lapel/cli/files/export/editor-schema';
import { loadContracts } from '@lapel/schemas/contracts/contracts';
import { Ajv2020 } from 'ajv/dist/2020.js';
import t from 'tap';
import { parse } from 'yaml';
import { blocksOf } from '../docs/blocks.ts';
import { FILES } from './drifts.ts';
import { standOf } from './stand.ts';

const ENDPOINT = "{ description: a, url: 'https://a.example/', signatures: [v1a] }";
const aliases = Array.from(
  { length: 30 },
  (_, index) => `  k${index}: &a${index} [${index ? `*a${index - 1}, *a${index - 1}` : '1'}]`,
);

/** A faulty file, and the words that name it. */
const FAULTY: Readonly<Record<string, [text: string, words: RegExp]>> = {
  'no YAML': ['settings: [\n', /a\.yaml:2: /],
  'a key twice': ['settings: {}\nsettings: {}\n', /a\.yaml:2: Map keys must be unique/],
  'two documents': ['settings: {}\n---\nsettings: {}\n', /a\.yaml:/],
  'nothing at all': ['', /a\.yaml:1: /],
  'an empty list': ['endpoints:\n', /a\.yaml:1: endpoints: Input should be a valid list/],
  'an unknown field': [
    `endpoints:\n  - description: a\n    uri: x\n`,
    /a\.yaml:3: endpoints\[0\]\.uri: Extra inputs are not permitted/,
  ],
  'a number for a version': [
    'packages:\n  - package: a.b\n    versions:\n      - version: 1.2\n',
    /a\.yaml:4: packages\[0\]\.versions\[0\]\.version: Input should be a valid string/,
  ],
  'an endpoint without a name': ['endpoints: [{ url: x }]\n', /a\.yaml:1: endpoints: an endpoint needs a description/],
  'a bomb of aliases': [`settings:\n${aliases.join('\n')}\n`, /a\.yaml:1: Excessive alias count/],
  'brackets only': ['['.repeat(100_000), /a\.yaml:1: /],
  '10,000 tags': [
    `tags:\n${'  - { name: a, devices: {}, tags: { a: b } }\n'.repeat(10_000)}`,
    /a\.yaml:1: tags: List should have at most 200 items/,
  ],
  'a large file': [`# ${'x'.repeat(1_100_000)}`, /a\.yaml: has more than 1048576 bytes/],
  'a secret': [
    'rollouts:\n  - label: a\n    parameters: [{ ssid: x, password: open }]\n',
    /a\.yaml:3: rollouts\[0\]\.parameters\[0\]\.password: is a secret; write a reference to it/,
  ],
  'a reference to nothing': [
    `settings: { callEvent: '\${env:NO_SUCH}' }\n`,
    /a\.yaml:1: settings\.callEvent: the environment has no NO_SUCH/,
  ],
  'a reference to a file without an end': [
    `settings: { callEvent: '\${file:/dev/zero}' }\n`,
    /callEvent: \/dev\/zero is not a file/,
  ],
  'a reference of another kind': [
    `settings: { callEvent: '\${vault:x}' }\n`,
    /callEvent: \$\{vault:x\} is no reference; write \$\{env:NAME\}/,
  ],
  'a file for two secrets': [
    'endpoints:\n  - { description: a, secretTo: s }\n  - { description: b, secretTo: ./s }\n',
    /a\.yaml:3: the file of a secret: is declared already, at .*a\.yaml:2/,
  ],
  'an exclusive list elsewhere': ['exclusive: [endpoints]\n', /exclusive\[0\]: this file has no endpoints/],
  'another application': [
    'application: other-app\nsettings: { callEvent: null }\n',
    /the files are for the application other-app/,
  ],
};

t.test('a fault is named with its file, line and field, and nothing is changed', async (t) => {
  const stand = await standOf(t);
  const { lapel, folder, tenant, world } = stand;
  const settings = async () => (await tenant.api.get(tenant.path)).body;
  const before = await settings();
  for (const [name, [text, words]] of Object.entries(FAULTY)) {
    stand.write({ 'a.yaml': text });
    for (const line of [`plan -f ${folder}`, `apply -f ${folder} --yes`])
      t.match(await lapel(line), { code: 1, stderr: words }, name);
  }
  const { stdout } = await lapel(`plan -f ${folder} --json`);
  t.match(JSON.parse(stdout), { ok: false });
  t.same(await settings(), before);

  await t.test('one object in two files is refused', async (t) => {
    stand.write({ 'a.yaml': `endpoints: [${ENDPOINT}]\n`, 'b.yaml': `endpoints:\n  - ${ENDPOINT}\n` });
    const { code, stdout } = await lapel(`plan -f ${folder} --json`);
    t.equal(code, 1);
    t.match(JSON.parse(stdout).faults, [
      { file: /b\.yaml$/, line: 2, field: 'endpoints', text: /declared already, at .*a\.yaml:1/ },
    ]);
    stand.write({ 'b.yaml': 'exclusive: [endpoints]\nendpoints: []\n' });
    t.match(await lapel(`plan -f ${folder}`), { code: 1, stderr: /an exclusive list is in one file/ });
  });

  await t.test('a missing file removes nothing, and an unreadable one ends the command', async (t) => {
    stand.write({ 'a.yaml': `endpoints: [${ENDPOINT}]\n`, 'b.yaml': 'settings: { callEvent: null }\n' });
    t.match(await stand.apply(), { code: 0 });
    rmSync(join(folder, 'a.yaml'));
    t.match(await stand.plan(), { code: 0, steps: [] });
    stand.write({ 'a.yaml/x': '' });
    t.match(await lapel(`plan -f ${folder}`), { code: 1, stderr: /a\.yaml: cannot be read/ });
    rmSync(join(folder, 'a.yaml'), { recursive: true });
    symlinkSync('/dev/zero', join(folder, 'a.yaml'));
    t.match(await lapel(`plan -f ${folder}`), { code: 1, stderr: /a\.yaml: cannot be read: it is not a file/ });
    rmSync(join(folder, 'a.yaml'));
    t.match(await lapel('plan -f /nonexistent'), {
      code: 1,
      stderr: /there is no \/nonexistent\n {2}lapel export writes/,
    });
    t.match((await tenant.api.get(`${tenant.path}/endpoints`)).body.endpoints, [{ description: 'a' }]);
  });

  await t.test('a person who only looks can plan, and not apply', async (t) => {
    const json = { name: 'Ann', role: 'reader' };
    const member = await world.admin().post('/admin/v1/developers/dev/members', { json });
    const env = { LAPEL_APPLICATION_SECRET: member.body.token };
    stand.write({ 'b.yaml': "settings: { callEvent: 'https://calls.example/' }\n" });
    t.match(await lapel(`plan -f ${folder}`, { env }), { code: 3 });
    t.match(await lapel(`apply -f ${folder} --yes`, { env }), { code: 1, stderr: /cannot change the settings: 403/ });
  });

  await t.test('an object of another tenant is not there', async (t) => {
    const other = await world.createTenant('other');
    const { body } = await other.api.post(`${other.path}/endpoints`, { json: { url: 'https://other.example/' } });
    stand.write({ 'b.yaml': `endpoints: [{ endpointId: ${body.endpointId}, absent: true }]\n` });
    t.match(await stand.plan(), { code: 0, unchanged: 1, steps: [] });
    stand.write({ 'b.yaml': `endpoints: [{ endpointId: ${body.endpointId}, url: 'https://mine.example/' }]\n` });
    t.match(await stand.plan(), { code: 1, refused: [{ reason: /the application has no endpoint ep_/ }] });
  });
});

t.test('editors know what a file may have', async (t) => {
  const schema = JSON.parse(editorSchemaText()) as object;
  const validate = new Ajv2020({ strict: false, validateSchema: true }).compile(schema);
  const accepts = (text: string): boolean => validate(parse(text));
  for (const [name, text] of Object.entries(FILES))
    t.ok(accepts(text.replace('DEVICE', '490154203237518')), `${name} ${JSON.stringify(validate.errors)}`);
  t.notOk(accepts('endpoints: [{ uri: x }]'));
  t.notOk(accepts("application: 'no id'"));
  t.ok(accepts(`application: '\${env:APPLICATION}'`), 'a reference stands in the place of any text');
  t.notMatch(JSON.stringify(schema), /"\$ref":"(?!#)/, 'it is one document');
});

t.test('a plan for programs has its schema', async (t) => {
  const stand = await standOf(t);
  stand.write({ 'a.yaml': `endpoints: [${ENDPOINT}]\nsettings: { callEvent: null }\n` });
  const { ok, ...plan } = JSON.parse((await stand.lapel(`plan -f ${stand.folder} --json`)).stdout);
  t.equal(ok, true);
  t.same(loadContracts().faults('files/plan', plan), []);
});

t.test('the examples of the documents are files without a fault', async (t) => {
  const validate = new Ajv2020({ strict: false }).compile(JSON.parse(editorSchemaText()) as object);
  const blocks = blocksOf('docs/configuration-files.md').filter(({ language }) => language === 'yaml');
  const [application, administration, pipeline] = blocks;
  for (const block of [application, administration])
    t.ok(validate(parse(block?.text ?? '')), `line ${block?.line}: ${JSON.stringify(validate.errors)}`);
  t.match(Object.keys(parse(pipeline?.text ?? '') as object), ['plan', 'apply', 'drift']);
  const stand = await standOf(t);
  stand.write({ 'a.yaml': (application?.text ?? '').replace('application: patrol', 'application: dev-app') });
  const { code, stderr } = await stand.lapel(`plan -f ${stand.folder}`, {
    env: { CALL_EVENT_URL: 'https://x.example/' },
  });
  t.match(stderr, /^lapel: \d differences? (is|are) refused\n$/, 'only the binary is not there');
  t.equal(code, 1);
});
