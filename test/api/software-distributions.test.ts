import { loadContracts } from '@lapel/schemas/contracts/contracts';
import { createDeprecations, DEPRECATIONS, NEWEST_RELEASE } from '@lapel/schemas/contracts/deprecations';
import { SETTINGS } from '@lapel/schemas/contracts/settings';
import t from 'tap';
import { createFakeClock } from '../fake-clock.ts';
import { CAMERA, NOW, startSoftware } from './software-world.ts';

t.test('distributions', async (t) => {
  const clock = createFakeClock();
  const software = await startSoftware(t, { clock });
  const { world, api, path, second, other, versionPath } = software;
  await software.register(CAMERA, '1.0.0', '1.1.0+x');
  const at = `${versionPath(CAMERA, '1.0.0')}/distributions`;

  t.test('op 26 starts one, op 25 says so, op 27 ends it', async (t) => {
    const before = await api.get(at);
    t.same(before.body, { distributable: false });
    t.match(before.headers, { deprecation: undefined, sunset: undefined });
    const started = await api.post(at);
    t.equal(started.status, 201);
    t.same(started.body, { package: CAMERA, version: '1.0.0', distributable: true, distributionDate: NOW });
    t.equal(started.headers['location'], `${world.service.addresses.http}${at}`);
    t.same((await api.get(at)).body, { distributable: true, distributionDate: NOW });
    t.same((await api.get(`${versionPath(CAMERA, '1.1.0+x')}/distributions`)).body, { distributable: false });
    t.equal((await api.delete(at)).status, 204);
    t.same((await api.get(at)).body, { distributable: false });
    t.equal((await api.delete(at)).status, 204, 'also when it is not started');
    clock.advance(1000);
    t.match(
      await api.post(at),
      { status: 201, body: { distributionDate: NOW.replace(':00.', ':01.') } },
      'a new start',
    );
  });

  t.test('op 26: a second start is a conflict for every caller; of many at once one succeeds', async (t) => {
    const conflict = { status: 409, body: { message: 'distribution already started.' } };
    t.match(await api.post(at), conflict);
    t.match(await second.api.post(at.replace(path, second.path)), conflict);
    const racing = `${versionPath(CAMERA, '1.1.0+x')}/distributions`;
    const answers = await Promise.all([1, 2, 3].map(() => api.post(racing)));
    t.same(
      answers.map(({ status }) => status).sort((a, b) => a - b),
      [201, 409, 409],
    );
    const location = answers.find(({ status }) => status === 201)?.headers['location'];
    t.equal(location, `${world.service.addresses.http}${racing}`);
    t.match(racing, /1\.1\.0%2Bx/);
  });

  t.test('ops 25 and 27 are developer-wide', async (t) => {
    const elsewhere = at.replace(path, second.path);
    t.match(await second.api.get(elsewhere), { status: 200, body: { distributable: true } });
    t.equal((await second.api.delete(elsewhere)).status, 204);
    t.match((await api.get(at)).body, { distributable: false });
    t.match(await other.api.get(at.replace(path, other.path)), { status: 404, body: { reason: 'package not found.' } });
  });
});

t.test('a distribution that began before 2026-03-26 shows that day', async (t) => {
  for (const [utc, shown] of [
    [Date.UTC(2025, 0, 1), '2026-03-26T00:00:00.000000'],
    [Date.UTC(2026, 2, 26, 14, 59, 59), '2026-03-26T00:00:00.000000'],
    // Midnight in the zone of the service.
    [Date.UTC(2026, 2, 26, 15), '2026-03-27T00:00:00.000000'],
    [Date.UTC(2026, 2, 27, 15), '2026-03-28T00:00:00.000000'],
  ] as const) {
    await t.test(shown, async (t) => {
      const clock = createFakeClock(utc * 1000);
      const software = await startSoftware(t, { clock });
      await software.register(CAMERA, '1.0.0');
      const at = `${software.versionPath(CAMERA, '1.0.0')}/distributions`;
      t.match((await software.api.post(at)).body, { distributionDate: shown });
      t.match((await software.api.get(at)).body, { distributionDate: shown });
    });
  }
});

t.test('exist is served by the releases before 2026-09, with headers that say when it goes', async (t) => {
  for (const [release, served] of [
    ['2026-08', true],
    ['2026-09', false],
    ['2026-11', false],
  ] as const) {
    await t.test(release, async (t) => {
      const software = await startSoftware(t, { env: { LAPEL_API_RELEASE: release } });
      const { api, versionPath } = software;
      await software.register(CAMERA, '1.0.0');
      const at = `${versionPath(CAMERA, '1.0.0')}/distributions`;
      for (const distributable of [false, true]) {
        if (distributable) t.equal('exist' in (await api.post(at)).body, false, 'only in op 25');
        const { body, headers } = await api.get(at);
        t.equal(body.exist, served ? distributable : undefined, release);
        t.equal(headers['deprecation'], served ? '@1772323200' : undefined, '2026-03-01, six months before');
        t.equal(headers['sunset'], served ? 'Tue, 01 Sep 2026 00:00:00 GMT' : undefined);
        const row = `${software.world.service.addresses.http}/docs/deprecations#exist`;
        t.equal(headers['link'], served ? `<${row}>; rel="deprecation"; type="text/html"` : undefined);
      }
    });
  }
});

t.test(
  'every removal is at a release that the newest one knows, and is announced six months or more before',
  async (t) => {
    const fallback = SETTINGS.find(({ name }) => name === 'LAPEL_API_RELEASE')?.fallback;
    t.equal(fallback, NEWEST_RELEASE);
    for (const [name, { release }] of Object.entries(DEPRECATIONS) as [
      keyof typeof DEPRECATIONS,
      { release: string },
    ][]) {
      t.ok(release <= NEWEST_RELEASE, name);
      const { Deprecation, Sunset, Link } = createDeprecations('2000-01').headers(name, 'https://lapel.example');
      const since = Number(Deprecation?.slice(1)) * 1000;
      t.ok(Date.parse(String(Sunset)) - since >= 180 * 86_400_000, name);
      t.equal(Link, `<https://lapel.example/docs/deprecations#${name}>; rel="deprecation"; type="text/html"`);
    }
  },
);

t.test('schemas mark exactly the fields in the table of deprecations, and lose them with it', async (t) => {
  const marked = (schema: object): string[] => {
    const { properties = {}, items } = schema as { properties?: Record<string, { deprecated?: true }>; items?: object };
    const found = Object.entries(properties).flatMap(([name, property]) => [
      ...(property.deprecated ? [name] : []),
      ...marked(property),
    ]);
    return items ? [...found, ...marked(items)] : found;
  };
  const marksOf = (serves: (name: string) => boolean): string[] =>
    [...new Set([...loadContracts({ serves }).documents.values()].flatMap(marked))].sort();
  t.same(
    marksOf(() => true),
    Object.keys(DEPRECATIONS).sort(),
  );
  t.same(
    marksOf((name) => name !== 'exist'),
    Object.keys(DEPRECATIONS)
      .filter((name) => name !== 'exist')
      .sort(),
  );
  t.same(
    marksOf(() => false),
    [],
  );
});
