import t from 'tap';
import { ROUTES } from '../../src/edge/api/routes.ts';
import { startWorld } from '../world.ts';

t.test('HEAD of each page and document is answered as GET is, without the body', async (t) => {
  const { http } = (await startWorld(t)).service.addresses;
  const paths = ROUTES.filter(({ head }) => head === true).map(({ path }) => path.replace('{page}', 'errors'));
  t.ok(['/', '/docs', '/openapi.json', '/console'].every((path) => paths.includes(path)));
  for (const path of paths) {
    const headers = { accept: 'text/html' }; // only browsers are led to the documents
    const [got, asked] = await Promise.all(
      ['GET', 'HEAD'].map((method) => fetch(`${http}${path}`, { method, headers, redirect: 'manual' })),
    );
    t.equal(asked?.status, got?.status, path);
    if (got?.status === 200) t.equal(asked?.headers.get('content-type'), got.headers.get('content-type'), path);
    t.not(asked?.status, 403, path);
    t.equal(await asked?.text(), '', path);
    await got?.body?.cancel();
  }
});
