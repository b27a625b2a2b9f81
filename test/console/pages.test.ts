import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { BROWSER_PACKAGES } from '@lapel/tools/scripts/release/contents';
import { parse } from 'acorn';
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

    await t.test(`the ${role}’s page may load only its own files, which are two`, async (t) => {
      const answer = await fetch(`${base}/console/devices`);
      const text = await answer.text();
      const policy = String(answer.headers.get('content-security-policy'));
      t.same(policy.split('; ').sort(), [
        "base-uri 'none'",
        `connect-src 'self' ${objects}`,
        "default-src 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "img-src 'self' data:",
        "require-trusted-types-for 'script'",
        "script-src 'self'",
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
      t.equal(text.match(/<script/g)?.length, 1);
      t.equal(text.match(/rel="(stylesheet|modulepreload|preload)"/g)?.length, 1);
    });
  }

  await t.test(
    'the script is all modules of the console and of its packages, compressed, and kept for ever',
    async (t) => {
      const [entry = ''] = attributes(await (await fetch(`${admin}/console`)).text(), 'src');
      t.match(entry, /^\.\/console\/files\/[\w-]{22}\/main\.js$/);
      const path = `/${entry.slice(2)}`;
      const plain = await request(`${admin}${path}`);
      const script = await plain.body.text();
      const { body } = parse(script, { ecmaVersion: 2022, sourceType: 'module' });
      const others = body.filter(({ type }) => /^(?:Import|Export)/.test(type));
      t.same(others, [], 'it needs no other file');
      t.notOk(script.includes('sourceMappingURL'));
      for (const name of BROWSER_PACKAGES) t.ok(script.includes(`${name}: Copyright (c) `), `${name} keeps its notice`);
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
    },
  );

  await t.test('an unknown file is not found, and other methods are refused', async (t) => {
    const [entry = ''] = attributes(await (await fetch(`${admin}/console`)).text(), 'src');
    const folder = entry.slice(1, -'main.js'.length);
    t.ok(existsSync(join(FOLDER, 'main.ts')));
    const strangers = [
      '/console/files/',
      '/console/files/main.js',
      '/console/files/of-another-release/main.js',
      `${folder}tsconfig.json`,
      `${folder}nothing.js`,
      `${folder}main.ts`,
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
