import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { startWorld } from '../world.ts';

const apk = (name: string): Buffer => readFileSync(join(import.meta.dirname, '..', 'apks', name));

t.test(
  'an upload that says something else than was registered is distributed, and administration is told',
  async (t) => {
    const world = await startWorld(t);
    const tenant = await world.createTenant();
    const upload = async (name: string, version: string, binary: Buffer): Promise<void> => {
      const json = { package: name, version, fileSize: binary.length };
      const answer = await tenant.api.post(`${tenant.path}/apps`, { json });
      await fetch(answer.body.urlList[0].uploadUrl, { method: 'PUT', body: new Uint8Array(binary) });
    };
    const warnings = async () => {
      await world.idle();
      return (await world.admin().get('/admin/v1/binary-warnings')).body.warnings;
    };
    const versionPath = (name: string, version: string) => `${tenant.path}/packages/${name}/versions/${version}`;

    await upload('com.example.camera', '1.0.0', apk('camera-1.0.0.apk'));
    await upload('com.example.camera', '1.2.0', apk('camera-claims-1.2.0-embeds-9.9.9.apk'));
    await upload('com.example.other', '1.1.0', apk('camera-1.1.0.apk'));
    await upload('com.example.text', '1.0.0', Buffer.from('this is no archive'));
    t.same(await warnings(), [], 'nothing was seen yet');

    await tenant.api.get(`${versionPath('com.example.camera', '1.0.0')}/binaries`); // op 20
    const started = await tenant.api.post(`${versionPath('com.example.camera', '1.2.0')}/distributions`); // op 26
    t.equal(started.status, 201);
    await tenant.api.get(`${versionPath('com.example.text', '1.0.0')}/binaries`);
    await world.idle();
    await tenant.api.post(`${versionPath('com.example.other', '1.1.0')}/distributions`);
    t.match(await warnings(), [
      {
        package: 'com.example.camera',
        version: '1.2.0',
        warning: 'the file has the version name 9.9.9.',
        found: { package: 'com.example.camera', versionName: '9.9.9', versionCode: 3 },
      },
      { package: 'com.example.other', version: '1.1.0', warning: 'the file is of the package com.example.camera.' },
      { package: 'com.example.text', version: '1.0.0', found: null },
    ]);

    await upload('com.example.text', '1.0.0', apk('camera-1.0.0.apk'));
    await tenant.api.get(`${versionPath('com.example.text', '1.0.0')}/binaries`);
    t.match(
      (await warnings()).at(-1),
      { package: 'com.example.text', found: { versionName: '1.0.0' } },
      'a new upload is read anew',
    );
    await tenant.api.delete(`${versionPath('com.example.text', '1.0.0')}/binaries`);
    await tenant.api.delete(versionPath('com.example.text', '1.0.0'));
    t.equal((await warnings()).length, 2, 'a version that is removed takes its warning along');
  },
);
