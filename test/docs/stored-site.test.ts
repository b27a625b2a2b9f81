import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { NEWEST_RELEASE } from '@lapel/schemas/contracts/deprecations';
import t from 'tap';
import { createDocs } from '../../src/edge/docs/docs.ts';
import { makeSite } from '../../src/edge/docs/make/make-site.ts';
import { textOfPage } from '../../src/edge/docs/make/site/page-text.ts';
import { storedFiles } from '../../src/edge/docs/make/stored-files.ts';
import { pageOfFile, pathOf, textFileOfPage } from '../../src/edge/docs/names.ts';
import { storedSite } from '../../src/edge/docs/site-files.ts';
import { runProgram } from '../run-program.ts';

const NAMED = {
  apiRelease: NEWEST_RELEASE,
  timeZone: 'UTC',
  publicUrl: () => 'https://lapel.example',
  mqttUrls: () => ['mqtts://lapel.example:8883'],
};

t.test('the files of a release', async (t) => {
  const folder = t.testdir();
  const stored = await storedFiles();
  for (const [path, text] of stored) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, `${path}.gz`), gzipSync(text));
  }

  await t.test('are those that a checkout makes, at every release of the interface', async (t) => {
    for (const apiRelease of ['2026-01', '2026-10', NEWEST_RELEASE]) {
      const site = storedSite(folder, apiRelease);
      const made = await makeSite(apiRelease);
      for (const [name, text] of made) {
        const page = pageOfFile(name);
        if (page !== undefined) made.set(textFileOfPage(page), textOfPage(text));
      }
      t.same((await site.names()).sort(), [...made.keys()].sort());
      for (const [name, text] of made) t.ok((await site.read(name)) === text, `${name} at ${apiRelease}`);
    }
    const site = storedSite(folder, '2027-03');
    t.equal(await site.read('openapi.json'), stored.get('openapi.json'), 'a later release has nothing deprecated');
  });

  await t.test('contain a file twice only where it differs at another release', async (t) => {
    const others = [...stored.keys()].filter((path) => path.includes('/'));
    t.ok(others.includes(join('before-2026-11', 'events.html')));
    t.ok(others.every((path) => !/css$|tutorial|search-index/.test(path)));
  });

  await t.test(
    'are answered by a service, and one that cannot be read is read again at the next request',
    async (t) => {
      const docs = createDocs({ ...NAMED, files: storedSite(folder, NEWEST_RELEASE) });
      const text = stored.get('errors.html')!;
      rmSync(join(folder, 'errors.html.gz'));
      await t.rejects(docs.find('/docs/errors'), { code: 'FILE_NOT_FOUND' }, 'it is not listed');
      const other = createDocs({ ...NAMED, files: storedSite(folder, NEWEST_RELEASE) });
      writeFileSync(join(folder, 'errors.html.gz'), gzipSync(text));
      t.match((await other.find('/docs/errors')).bytes.toString(), 'TOKEN_INVALID');
      rmSync(join(folder, 'asyncapi.json.gz'));
      await t.rejects(other.find('/asyncapi.json'), { code: 'ENOENT' });
      writeFileSync(join(folder, 'asyncapi.json.gz'), gzipSync(stored.get('asyncapi.json')!));
      t.match(JSON.parse((await other.find('/asyncapi.json')).bytes.toString()), { asyncapi: '3.0.0' });
    },
  );
});

t.test('addresses of every kind stand in the documents as what they are', async (t) => {
  const url = `https://lapel.example/x'y&z$&"<b>`;
  const docs = createDocs({
    ...NAMED,
    publicUrl: () => url,
    mqttUrls: () => ['mqtt://[::1]:1883', 'wss://lapel.example/mqtt'],
  });
  const read = async (path: string): Promise<string> => (await docs.find(path)).bytes.toString();
  const openApi = JSON.parse(await read('/openapi.json'));
  t.equal(openApi.servers[0].url, url);
  const { 'x-codeSamples': samples, parameters } = openApi.paths['/v1/applications/{applicationId}/devices'].get;
  t.ok(parameters.length > 0);
  const { stdout } = await runProgram('sh', ['-c', `curl() { printf %s "$1"; }\n${samples[0].source}`]);
  t.equal(stdout, `${url}/v1/applications/patrol/devices`);
  const page = await read('/docs/api');
  t.match(page, 'https://lapel.example/x&#39;y&amp;z$&amp;&quot;&lt;b&gt;/api/v1/authenticate');
  t.notMatch(page, '<b>');
  t.match(
    await read('/docs/events'),
    '<p><code>mqtt://[::1]:1883</code> MQTT over TCP. <code>wss://lapel.example</code> ',
  );
  const { servers, channels } = JSON.parse(await read('/asyncapi.json'));
  t.match(servers.mqtt, { host: '[::1]:1883', protocol: 'mqtt', security: [{}] });
  t.match(servers.wss, { host: 'lapel.example', pathname: '/mqtt', protocol: 'wss', security: [{}] });
  t.same(channels.commands.servers, [{ $ref: '#/servers/mqtt' }, { $ref: '#/servers/wss' }]);
});

t.test('no slot is left in a file', async (t) => {
  const docs = createDocs(NAMED);
  for (const name of (await makeSite(NEWEST_RELEASE)).keys())
    t.notMatch((await docs.find(pathOf(name))).bytes.toString(), /[\uE000\uE001]/, name);
});
