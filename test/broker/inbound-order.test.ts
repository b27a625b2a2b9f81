import { loadContracts } from '@lapel/schemas/contracts/contracts';
import { DomainError } from '@lapel/schemas/contracts/errors';
import type { Client, PublishPacket } from 'aedes';
import t from 'tap';
import { createInbound } from '../../src/edge/mqtt/inbound.ts';
import { createWaitingMessages } from '../../src/edge/mqtt/waiting-messages.ts';
import { createMetrics } from '../../src/metrics.ts';
import { createLog } from '../../src/runtime/log.ts';
import { createLogLimit } from '../../src/runtime/log-limit.ts';
import { createTokenBuckets } from '../../src/runtime/token-buckets.ts';
import { Watch } from '../../src/runtime/watch.ts';
import { createFakeClock } from '../fake-clock.ts';

/** The entry to the MQTT edge, with a database that the test makes fail: each message waits for its outcome. */
function startInbound() {
  const clock = createFakeClock();
  const metrics = createMetrics();
  const log = createLog({ level: 'silent' });
  const logLimit = createLogLimit({ clock });
  const waitingMessages = createWaitingMessages({ clock, log, logLimit });
  const tries: { lang: unknown; outcome: PromiseWithResolvers<undefined> }[] = [];
  const unused = () => Promise.reject(new Error('no such message is sent'));
  const inbound = createInbound({
    contracts: loadContracts(),
    log,
    logLimit,
    metrics,
    waitingMessages,
    watch: new Watch(),
    rate: createTokenBuckets({ clock, perSecond: 100 }),
    ackRate: createTokenBuckets({ clock, perSecond: 100 }),
    exactlyOnce: { carryOut: unused },
    handlers: {
      acks: unused,
      events: unused,
      requests: unused,
      status(_, { lang }) {
        const outcome = Promise.withResolvers<undefined>();
        tries.push({ lang, outcome });
        return outcome.promise;
      },
    },
    ownerOf: () => undefined,
    fenceOf: () => undefined,
    respond: () => undefined,
    reject: () => undefined,
  });
  const client = { id: '100000000000001', closed: false } as Client & { closed: boolean };
  const settled = (): Promise<void> => new Promise(setImmediate);
  return {
    client,
    inbound,
    waitingMessages,
    langs: () => tries.map(({ lang }) => lang),
    /** A device publishes its status; the array gets the outcome: null for a PUBACK, else an error. */
    publish(lang: string): (Error | null | undefined)[] {
      const outcomes: (Error | null | undefined)[] = [];
      const payload = Buffer.from(JSON.stringify({ lang }));
      const packet = { cmd: 'publish', topic: `devices/${client.id}/status`, qos: 1, messageId: 1, payload };
      inbound.authorizePublish(client, packet as unknown as PublishPacket, (error) => outcomes.push(error));
      return outcomes;
    },
    async away() {
      tries.at(-1)?.outcome.reject(new DomainError('DATABASE_UNAVAILABLE'));
      await settled();
    },
    async back() {
      tries.at(-1)?.outcome.resolve(undefined);
      await settled();
    },
    async pass() {
      clock.advance(1_000);
      await settled();
    },
  };
}

t.test('a message does not overtake an earlier one that is just tried again', async (t) => {
  const { publish, away, back, pass, langs, inbound, client } = startInbound();
  const first = publish('ja');
  await away();
  t.ok(inbound.hasWaiting(client));
  await pass();
  t.same(langs(), ['ja', 'ja'], 'it is tried again');
  const second = publish('fr');
  await pass();
  t.same(langs(), ['ja', 'ja'], 'the next one waits for its outcome');
  await away();
  await pass();
  t.same(langs(), ['ja', 'ja', 'ja']);
  t.same([first, second], [[], []], 'nothing is acknowledged');
  await back();
  t.same(langs(), ['ja', 'ja', 'ja', 'fr']);
  t.same([first, second], [[null], []]);
  await back();
  t.same(second, [null]);
  t.notOk(inbound.hasWaiting(client));
});

t.test('messages of a connection that has ended meanwhile are given up, the later ones too', async (t) => {
  const { publish, away, pass, langs, client } = startInbound();
  const first = publish('ja');
  await away();
  const second = publish('fr');
  client.closed = true;
  await pass();
  t.same(langs(), ['ja'], 'none is carried out: the device sends both again');
  t.match([first, second], [[Error], [Error]]);
});

t.test('a stop gives up all waiting messages', async (t) => {
  const { publish, away, langs, waitingMessages, inbound } = startInbound();
  const first = publish('ja');
  await away();
  const second = publish('fr');
  waitingMessages.end();
  await inbound.idle();
  t.same(langs(), ['ja']);
  t.match([first, second], [[Error], [Error]]);
});
