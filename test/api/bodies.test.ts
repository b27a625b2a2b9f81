import t from 'tap';
import { startWorld } from '../world.ts';

t.test('a body has the bound of its route, so that its members cannot hold up others', async (t) => {
  const world = await startWorld(t);
  const { applicationId, api } = await world.createTenant();
  const many = Object.fromEntries(Array.from({ length: 95_000 }, (_, index) => [`f${index}`, 1]));
  t.equal((await api.patch(`/v1/applications/${applicationId}`, { json: many })).status, 413);
  const some = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`f${index}`, 1]));
  t.equal((await api.patch(`/v1/applications/${applicationId}`, { json: some })).status, 400);
});
