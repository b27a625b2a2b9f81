import { execFileSync, spawnSync } from 'node:child_process';
import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { RUNTIME_PACKAGES } from '@lapel/tools/scripts/release/contents';
import { imageFaults } from '@lapel/tools/scripts/release/images';
import { type Locked, MANIFEST, PACKAGES, ROOT, referenceOf } from '@lapel/tools/scripts/release/lockfile';
import { licenseFaults, lockfileFaults } from '@lapel/tools/scripts/release/origins';
import { billOfMaterials, containedPackages } from '@lapel/tools/scripts/release/sbom';
import { signatureOf, signingKey } from '@lapel/tools/scripts/release/sign';
import t from 'tap';
import { missing } from './installed.ts';

t.test('each package of package-lock.json comes from the registry, with the hash of its archive', async (t) => {
  t.same(lockfileFaults(), []);
  t.ok(Object.keys(PACKAGES).length > 500, 'there are packages');
  const settings = readFileSync(join(ROOT, '.npmrc'), 'utf8');
  t.match(settings, /^omit-lockfile-registry-resolved=true$/m, 'only other places have an address');
  t.notMatch(settings, /registry\s*=|strict-ssl/, 'npm uses its registry, over https');
});

t.test('a package from another place is found', async (t) => {
  const path = 'node_modules/koa';
  const faultsOf = (locked: Partial<Locked>, name = path): string[] =>
    lockfileFaults({ ...PACKAGES, [name]: { ...PACKAGES[path]!, ...locked } });
  const { integrity: _, ...bare } = PACKAGES[path]!;
  t.same(lockfileFaults({ ...PACKAGES, [path]: bare }), [`${path} has no SHA-512`]);
  t.same(faultsOf({ integrity: 'sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=' }), [`${path} has no SHA-512`]);
  for (const resolved of [
    'http://registry.npmjs.org/koa/-/koa-3.3.0.tgz',
    'https://example.com/koa-3.3.0.tgz',
    'git+ssh://git@example.com/koa.git#0123456',
    'file:../koa',
  ])
    t.same(faultsOf({ resolved }), [`${path} does not come from the registry`], resolved);
  t.same(faultsOf({ link: true }), [`${path} is a folder of this machine`]);
  t.same(faultsOf({}, '../koa'), ['../koa is a folder of this machine']);
  t.same(faultsOf({ inBundle: true }), [`${path} is inside of another package`]);
  for (const range of [
    'git+https://example.com/a.git',
    'github:example/a',
    'example/a',
    'file:../a',
    'https://a/a.tgz',
  ])
    t.same(faultsOf({ dependencies: { a: range } }), [`${path} needs a from another place than the registry`], range);
});

t.test('a package.json that package-lock.json does not have is found', async (t) => {
  const differs = 'package-lock.json is not that of package.json';
  const faultsOf = (name: string, range: string): string[] =>
    lockfileFaults(PACKAGES, { ...MANIFEST, dependencies: { ...MANIFEST.dependencies, [name]: range } });
  t.same(faultsOf('koa', '*'), [differs]);
  t.same(faultsOf('new', '^1.0.0'), [differs]);
  for (const range of ['example/koa', 'latest', 'npm:other@1.0.0', 'file:../koa'])
    t.same(faultsOf('koa', range), [differs, 'package.json has no range of versions of koa'], range);
});

t.test('an image of a container without a digest needs a reason', async (t) => {
  t.same(imageFaults(), []);
  const digest = `@sha256:${'0'.repeat(64)}`;
  const unknownIn = (text: string): string[] =>
    imageFaults({ file: text }).filter((fault) => fault.startsWith('file: '));
  t.same(unknownIn(`FROM alpine:3 AS one\nFROM one\nFROM alpine${digest}\n`), ['file: alpine:3 has no digest']);
  t.same(unknownIn(`ARG BASE=alpine\nFROM \${BASE}\n`), ['file: alpine has no digest']);
  t.same(unknownIn(`FROM \${UNSET}\n`), [`file: \${UNSET} has no digest`]);
  t.same(unknownIn(`services:\n  a:\n    image: 'redis:8' # the newest\n  b: { }\n`), ['file: redis:8 has no digest']);
  t.same(unknownIn(`containers:\n  - image: redis${digest}\n`), []);
  t.same(unknownIn(`image: redis@sha256:short\n`), ['file: redis@sha256:short has no digest']);
  t.ok(imageFaults({}).includes('node:24-slim is named nowhere, so it needs no reason'));
});

t.test('each package that a program may load has a license that binds no user', async (t) => {
  t.same(licenseFaults(), []);
  const faultsOf = (license?: string): number => {
    const { license: _, ...koa } = PACKAGES['node_modules/koa']!;
    return licenseFaults({ 'node_modules/koa': { ...koa, ...(license !== undefined && { license }) } }).length;
  };
  for (const good of ['MIT', '(MIT OR GPL-3.0-only)', 'MIT AND ISC', 'Apache-2.0 OR MIT'])
    t.equal(faultsOf(good), 0, good);
  for (const bad of [
    undefined,
    '',
    'GPL-3.0-only',
    'MIT AND GPL-3.0-only',
    'AGPL-3.0-only OR GPL-3.0-only',
    '(MIT OR (MIT AND GPL-2.0-only',
    'SEE LICENSE IN LICENSE',
    'UNLICENSED',
    'mit-like',
  ])
    t.equal(faultsOf(bad), 1, String(bad));
});

t.test(
  'the list of packages of a release has all of them, with license and hash, and is the same each time',
  async (t) => {
    const made = billOfMaterials();
    const { bomFormat, serialNumber, metadata, components } = JSON.parse(made.toString()) as {
      bomFormat: string;
      serialNumber: string;
      metadata: object;
      components: {
        'bom-ref': string;
        purl: string;
        hashes: { alg: string; content: string }[];
        licenses?: object[];
        externalReferences: { type: string }[];
      }[];
    };
    t.equal(bomFormat, 'CycloneDX');
    t.match(serialNumber, /^urn:uuid:[0-9a-f-]{36}$/);
    t.match(metadata, { timestamp: undefined, component: { name: 'lapel', version: MANIFEST.version } });
    const contained = containedPackages();
    t.ok(contained.length > RUNTIME_PACKAGES.length);
    for (const name of ['ws', 'ajv', 'yaml', 'preact']) t.ok(contained.includes(`node_modules/${name}`), name);
    const references = components.map((component) => component['bom-ref']);
    t.same(references.toSorted(), [...new Set(contained.map(referenceOf))].sort());
    const hashes = new Map(contained.map((path) => [referenceOf(path), PACKAGES[path]?.integrity]));
    for (const component of components) {
      const reference = component['bom-ref'];
      const sha512 = component.hashes.find(({ alg }) => alg === 'SHA-512')?.content ?? '';
      t.equal(`sha512-${Buffer.from(sha512, 'hex').toString('base64')}`, hashes.get(reference), reference);
      t.ok(component.licenses && component.licenses.length > 0, `${reference} has a license`);
      t.equal(component.purl, `pkg:npm/${reference.replace(/^@/, '%40')}`);
    }
  },
);

t.test('the signature of checksums is verified by openssl', { skip: missing.openssl() }, async (t) => {
  const { privateKey } = generateKeyPairSync('ed25519');
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
  const sums = Buffer.from(`${'0'.repeat(64)}  lapel-1.0.0.tgz\n`);
  const key = signingKey(pem);
  t.same(signatureOf(sums, key), signatureOf(sums, key), 'the same each time');
  const folder = t.testdir({
    'key.pem': pem,
    SHA256SUMS: sums,
    'SHA256SUMS.sig': signatureOf(sums, key),
    'other.sig': signatureOf(sums, generateKeyPairSync('ed25519').privateKey),
    changed: Buffer.from(sums.toString().replace('0', '1')),
  });
  execFileSync('openssl', ['pkey', '-in', 'key.pem', '-pubout', '-out', 'lapel.pem'], { cwd: folder });
  t.ok(createPublicKey(readFileSync(join(folder, 'lapel.pem'))).equals(createPublicKey(privateKey)));
  const verify = (file: string, signature: string): number | null =>
    spawnSync(
      'openssl',
      ['pkeyutl', '-verify', '-pubin', '-inkey', 'lapel.pem', '-rawin', '-in', file, '-sigfile', signature],
      { cwd: folder },
    ).status;
  t.equal(verify('SHA256SUMS', 'SHA256SUMS.sig'), 0);
  t.equal(verify('changed', 'SHA256SUMS.sig'), 1, 'other checksums');
  t.equal(verify('SHA256SUMS', 'other.sig'), 1, 'another key');
});

t.test('only an Ed25519 key without a password signs', async (t) => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const format = { type: 'pkcs8', format: 'pem' } as const;
  t.throws(() => signingKey('no key'), /without a private key/);
  t.throws(() => signingKey(publicKey.export({ type: 'spki', format: 'pem' }) as string), /without a private key/);
  const locked = privateKey.export({ ...format, cipher: 'aes-256-cbc', passphrase: 'secret' }) as string;
  t.throws(() => signingKey(locked), /without a private key in PEM \(or with one that has a password\)/);
  const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export(format) as string;
  t.throws(() => signingKey(other), /not an Ed25519 key/);
});
