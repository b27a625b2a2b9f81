import t from 'tap';
import { OPERATIONS } from '../api/operations.ts';
import { casesOf } from './conformance.ts';
import { startConformance } from './conformance-world.ts';
import { ROWS } from './rows.ts';

t.test('every status of every row has a case', async (t) => {
  for (const row of Object.keys(ROWS)) {
    const missing = casesOf(row).filter(([, one]) => one === undefined);
    t.same(
      missing.map(([status]) => status),
      [],
      row,
    );
  }
});

t.test('every operation has a row', async (t) => {
  const operations = OPERATIONS.filter(({ endless }) => !endless);
  for (const operation of operations) {
    const path = operation.path.startsWith('/v1')
      ? operation.path
      : `/v1/applications/{applicationId}${operation.path}`;
    t.match(ROWS[operation.op], { key: `${operation.method} ${path}`, scope: operation.scope }, operation.op);
  }
  t.equal(Object.keys(ROWS).length, operations.length);
});

t.test('every row answers with every status that it names', async (t) => {
  const conformance = await startConformance(t);
  for (const row of Object.keys(ROWS)) {
    for (const [status, one] of casesOf(row)) {
      if (status === 500) continue;
      const answer = await one?.run(conformance);
      t.equal(answer?.status, status, `${row}: ${status}: ${one?.title}`);
    }
  }

  const { world, tenant } = conformance;
  await world.restart(); // clears the caches, so that everything is read from the database now
  await tenant.renew();
  await (await world.raw()).exec('ALTER TABLE applications RENAME TO applications_away');
  for (const row of Object.keys(ROWS)) {
    const one = casesOf(row).find(([status]) => status === 500)?.[1];
    const answer = await one?.run({ ...conformance, api: tenant.api });
    t.equal(answer?.status, 500, `${row}: 500: ${one?.title}`);
  }
});
