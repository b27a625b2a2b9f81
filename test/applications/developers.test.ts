import t from 'tap';
import { NO_RULES } from '../../src/core/applications/developer-repository.ts';
import { createTenant } from './tenant.ts';

void t.test('a developer without deviceLimit has no contract', async (t) => {
  const { developers } = await createTenant(t);
  t.strictSame(await developers.find('dev-1'), {
    developerId: 'dev-1',
    name: 'Acme',
    deviceLimit: null,
    ...NO_RULES,
    removalId: null,
  });
});

void t.test('an id is made when none is given, and is given only once', async (t) => {
  const { developers } = await createTenant(t);
  const { developerId } = await developers.create({ name: 'Other', deviceLimit: 5 });
  t.match(developerId, /^dev_/);
  await t.rejects(developers.create({ developerId, name: 'Third' }), { code: 'DEVELOPER_EXISTS' });
  t.equal((await developers.find(developerId)).name, 'Other');
});

void t.test('a patch changes the given fields, and null ends the contract', async (t) => {
  const { developers } = await createTenant(t);
  t.strictSame(await developers.update('dev-1', { deviceLimit: 3 }), {
    developerId: 'dev-1',
    name: 'Acme',
    deviceLimit: 3,
    ...NO_RULES,
    removalId: null,
  });
  await developers.update('dev-1', { name: 'Acme & Co' });
  t.strictSame(await developers.find('dev-1'), {
    developerId: 'dev-1',
    name: 'Acme & Co',
    deviceLimit: 3,
    ...NO_RULES,
    removalId: null,
  });
  await developers.update('dev-1', { deviceLimit: null });
  t.equal((await developers.find('dev-1')).deviceLimit, null);
});

void t.test('lists are pages by id with the total', async (t) => {
  const { developers } = await createTenant(t);
  for (const developerId of ['dev-3', 'dev-2']) await developers.create({ developerId, name: developerId });
  const page = await developers.list({ offset: 1, limit: 1 });
  t.strictSame([page.developers.map((each) => each.developerId), page.total], [['dev-2'], 3]);
});

void t.test('an unknown developer is not found', async (t) => {
  const { developers } = await createTenant(t);
  await t.rejects(developers.find('nobody'), { code: 'DEVELOPER_NOT_FOUND' });
  await t.rejects(developers.update('nobody', { name: 'x' }), { code: 'DEVELOPER_NOT_FOUND' });
});
