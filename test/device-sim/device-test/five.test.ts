import { once } from 'node:events';
import { connect as connectTcp, type Socket } from 'node:net';
import type { Account } from '@lapel/device-sim/device-test/login';
import { packetBytes, type Rest, readPackets } from '@lapel/device-sim/mqtt/packets';
import type { IConnectPacket, IPublishPacket, Packet } from 'mqtt-packet';
import t from 'tap';
import { until } from '../../until.ts';
import type { Flaw } from './own-device.ts';
import { brokenRules, CASES_OF_FIVE, notHeld, testedDevice, testedOwnDevice } from './tested.ts';

t.jobs = 3; // the tests mostly wait for connections

const LEFT_OUT = ['pairBluetooth', 'wrong-firmware', 'thousand-answers', 'unconfirmed-event', 'restart', 'signatures'];
const five = () => ({ level: 5 }) as const;
const ofFive = (line: string, flaw?: Flaw) => testedOwnDevice(line, flaw, undefined, five);

t.test('a device of another maker holds all cases with MQTT 5', async (t) => {
  const record = await ofFive('');
  t.strictSame(brokenRules(record), [], JSON.stringify(record.cases.filter(({ findings }) => findings.length > 0)));
  t.strictSame(record.notRun, []);
  t.match(record.connection, { version: '5' });
  t.strictSame(
    notHeld(record).filter((one) => !LEFT_OUT.includes(one.split(':')[0]!)),
    ['strangers-certificate: left out', 'half-open: left out', 'drive: left out'],
  );
});

for (const [flaw, rule, name] of [
  ['stays-away-when-taken-over', 'disconnects', 'taken-over'],
  ['does-not-repeat-above-the-rate', 'reason-codes', 'above-the-rate'],
  ['repeats-refused-messages', 'reason-codes', 'refused-message'],
  ['has-no-session-expiry', 'login', 'login'],
  ['retains-its-status', 'mqtt', 'login'],
] as const) {
  t.test(`a device that ${flaw.replaceAll('-', ' ')} breaks the rule ${rule}`, async (t) => {
    const record = await ofFive(`--cases login,${CASES_OF_FIVE.join()}`, flaw);
    const rules = brokenRules(record);
    // A device whose connection ends at each status gets no further.
    if (rule === 'mqtt') t.ok(rules.includes(rule), JSON.stringify(record.cases));
    else t.strictSame(rules, [rule], JSON.stringify(record.cases));
    t.match(
      record.cases.find((one) => one.name === name),
      { outcome: 'broken' },
    );
  });
}

/** A device of bare packets. It answers nothing by itself. */
async function bareDevice(url: string, { deviceId, credential }: Account, more: Partial<IConnectPacket>) {
  const socket: Socket = connectTcp({ host: '127.0.0.1', port: Number(new URL(url).port) });
  const heard: Packet[] = [];
  let rest: Rest;
  socket.on('error', () => {});
  socket.on('data', (bytes: Buffer) => {
    const read = readPackets(rest, bytes, 5);
    rest = read.rest;
    heard.push(...read.packets);
  });
  await once(socket, 'connect');
  const send = (...packets: Packet[]) =>
    void socket.write(Buffer.concat(packets.map((packet) => packetBytes(packet, 5))));
  const subscriptions = ['commands', 'responses', 'errors'].map((kind) => ({
    topic: `devices/${deviceId}/${kind}`,
    qos: 1 as const,
  }));
  send(
    {
      cmd: 'connect',
      protocolId: 'MQTT',
      protocolVersion: 5,
      clean: false,
      clientId: deviceId,
      username: deviceId,
      password: Buffer.from(credential),
      keepalive: 60,
      ...more,
      properties: { sessionExpiryInterval: 60, ...more.properties },
    },
    { cmd: 'subscribe', messageId: 1, subscriptions },
  );
  return {
    socket,
    send,
    of: <Name extends Packet['cmd']>(cmd: Name) =>
      heard.filter((one): one is Extract<Packet, { cmd: Name }> => one.cmd === cmd),
    publish(kind: string, body: object | string, properties: NonNullable<IPublishPacket['properties']> = {}) {
      const payload = typeof body === 'string' ? body : JSON.stringify(body);
      const topic = `devices/${deviceId}/${kind}`;
      send({ cmd: 'publish', topic, payload, qos: 1, messageId: 7, dup: false, retain: false, properties });
    },
  };
}

/** Plays with a bare device while a test with this line goes on. */
async function withBare(
  line: string,
  more: Partial<IConnectPacket>,
  play: (device: Awaited<ReturnType<typeof bareDevice>>) => Promise<void>,
) {
  const stop = new AbortController();
  let played: Promise<void> | undefined;
  const playing = async (url: string, account: Account): Promise<void> => {
    const device = await bareDevice(url, account, more);
    try {
      await play(device);
    } finally {
      stop.abort();
      device.socket.destroy();
    }
  };
  const start = (url: string, account: Account): void => {
    played = playing(url, account);
  };
  const record = await testedDevice(line, start, { stopped: stop.signal });
  await played;
  return record;
}

t.test('no more messages than the Receive Maximum of the device are under way', async (t) => {
  await withBare('--cases burst --answer-time 60', { properties: { receiveMaximum: 3 } }, async ({ of, send }) => {
    const commands = () => of('publish');
    await until(() => commands().length === 3);
    for (let confirmed = 0; confirmed < 3; confirmed += 1) {
      send({ cmd: 'pingreq' });
      await until(() => of('pingresp').length === confirmed + 1);
      t.equal(commands().length, 3 + confirmed, 'none comes before a PUBACK');
      send({ cmd: 'puback', messageId: commands()[confirmed]!.messageId!, reasonCode: 0 });
      await until(() => commands().length === 4 + confirmed);
    }
    t.match(commands()[0]!.properties, { contentType: 'application/json', messageExpiryInterval: 86_400 });
  });
});

t.test('the CONNACK tells the limits, and a device above them learns why its connection ends', async (t) => {
  const line = '--cases unconfirmed-answer --answer-time 60';
  const record = await withBare(line, {}, async ({ of, publish, socket }) => {
    const closed = once(socket, 'close');
    await until(() => of('publish').length === 1);
    t.match(of('connack')[0], {
      reasonCode: 0,
      properties: { receiveMaximum: 100, maximumPacketSize: 262_144, sessionExpiryInterval: 0xffff_ffff },
    });
    // The acknowledgements of this case get no PUBACK.
    for (let count = 0; count <= 100; count += 1) publish('acks', { transactionId: 1, status: 'processing' });
    await closed;
    t.match(of('disconnect'), [{ reasonCode: 0x93 }]);
  });
  t.ok(brokenRules(record).includes('mqtt'));
});

t.test('a request gets its Correlation Data back, and a foreign Response Topic is refused', async (t) => {
  const record = await withBare('--cases login --answer-time 60', {}, async ({ of, publish }) => {
    await until(() => of('publish').length === 1);
    const request = { type: 'softwareDownloadUrl', data: { transactionId: 1 } };
    publish('requests', { requestId: 'r-1', ...request }, { correlationData: Buffer.from('mine') });
    const responses = () => of('publish').filter(({ topic }) => topic.endsWith('/responses'));
    await until(() => responses().length === 2);
    t.equal(responses()[0]!.properties?.correlationData?.toString(), 'mine');
    t.equal(responses()[1]!.properties?.correlationData, undefined, 'a repetition has none');
    publish('requests', { requestId: 'r-2', ...request }, { responseTopic: 'elsewhere' });
    publish('status', 'no JSON');
    await until(() => of('puback').length === 3);
    t.strictSame(
      of('puback').map(({ reasonCode }) => reasonCode),
      [0, 0x90, 0x99],
    );
  });
  t.strictSame(brokenRules(record).sort(), ['messages', 'requests']);
});

for (const [more, reasonCode] of [
  [{ password: Buffer.from('wrong') }, 0x86],
  [{ properties: { authenticationMethod: 'SCRAM' } }, 0x8c],
  [{ properties: { maximumPacketSize: 100 } }, 0x95],
  [{ will: { topic: 'x', payload: Buffer.from('x'), qos: 0, retain: true } }, 0x9a],
] as [Partial<IConnectPacket>, number][]) {
  t.test(`a CONNECT with ${Object.keys(more).join()} is refused with ${reasonCode}`, (t) =>
    withBare('--cases login', more, async ({ of }) => {
      await until(() => of('connack').length === 1);
      t.match(of('connack'), [{ reasonCode }]);
    }),
  );
}

t.test('a command that a device refuses with its PUBACK has failed with NOT_ACCEPTED', async (t) => {
  let leave: (() => void) | undefined;
  const record = await testedDevice('--cases activate', (url, account) => {
    void bareDevice(url, account, {}).then(({ socket, of, send }) => {
      leave = () => socket.destroy();
      socket.on('data', () => {
        for (const { messageId } of of('publish').slice(0, 1))
          send({ cmd: 'puback', messageId: messageId!, reasonCode: 0x83 });
      });
    });
  });
  leave?.();
  t.match(record.cases, [{ name: 'activate', outcome: 'holds', shown: 'failed NOT_ACCEPTED' }]);
});

t.test('a command that is larger than the packets of a device has failed with PACKET_TOO_LARGE', async (t) => {
  const way = () => ({ level: 5, maximumPacketSize: 512 }) as const;
  const record = await testedOwnDevice('--operations activate --cases limits', undefined, undefined, way);
  t.match(record.cases, [{ findings: [{ rule: 'values', came: /PACKET_TOO_LARGE/ }] }]);
});
