import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { connectBenchDevice } from '@lapel/tools/bench/bench-device';
import { deviceIds } from '@lapel/tools/bench/bench-ids';
import { BODY } from '@lapel/tools/bench/closed-loop';
import { PEERS, type PeerName, startPeer } from '@lapel/tools/bench/peers/peer-target';
import { pathOf } from '@lapel/tools/bench/running-target';
import { Webhook } from 'standardwebhooks';
import t from 'tap';
import { missing } from '../installed.ts';

/** Starts a receiver; `next` resolves with the next webhook. */
async function startReceiver() {
  const received: { headers: IncomingMessage['headers']; body: string }[] = [];
  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    received.push({ headers: request.headers, body: (await buffer(request)).toString() });
    response.end();
    server.emit('webhook');
  };
  const server = createServer((request, response) => void receive(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`,
    async next() {
      while (received.length === 0) await once(server, 'webhook');
      return received.shift()!;
    },
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
}

for (const name of Object.keys(PEERS) as PeerName[]) {
  const { title, store } = PEERS[name];
  const skip =
    missing.peers() || (store === 'postgres' && missing.postgres()) || (store === 'restate' && missing.restate());
  t.test(
    `${title}: a command comes back as a signed webhook, also after the service was killed`,
    { skip },
    async (t) => {
      await using receiver = await startReceiver();
      await using peer = await startPeer(name, receiver.url);
      const [first = '', second = ''] = deviceIds(2);
      const got: (number | string)[] = [];
      const connect = (deviceId: string) =>
        connectBenchDevice({
          port: peer.mqttPort,
          deviceId,
          credential: 'none',
          answer: (_deviceId, operation, transactionId) => {
            t.equal(operation, 'setWifi');
            got.push(transactionId);
            return { status: 'failed', error: { code: 'NO_SPACE', message: 'the disk is full' } };
          },
        });
      const submit = async (deviceId: string): Promise<string> => {
        const answer = await fetch(`http://127.0.0.1:${peer.httpPort}${pathOf(deviceId)}`, {
          method: 'PUT',
          headers: { 'content-type': 'application/json' },
          body: BODY,
        });
        t.equal(answer.status, 201);
        return ((await answer.json()) as { transactionId: string }).transactionId;
      };
      const verify = async (transactionId: string): Promise<void> => {
        const { headers, body } = await receiver.next();
        const event = new Webhook(peer.secret).verify(body, headers as Record<string, string>);
        t.match(event, { type: 'transaction.failed', data: { transaction: { transactionId, status: 'failed' } } });
      };

      const device = await connect(first);
      const one = await submit(first);
      await verify(one);
      device.destroy();

      const two = await submit(second); // nobody has subscribed to its commands yet
      await peer.parts.service.kill();
      await peer.parts.service.start();
      const late = await connect(second);
      await verify(two);
      late.destroy();
      t.same([...new Set(got)], [one, two]);
    },
  );
}
