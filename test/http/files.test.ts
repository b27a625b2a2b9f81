import t from 'tap';
import { startWorld } from '../world.ts';

t.test('a file of the console or of the documents that does not exist is answered 404', async (t) => {
  const { http, admin } = (await startWorld(t)).service.addresses;
  for (const url of [`${http}/console/files/none.js`, `${admin}/console/files/none.js`, `${http}/docs/none`]) {
    const answer = await fetch(url);
    t.equal(answer.status, 404, url);
    t.equal(answer.headers.get('lapel-error-code'), 'FILE_NOT_FOUND');
    t.match(await answer.json(), { reason: 'file not found.' });
  }
});
