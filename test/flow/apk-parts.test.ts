import { createHash } from 'node:crypto';
import { MANIFEST, makeApk, makeDocument, makeZip, signedApk } from '@lapel/device-sim/files/make-apk';
import { makeResources } from '@lapel/device-sim/files/make-resources';
import t from 'tap';
import { startWorld } from '../world.ts';

const CAMERA = 'com.example.camera';
const KEY = 'our certificate';
const FINGERPRINT = createHash('sha256').update(KEY).digest('hex');
const REFERENCE = { type: 0x01, data: 0x7f010000 };

const attributesOf = (version: string | typeof REFERENCE, code: number | typeof REFERENCE = 7) => [
  { name: 'package', value: CAMERA },
  { name: 'versionCode', value: code },
  { name: 'versionName', value: version },
];
const signed = (version: string | typeof REFERENCE, code?: typeof REFERENCE): Buffer =>
  signedApk(makeApk({ attributes: attributesOf(version, code) }), KEY);

t.test('each part of an APK is read independently, and what could not be read is never called different', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const { api, path } = tenant;
  const at = (version: string): string => `${path}/packages/${CAMERA}/versions/${version}`;
  const json = { certificateChange: 'refuse' };
  await world.admin().patch(`/admin/v1/developers/${tenant.developerId}`, { json });

  async function upload(version: string, bytes: Buffer) {
    const file = new Uint8Array(bytes);
    const { body } = await api.post(`${path}/apps`, { json: { package: CAMERA, version, fileSize: file.length } });
    t.equal((await fetch(body.urlList[0].uploadUrl, { method: 'PUT', body: file })).status, 200);
    await api.get(`${at(version)}/binaries`);
    await world.idle();
    return (await api.get(`${at(version)}/binaries`)).body as { certificates: string[]; warning: string | null };
  }
  const start = (version: string) => api.post(`${at(version)}/distributions`);

  t.same((await upload('1.0.0', signed('1.0.0'))).warning, null);
  t.match(await start('1.0.0'), { status: 201 });

  await t.test('a version name that is a reference costs neither the certificates nor the distribution', async (t) => {
    const { certificates, warning } = await upload('1.1.0', signed(REFERENCE));
    t.same(certificates, [FINGERPRINT]);
    t.equal(warning, 'the version name of the file could not be read: versionName is a reference to a resource.');
    t.match(await start('1.1.0'), { status: 201 });
  });

  await t.test('a version name that is a reference is read where the table of resources has it', async (t) => {
    const file = makeZip([
      { name: MANIFEST, bytes: makeDocument({ attributes: attributesOf(REFERENCE) }) },
      { name: 'resources.arsc', bytes: makeResources([{ entries: { 0: '1.1.1' } }]), stored: true },
    ]);
    const { certificates, warning } = await upload('1.1.1', signedApk(file, KEY));
    t.same([certificates, warning], [[FINGERPRINT], null]);
  });

  await t.test('nor does a version code', async (t) => {
    const { certificates, warning } = await upload('1.2.0', signed('1.2.0', REFERENCE));
    t.same(certificates, [FINGERPRINT]);
    t.equal(warning, 'the version code of the file could not be read: versionCode is a reference to a resource.');
    t.match(await start('1.2.0'), { status: 201 });
  });

  await t.test('nor does a manifest that cannot be read, for whatever reason', async (t) => {
    const manifests: [version: string, file: Buffer][] = [
      ['1.3.0', makeZip([{ name: MANIFEST, bytes: Buffer.from('<manifest package="a.b"/>') }])],
      ['1.3.1', makeZip([{ name: 'classes.dex', bytes: Buffer.from('x') }])],
      ['1.3.2', makeApk({ attributes: attributesOf('1.3.2') }, { directory: { crc: 1 } })],
      ['1.3.3', makeApk({ attributes: attributesOf('1.3.3') }, { directory: { method: 14 } })],
      ['1.3.4', makeApk({ attributes: [{ name: 'package', value: 'no package name' }] })],
    ];
    for (const [version, file] of manifests) {
      const { certificates, warning } = await upload(version, signedApk(file, KEY));
      t.same(certificates, [FINGERPRINT], version);
      t.match(warning, /^the file cannot be read as an APK: /, version);
      t.notMatch(warning, /certificate/, version);
      t.match(await start(version), { status: 201 }, version);
    }
  });

  await t.test(
    'certificates that cannot be read are not other certificates, and have a code of their own',
    async (t) => {
      const broken = signed('1.4.0');
      broken.writeUInt32LE(0xffff, broken.indexOf('APK Sig Block 42') - 8); // the size of the block
      const { certificates, warning } = await upload('1.4.0', broken);
      t.same(certificates, []);
      t.match(warning, /^the certificates of the file could not be read: /);
      t.match(await start('1.4.0'), { status: 400, headers: { 'lapel-error-code': 'CERTIFICATE_UNREADABLE' } });
      await upload('1.4.1', Buffer.from('no archive'));
      t.match(await start('1.4.1'), { status: 400, headers: { 'lapel-error-code': 'CERTIFICATE_UNREADABLE' } });
      t.same((await upload('1.5.0', signed('1.5.0'))).warning, null, 'nor does a later version compare itself with it');
      t.match(await start('1.5.0'), { status: 201 });
    },
  );

  await t.test('a file that an earlier release could not read is read again', async (t) => {
    const raw = await world.raw();
    await raw.all(`UPDATE binary_certificates SET certificates = ''`);
    await raw.all('UPDATE binary_contents SET found_package = NULL');
    await api.get(`${at('1.1.0')}/binaries`);
    await world.idle();
    t.same((await api.get(`${at('1.1.0')}/binaries`)).body.certificates, [FINGERPRINT]);
  });

  await t.test('a file that Android refuses has a warning', async (t) => {
    const bytes = makeDocument({ attributes: attributesOf('2.0.0') });
    const other = Buffer.from('x');
    const nul = makeZip([
      { name: MANIFEST, bytes },
      { name: 'res/a\0b', bytes: other },
    ]);
    const behind = makeZip([
      { name: MANIFEST, bytes },
      { name: 'res/a', bytes: other, directory: { offset: 0x7000_0000 } },
    ]);
    const plain = makeZip([
      { name: 'first', bytes: other },
      { name: MANIFEST, bytes },
    ]);
    plain.write('MZ', 0, 'latin1');
    for (const [file, warning] of [
      [nul, /Android refuses the file: the name of an entry has a NUL character\./],
      [behind, /Android refuses the file: an entry lies behind the directory of the archive\./],
      [plain, /Android refuses the file: there are bytes before the archive\./],
    ] as const) {
      const shown = await upload('2.0.0', signedApk(file, KEY));
      t.match(shown.warning, warning);
      t.same(shown.certificates, [FINGERPRINT]);
    }
  });
});
