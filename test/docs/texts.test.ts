import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createDocs } from '../../src/edge/docs/docs.ts';
import { writeSite } from '../../src/edge/docs/folder.ts';
import { documentOfTag } from '../../src/edge/docs/make/tag-document.ts';
import { startWorld } from '../world.ts';

// About 30,000 tokens: what a language model can read beside its work.
const LONGEST_PART = 128 * 1024;

type Operations = Record<string, Record<string, { operationId?: string }>>;
const idsOf = (paths: Operations): string[] =>
  Object.values(paths).flatMap((item) => Object.values(item).flatMap(({ operationId }) => operationId ?? []));

/** A text in Markdown without its blocks of code. */
const proseOf = (text: string): string => text.replace(/^(`{3,}).*?^\1$/gms, '');

const linksOf = (text: string): string[] =>
  [...proseOf(text).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);

const headingsOf = (text: string): number => proseOf(text).match(/^#{1,2} /gm)?.length ?? 0;

t.test('the documents as texts', async (t) => {
  const world = await startWorld(t);
  const base = world.service.addresses.http;
  const read = async (path: string, type: string): Promise<string> => {
    const answer = await fetch(base + path);
    t.equal(answer.status, 200, path);
    t.equal(answer.headers.get('content-type'), `${type}; charset=utf-8`, path);
    return answer.text();
  };
  const overview = await read('/llms.txt', 'text/plain');
  const listed = linksOf(overview).map((link) => new URL(link).pathname);

  await t.test('the overview lists the text of each page once', async (t) => {
    const first = await (await fetch(`${base}/docs`)).text();
    const pages = [...first.matchAll(/<li><a href="(docs\/[a-z-]+)"/g)].map(([, path = '']) => `/${path}.md`);
    t.ok(pages.length > 40);
    const texts = listed.filter((path) => path.endsWith('.md'));
    t.same(texts.toSorted(), [...new Set(pages)].toSorted());
    t.match(overview, /^# Lapel\n\n> .+\n/);
  });

  await t.test('each page names its text, which has its sections, and whose links lead to texts', async (t) => {
    const known = new Set(listed);
    let links = 0;
    for (const path of listed.filter((one) => one.endsWith('.md'))) {
      const text = await read(path, 'text/markdown');
      const page = await (await fetch(base + path.slice(0, -'.md'.length))).text();
      const [, name = ''] = /\/([^/]+)$/.exec(path) ?? [];
      t.ok(page.includes(`<link rel="alternate" type="text/markdown" href="${name}">`), path);
      const main = page.slice(page.indexOf('<main'), page.indexOf('</main>'));
      t.equal(headingsOf(text), main.match(/<h[12][ >]/g)?.length, `sections of ${path}`);
      t.notMatch(text, /[\uE000\uE001]|<\/(?:p|div|td|details|form)>\n/, path);
      for (const link of linksOf(text).filter((one) => one.startsWith(base))) {
        links += 1;
        const target = new URL(link).pathname;
        t.ok(known.has(target) || target.endsWith('.json') || target === '/docs/index.md', `${link} in ${path}`);
      }
    }
    t.ok(links > 300);
    t.match(await read('/docs/index.md', 'text/markdown'), /first five minutes/);
  });

  await t.test('a part of the OpenAPI document for each subject is complete, and fits a context', async (t) => {
    const all = JSON.parse(await read('/openapi.json', 'application/json'));
    const parts = listed.filter((path) => path.startsWith('/docs/api-') && path.endsWith('.json'));
    t.equal(parts.length, all.tags.length);
    const found: string[] = [];
    for (const path of parts) {
      const text = await read(path, 'application/json');
      t.ok(text.length <= LONGEST_PART, `${path} has ${text.length} characters`);
      const part = JSON.parse(text);
      t.equal(part.servers[0].url, base);
      found.push(...idsOf(part.paths));
      const references = [...text.matchAll(/"\$ref":"#\/components\/(\w+)\/([^"]+)"/g)];
      for (const [reference, section = '', name = ''] of references)
        t.ok(part.components[section]?.[name], `${reference} in ${path}`);
    }
    t.same(found.toSorted(), idsOf(all.paths).toSorted(), 'each operation is in one part');
    t.same(idsOf(documentOfTag(all, 'no such tag')['paths'] as Operations), []);
  });

  await t.test('a text of no page is not found', async (t) => {
    for (const path of ['/docs/nothing.md', '/docs/llms.txt', '/docs/openapi.json', '/docs/site.md'])
      t.equal((await fetch(base + path)).status, 404, path);
  });
});

t.test('texts in a folder refer to texts in it', async (t) => {
  const folder = t.testdir();
  const named = { apiRelease: '2027-01', timeZone: 'UTC', publicUrl: 'https://lapel.example', mqttUrls: [] };
  await writeSite(folder, named);
  const files = new Set(readdirSync(folder));
  for (const file of [...files].filter((name) => /\.(?:md|txt)$/.test(name)))
    for (const link of linksOf(readFileSync(join(folder, file), 'utf8')).filter((one) => !/^(?:https?:|#)/.test(one)))
      t.ok(files.has(link.split('#')[0]!), `${link} in ${file}`);
});

t.test('the text of a page names the broker of the service', async (t) => {
  const docs = createDocs({
    apiRelease: '2027-01',
    timeZone: 'UTC',
    publicUrl: () => 'https://lapel.example',
    mqttUrls: () => ['mqtts://lapel.example:8883'],
  });
  const { bytes } = await docs.find('/docs/events.md');
  t.match(bytes.toString(), '`mqtts://lapel.example:8883` MQTT over TLS. ');
});
