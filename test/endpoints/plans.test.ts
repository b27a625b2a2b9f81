import t from 'tap';
import { countWith, findOldestOpen, listDeliveriesTo } from '../../src/core/endpoints/delivery-list-repository.ts';
import type { EndpointKey } from '../../src/core/endpoints/endpoint.ts';
import {
  findBusyDevices,
  hastenAll,
  holdAll,
  holdBehind,
  releaseAll,
  releaseBehind,
  skipAll,
} from '../../src/core/endpoints/endpoint-delivery-repository.ts';
import { BEFORE_ALL, changeRows, listOpen } from '../../src/core/endpoints/open-rows.ts';
import { hasMany } from '../../src/core/endpoints/settling.ts';
import type { SqlValue, UnitOfWork } from '../../src/platform/database/sql.ts';
import { openTestDatabase } from '../applications/tenant.ts';

const KEY: EndpointKey = { applicationId: 'patrol', endpointId: 'ep_1' };

// An endpoint has a month of deliveries that are through, and few that are not.
t.test('what looks for deliveries that are not through reads none of the others', async (t) => {
  const { database } = openTestDatabase(t);
  const plansOf = (ask: (unit: UnitOfWork) => unknown): Promise<string[]> =>
    database.transact(async (unit) => {
      const asked: Promise<{ detail: string }[]>[] = [];
      const explain = (text: string, values: readonly SqlValue[]): void => {
        if (text.includes('endpoint_deliveries')) asked.push(unit.all(`EXPLAIN QUERY PLAN ${text}`, ...values));
      };
      const all = async (text: string, ...values: SqlValue[]): Promise<never[]> => {
        explain(text, values);
        return [];
      };
      const get = async (text: string, ...values: SqlValue[]): Promise<undefined> => {
        explain(text, values);
        return undefined;
      };
      await ask({ ...unit, all, get, later: explain } as unknown as UnitOfWork);
      return (await Promise.all(asked)).flat().map(({ detail }) => detail);
    });
  const page = { status: 'pending', limit: 10, isOrdered: true } as const;
  for (const [name, ask] of [
    ['the number that is pending', (unit) => countWith(unit, KEY, 'pending', 500)],
    ['the number that is blocked', (unit) => countWith(unit, KEY, 'blocked', 500)],
    ['the oldest one', (unit) => findOldestOpen(unit, KEY)],
    ['a page of them', (unit) => listDeliveriesTo(unit, KEY, page)],
    ['the devices that have one', (unit) => findBusyDevices(unit, KEY, ['one', 'two'])],
    ['a release of all in order', (unit) => releaseAll(unit, KEY, true, 1)],
    ['a release of all', (unit) => releaseAll(unit, KEY, false, 1)],
    ['an endpoint that becomes ordered', (unit) => holdBehind(unit, KEY)],
    ['an endpoint that is disabled', (unit) => holdAll(unit, KEY)],
    ['an endpoint that works again', (unit) => hastenAll(unit, KEY, 1)],
    ['all that are skipped', (unit) => skipAll(unit, KEY, 1)],
    ['whether there are many', (unit) => hasMany(unit, KEY)],
    ['a piece of them', (unit) => listOpen(unit, KEY, BEFORE_ALL, 500)],
  ] as [string, (unit: UnitOfWork) => unknown][]) {
    const plans = await plansOf(ask);
    t.match(plans.join(', '), /endpoint_deliveries_(due|open)/, name);
    t.notMatch(plans.join(', '), /(endpoint_deliveries|b) USING PRIMARY KEY/, name);
  }
  for (const change of ['skip', 'hold', 'hasten', 'release', 'releaseFirst'] as const) {
    const [own = '', ...others] = await plansOf((unit) => changeRows(unit, KEY, change, [1, 2], 1));
    t.match(own, /USING PRIMARY KEY \(application_id=\? AND endpoint_id=\? AND sequence=\?\)/, `some, for a ${change}`);
    for (const step of others.filter((one) => one.startsWith('SEARCH')))
      t.match(step, /endpoint_deliveries_open .*device_id>\?/, `${change}: others of the device`);
  }
  const released = await plansOf((unit) => releaseBehind(unit, KEY, [1, 2], 1));
  const byKey = released.filter((step) => step.includes('USING PRIMARY KEY'));
  t.notSame(byKey, []);
  for (const step of byKey) t.match(step, /sequence=\?/, 'a release behind some reads these by their numbers');
});
