import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { request } from 'undici';
import { startWorld } from '../world.ts';

const FOLDER = join(import.meta.dirname, '..', '..', 'console');

t.test('the console is served on both listeners', async (t) => {
  const world = await startWorld(t);
  const { http, admin, objects } = world.service.addresses;
  const listeners = [
    { role: 'operator', base: admin },
    { role: 'application', base: http },
  ];
  const attributes = (text: string, name: string): string[] =>
    [...text.matchAll(new RegExp(` ${name}="([^"]*)"`, 'g'))].map(([, value = '']) => value);

  for (const { role, base } of listeners) {
    await t.test(`the ${role}’s page is at every address below /console, with any query`, async (t) => {
      const addresses = ['/console', '/console/', '/console/devices', '/console/devices/1/2?battery=10&x=%3Cscript%3E'];
      for (const address of addresses) {
        const answer = await fetch(`${base}${address}`);
        t.equal(answer.status, 200, address);
        t.equal(answer.headers.get('content-type'), 'text/html; charset=utf-8');
        const text = await answer.text();
        t.same(attributes(text, 'data-role'), [role]);
        const [root = ''] = attributes(text, 'data-root');
        // At the root of a host a path that climbs too high is cut off; below the path of a proxy it is wrong.
        for (const prefix of [base, `${base}/devices/broker`]) {
          t.equal(new URL(root, `${prefix}${address}`).href, `${prefix}/`, 'its root is relative to the page');
        }
        t.notMatch(text, /(src|href)="(\/|http)/, 'nothing in it says where a proxy has put the service');
        for (const href of [...attributes(text, 'href'), ...attributes(text, 'src')]) {
          if (href.startsWith('data:')) continue;
          const file = await fetch(new URL(href, `${base}${address}`));
          t.equal(file.status, 200, href);
          await file.body?.cancel();
        }
      }
    });

    await t.test(`the ${role}’s page may load only its own files and the map of the packages`, async (t) => {
      const answer = await fetch(`${base}/console/devices`);
      const text = await answer.text();
      const [, map = ''] = /<script type="importmap">(.*?)<\/script>/.exec(text) ?? [];
      const hash = createHash('sha256').update(map).digest('base64');
      const policy = String(answer.headers.get('content-security-policy'));
      t.same(policy.split('; ').sort(), [
        "base-uri 'none'",
        `connect-src 'self' ${objects}`,
        "default-src 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "img-src 'self' data:",
        "require-trusted-types-for 'script'",
        `script-src 'self' 'sha256-${hash}'`,
        "style-src 'self'",
        "trusted-types 'none'",
      ]);
      t.match(Object.fromEntries(answer.headers), {
        'cache-control': 'no-cache',
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-resource-policy': 'same-origin',
        'referrer-policy': 'same-origin',
        'x-content-type-options': 'nosniff',
      });
      t.equal(text.match(/<script/g)?.length, 2, 'the map and the entry');
      for (const path of Object.values(JSON.parse(map).imports as Record<string, string>)) {
        const module = await fetch(new URL(path, `${base}/console/devices`));
        t.match(module.headers.get('content-type'), /^text\/javascript/, path);
        t.notOk((await module.text()).includes('sourceMappingURL'), path);
      }
    });
  }

  await t.test('a file is TypeScript without its types, compressed, and kept for ever', async (t) => {
    const [entry = ''] = attributes(await (await fetch(`${admin}/console`)).text(), 'src');
    t.match(entry, /^\.\/console\/files\/[\w-]{22}\/main\.ts$/);
    const path = `/${entry.slice(2)}`;
    const plain = await request(`${admin}${path}`);
    const script = await plain.body.text();
    t.equal(
      script.length,
      readFileSync(join(FOLDER, 'main.ts'), 'utf8').length,
      'places in it are those of the source',
    );
    t.match(plain.headers, {
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
      vary: 'Accept-Encoding',
    });
    const zipped = await request(`${admin}${path}`, { headers: { 'accept-encoding': 'gzip' } });
    t.equal(zipped.headers['content-encoding'], 'gzip');
    await zipped.body.dump();
    const known = await request(`${admin}${path}`, { headers: { 'if-none-match': String(plain.headers['etag']) } });
    t.equal(known.statusCode, 304);
    await known.body.dump();
    const head = await request(`${admin}${path}`, { method: 'HEAD' });
    t.equal(head.statusCode, 200);
    t.equal((await fetch(`${http}${path}`)).status, 200, 'the same on the other listener');
  });

  await t.test('an unknown file is not found, and other methods are refused', async (t) => {
    const [entry = ''] = attributes(await (await fetch(`${admin}/console`)).text(), 'src');
    const folder = entry.slice(1, -'main.ts'.length);
    t.ok(existsSync(join(FOLDER, 'main.ts')));
    const strangers = [
      '/console/files/',
      '/console/files/main.ts',
      '/console/files/of-another-release/main.ts',
      `${folder}tsconfig.json`,
      `${folder}nothing.ts`,
      `${folder}%2e%2e/package.json`,
      `${folder}..%2fpackage.json`,
      `/console${'/x'.repeat(17)}`,
    ];
    for (const path of strangers) {
      const answer = await request(`${admin}${path}`);
      t.match(answer.headers, { 'lapel-error-code': 'FILE_NOT_FOUND' }, path);
      t.equal(answer.statusCode, 404, path);
      await answer.body.dump();
    }
    for (const [method, path] of [
      ['POST', '/console'],
      ['DELETE', '/console/devices'],
      ['GET', '/consoles'],
    ] as const) {
      const answer = await request(`${admin}${path}`, { method });
      t.equal(answer.statusCode, 403, `${method} ${path}`);
      await answer.body.dump();
    }
  });
});
