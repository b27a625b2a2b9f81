import t from 'tap';
import { bytesOf, endOf, openFive, startFive } from './world.ts';

t.test('SUBSCRIBE', async (t) => {
  const { world } = await startFive(t);
  const { link, deviceId } = await openFive(world);
  const own = (kind: string): string => `devices/${deviceId}/${kind}`;

  await t.test('[MQTT-3.8.4-6] [MQTT-3.9.3-1] each filter has its code, in their order', async (t) => {
    const rows: [filter: string, qos: number, code: number][] = [
      [own('commands'), 1, 1],
      [own('errors'), 0, 0],
      [own('responses'), 0, 0x87],
      [own('responses'), 2, 2],
      [own('acks'), 1, 0x87],
      ['devices/490154203237518/commands', 1, 0x87],
      [own('#'), 1, 0xa2],
      ['+/+/commands', 1, 0xa2],
      ['$SYS/#', 1, 0xa2],
      [`$share/group/${own('commands')}`, 1, 0x9e],
    ];
    // One packet each: a filter that is repeated in a packet counts once.
    for (const [topic, qos, code] of rows) t.same(await link.subscribe({ topic, qos }), [code], topic);
    const all = rows.filter(([, , code]) => code > 0x80).map(([topic, qos]) => ({ topic, qos }));
    t.same(
      await link.subscribe({ topic: own('commands'), qos: 1 }, ...all),
      [1, 0x87, 0x87, 0x87, 0xa2, 0xa2, 0xa2, 0x9e],
    );
  });

  await t.test('[MQTT-3.8.4-2] a filter twice has two codes', async (t) => {
    const topic = own('errors');
    t.same(await link.subscribe({ topic, qos: 1 }, 'foreign', { topic, qos: 0 }), [1, 0x87, 0]);
  });

  await t.test('the options that only MQTT 5 has are accepted, and change nothing', async (t) => {
    const subscriptions = [{ topic: own('commands'), qos: 1, nl: true, rap: true, rh: 2 }];
    link.send({ cmd: 'subscribe', messageId: 77, subscriptions, properties: { userProperties: { a: 'b' } } });
    t.match(await link.next('suback'), { messageId: 77, granted: [1] });
  });

  await t.test('[MQTT-3.10.4-4] [MQTT-3.11.3-1] UNSUBACK has a code for each filter', async (t) => {
    link.send({ cmd: 'unsubscribe', messageId: 78, unsubscriptions: [own('commands'), 'none', own('errors')] });
    t.match(await link.next('unsuback'), { messageId: 78, granted: [0, 0x11, 0] });
    link.send({ cmd: 'unsubscribe', messageId: 79, unsubscriptions: [own('commands')] });
    t.match(await link.next('unsuback'), { messageId: 79, granted: [0x11] });
    // Both packets at once: the second one is about a subscription whose SUBACK is not written yet.
    link.socket.write(
      Buffer.concat([
        bytesOf({ cmd: 'subscribe', messageId: 80, subscriptions: [{ topic: own('commands'), qos: 1 }] }),
        bytesOf({ cmd: 'unsubscribe', messageId: 81, unsubscriptions: [own('commands')] }),
      ]),
    );
    t.match(await link.next('suback'), { messageId: 80, granted: [1] });
    t.match(await link.next('unsuback'), { messageId: 81, granted: [0] });
  });
});

t.test('a SUBSCRIBE or UNSUBSCRIBE that breaks the protocol ends the connection with its reason', async (t) => {
  const { world } = await startFive(t);
  const rows: [title: string, bytes: string, code: number][] = [
    ['[MQTT-3.8.1-1] reserved flags', '80 07 0007 00 0001 70 00', 0x81],
    ['[MQTT-2.2.1-3] packet identifier 0', '82 07 0000 00 0001 70 00', 0x82],
    ['[MQTT-3.8.3-1] a filter that is not UTF-8', '82 09 0007 00 0003 eda080 00', 0x81],
    ['[MQTT-3.8.3-1] a filter that does not fit', '82 05 0007 00 0009', 0x81],
    ['[MQTT-3.8.3-2] no filter', '82 03 0007 00', 0x82],
    ['no options', '82 06 0007 00 0001 70', 0x81],
    ['[MQTT-3.8.3-5] reserved bits of the options', '82 07 0007 00 0001 70 41', 0x81],
    ['QoS 3', '82 07 0007 00 0001 70 03', 0x82],
    ['retain handling 3', '82 07 0007 00 0001 70 30', 0x82],
    ['[MQTT-4.7.1-1] # in the middle', '82 0a 0007 00 0004 612f232f 00', 0x8f],
    ['[MQTT-4.7.1-2] + within a level', '82 08 0007 00 0002 612b 00', 0x8f],
    ['[MQTT-4.7.3-1] an empty filter', '82 06 0007 00 0000 00', 0x8f],
    ['a subscription identifier, which is not available', '82 09 0007 02 0b01 0001 70 00', 0xa1],
    ['subscription identifier 0', '82 09 0007 02 0b00 0001 70 00', 0xa1],
    ['a property of another packet', '82 0a 0007 03 210001 0001 70 00', 0x82],
    ['[MQTT-3.10.1-1] reserved flags', 'a0 06 0007 00 0001 70', 0x81],
    ['[MQTT-3.10.3-1] a filter that is not UTF-8', 'a2 08 0007 00 0003 eda080', 0x81],
    ['[MQTT-3.10.3-2] no filter', 'a2 03 0007 00', 0x82],
    ['no packet identifier', 'a2 01 07', 0x81],
  ];
  for (const [title, bytes, code] of rows) {
    const { link } = await openFive(world);
    t.equal(await endOf(link, bytes), code, title);
  }
  const { link } = await openFive(world);
  const subscriptions = Array.from({ length: 257 }, (_, number) => ({ topic: `filter ${number}`, qos: 0 }));
  t.equal(await endOf(link, bytesOf({ cmd: 'subscribe', messageId: 5, subscriptions })), 0x97, 'too many filters');
});
