import { readNewest } from '@lapel/console/base/newest-events';
import t from 'tap';
import { type Page, send, startStream } from '../stream/stream-world.ts';

t.test('the newest events are found by a stream that is only read forward', async (t) => {
  const { world, tenant, device, events } = await startStream(t);
  let { link } = device;
  let asked = 0;
  async function newest(
    wanted: number,
    before?: number,
    filter = '',
  ): Promise<{ numbers: number[]; next: number | null }> {
    const read = async (query: Record<string, string | number>): Promise<never> => {
      asked += 1;
      const given = Object.fromEntries(Object.entries(query).map(([name, value]) => [name, String(value)]));
      const text = new URLSearchParams(given).toString();
      const { status, body } = await tenant.api.get(`${events}?${text}${filter}`);
      return (status === 410 ? null : body) as never;
    };
    const { rows, next } = await readNewest(read, { before, wanted });
    return { numbers: rows.map(({ sequence }) => sequence), next };
  }
  const all = async (): Promise<number[]> => {
    const page: Page = (await tenant.api.get(`${events}?limit=1000`)).body;
    return page.events.map(({ sequence }) => sequence).reverse();
  };

  await t.test('all of a short stream', async (t) => {
    await send(link);
    t.same(await newest(10), { numbers: await all(), next: null });
  });

  await t.test('some of a long one, page by page, behind the long gap that a restart makes', async (t) => {
    for (let number = 0; number < 400; number += 1) await send(link, number % 50 === 0 ? 'custom.rare' : 'custom.sos');
    world.clock.advance(3 * 86_400_000);
    await world.restart();
    await tenant.renew();
    link = await world.connect(device);
    for (let number = 0; number < 5; number += 1) await send(link);
    const known = await all();
    t.ok(known[4]! - known[5]! > 1_000_000, 'the gap is long');
    asked = 0;
    const first = await newest(100);
    t.same(first, { numbers: known.slice(0, 100), next: known[99] });
    t.ok(asked < 64, `${asked} requests`);
    const pages = [first];
    for (let last = first; last.next !== null; pages.push(last)) last = await newest(100, last.next);
    t.same(
      pages.flatMap(({ numbers }) => numbers),
      known,
    );
    const rare = await newest(100, undefined, '&types=custom.rare');
    t.equal(rare.numbers.length, 8);
    t.equal(rare.next, null);
  });
});
