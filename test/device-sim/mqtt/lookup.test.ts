import type { LookupAddress, LookupOptions } from 'node:dns';
import { createLookup } from '@lapel/device-sim/mqtt/lookup';
import t from 'tap';

function desk() {
  const asked: string[] = [];
  const state = { now: 0, answer: [{ address: '192.0.2.1', family: 4 }] as LookupAddress[] | Error };
  const lookup = createLookup({
    resolve(hostname, { family }, told) {
      asked.push(`${hostname} ${family}`);
      const { answer } = state;
      setImmediate(() => (answer instanceof Error ? told(answer, []) : told(null, answer)));
    },
    now: () => state.now,
  });
  const look = (options: LookupOptions = { family: 0 }): Promise<unknown[]> =>
    new Promise((resolve) => lookup('lapel.example', options, (...results) => resolve(results)));
  return { asked, state, look };
}

t.test('a name is looked up once for all callers within some seconds', async (t) => {
  const { asked, state, look } = desk();
  const [one, all] = await Promise.all([look(), look({ family: 0, all: true }), look()]);
  t.strictSame(one, [null, '192.0.2.1', 4]);
  t.strictSame(all, [null, [{ address: '192.0.2.1', family: 4 }]]);
  state.now = 4999;
  t.strictSame(await look(), one);
  t.equal(asked.length, 1);
  await look({ family: 6 });
  t.strictSame(asked, ['lapel.example 0', 'lapel.example 6']);
  state.now = 5000;
  state.answer = [{ address: '192.0.2.2', family: 4 }];
  t.strictSame(await look(), [null, '192.0.2.2', 4], 'a service that has moved is found');
});

t.test('a failed lookup is reported to all callers, and repeated later', async (t) => {
  const { asked, state, look } = desk();
  state.answer = Object.assign(new Error('getaddrinfo ENOTFOUND lapel.example'), { code: 'ENOTFOUND' });
  for (const [error] of await Promise.all([look(), look()])) t.match(error, { code: 'ENOTFOUND' });
  t.equal(asked.length, 1);
  state.answer = [{ address: '192.0.2.1', family: 4 }];
  t.strictSame(await look(), [null, '192.0.2.1', 4]);
});
