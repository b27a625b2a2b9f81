import { readFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { standOf } from './stand.ts';

/** Texts that YAML, a terminal or a reference could understand in another way. */
const TEXTS = [
  'null',
  'yes',
  '1e3',
  '0x10',
  '2026-11-20',
  '# comment',
  'a: b',
  '- a',
  '*alias',
  '&anchor',
  '!tag',
  '| block',
  '%TAG',
  '---',
  'it\'s "quoted"',
  'back\\slash',
  ' blanks at the ends ',
  'two\nlines\n',
  'tab\there',
  `\${env:HOME}`,
  `$\${env:HOME}`,
  `\${`,
  '\u202eright to left',
  'emoji 👩‍🚀',
  '日本語',
];

t.test('an export keeps each text as it is', async (t) => {
  const stand = await standOf(t);
  const { tenant, lapel, folder } = stand;
  const { api, path } = tenant;
  const other = join(folder, 'exported');
  for (const [index, text] of TEXTS.entries()) {
    const name = `com.example.p${index}`;
    t.equal((await api.post(`${path}/packages`, { json: { package: name, displayName: text } })).status, 201, text);
  }
  const json = { operation: 'setLanguage', parameters: { lang: 'ja' }, devices: {}, continuous: true };
  const label = 'a\nsettings: { callEvent: null }';
  const stages = [{ percent: 10 }, { percent: 90 }];
  t.equal((await api.post(`${path}/rollouts`, { json: { ...json, label, stages } })).status, 201);
  const { code, stdout, stderr } = await lapel(`export -f ${other}`);
  t.equal(code, 0, stderr);
  t.notMatch(stdout, /\nsettings: /, 'a name in a note stays on its line');
  t.notMatch(readFileSync(join(other, 'rollouts.yaml'), 'utf8'), /^settings: /m);
  const planned = await lapel(`plan -f ${other}`);
  t.match(planned, { code: 0, stdout: /nothing to change; 27 as the files say/ }, planned.stdout + planned.stderr);
  t.notMatch(planned.stdout, /\u202e/);
});

t.test('nothing is changed when a proxy takes the ETag away, and a weak one is understood', async (t) => {
  const stand = await standOf(t);
  let tag: 'none' | 'weak' = 'none';
  const target = stand.world.service.addresses.http;
  const proxy = createServer((from, to) => {
    const inner = request(new URL(from.url ?? '', target), { method: from.method, headers: from.headers }, (answer) => {
      const { etag, ...headers } = answer.headers;
      to.writeHead(answer.statusCode ?? 500, { ...headers, ...(tag === 'weak' && etag && { etag: `W/${etag}` }) });
      answer.pipe(to);
    });
    from.pipe(inner);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  t.teardown(() => proxy.close());
  const env = { LAPEL_URL: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` };
  stand.write({ 'a.yaml': "settings: { callEvent: 'https://calls.example/' }\n" });
  t.match(await stand.apply({ env }), { code: 1, stderr: /the answer of the settings has no ETag.*\n.*does a proxy/ });
  tag = 'weak';
  t.match(await stand.apply({ env }), { code: 0 });
});
