import { Outbox } from '@lapel/device-sim/mqtt/outbox';
import t from 'tap';

const message = { topic: 'acks', payload: '', done: () => {} };

t.test('packet ids are 1 to 65,535, each in use once, and reused when they are free', async (t) => {
  const outbox = new Outbox();
  const ids: number[] = [];
  while (ids.length < 65_534) {
    outbox.add(message);
    ids.push(outbox.next()!.messageId);
  }
  outbox.add(message);
  t.equal(new Set(ids).size, ids.length);
  t.equal(ids[0], 1);
  t.equal(outbox.freeId(), 65_535, 'one is left for a SUBSCRIBE');
  t.equal(outbox.next(), undefined);
  t.equal(outbox.acknowledged(700), message);
  t.equal(outbox.acknowledged(700), undefined);
  t.equal(outbox.next()?.messageId, 700);
  t.equal(outbox.size, 65_534);
});
