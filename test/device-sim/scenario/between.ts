import { once } from 'node:events';
import { Agent, createServer, type IncomingHttpHeaders, type IncomingMessage, request as send } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import mqttPacket, { type IPublishPacket, type Packet } from 'mqtt-packet';
import { Webhook } from 'standardwebhooks';
import type { Test } from 'tap';

/** A request of HTTP on its way, with its answer. */
export interface Passing {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<IncomingHttpHeaders>;
  body: string;
}
export interface Reply {
  status: number;
  body: string;
  /** Whether it is the answer to an earlier request with the same Idempotency-Key. */
  readonly replayed?: boolean;
}

const DROPPED = new Set([
  'accept-encoding', // bodies are read as they come
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'content-encoding',
  'keep-alive',
]);
const kept = (headers: Iterable<readonly [string, unknown]>): Record<string, string> =>
  Object.fromEntries([...headers].filter(([name]) => !DROPPED.has(name)).map(([name, value]) => [name, String(value)]));

/** A way to a server of HTTP: `meddle` gets each request with a function that passes it on, as often as it likes. */
export async function startHttpBetween(
  t: Test,
  target: () => string,
  meddle: (passing: Passing, pass: (changed?: Partial<Passing>) => Promise<Reply>) => Promise<Reply>,
): Promise<string> {
  const agent = new Agent({ keepAlive: true });
  /** Sends a request to the target; resolves to the answer, of which only the head has come. */
  const ask = async ({ method, path, headers, body }: Passing): Promise<IncomingMessage> => {
    const asking = send(target() + path, { agent, method, headers: kept(Object.entries(headers)) }).end(body);
    return (await once(asking, 'response'))[0] as IncomingMessage;
  };
  const server = createServer((request, response) => {
    void (async () => {
      const { method = 'GET', url: path = '/', headers } = request;
      const passing = { method, path, headers, body: (await buffer(request)).toString() };
      let answered: IncomingHttpHeaders = {};
      const reply = await meddle(passing, async (changed) => {
        const answer = await ask({ ...passing, ...changed, method, path });
        answered = answer.headers;
        const replayed = answer.headers['idempotency-replayed'] === 'true';
        return { status: answer.statusCode ?? 0, body: (await buffer(answer)).toString(), replayed };
      });
      response
        .writeHead(reply.status, kept(Object.entries(answered)))
        .end(reply.status === 204 ? undefined : reply.body);
    })().catch(() => response.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
    agent.destroy();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** The headers of a webhook with another body, as a service that errs would sign it. */
export function signed(
  { headers }: Pick<Passing, 'headers'>,
  body: string,
  key: string,
): Readonly<Record<string, string>> {
  const at = new Date(Number(headers['webhook-timestamp']) * 1000);
  return {
    ...kept(Object.entries(headers)),
    'webhook-signature': new Webhook(key).sign(String(headers['webhook-id']), at, body),
  };
}

/** A way to a broker: `meddle` turns each publish of the service into those that the device gets. */
export async function startMqttBetween(
  t: Test,
  target: string,
  meddle: (publish: IPublishPacket) => readonly IPublishPacket[],
): Promise<string> {
  const sockets = new Set<Socket>();
  const { hostname, port } = new URL(target);
  const server = createTcpServer((device) => {
    const service = connect(Number(port), hostname);
    const parser = mqttPacket.parser({ protocolVersion: 4 });
    const packets: Packet[] = [];
    parser.on('packet', (packet) => packets.push(packet));
    device.pipe(service);
    service.on('data', (bytes) => {
      parser.parse(bytes);
      const out = packets
        .splice(0)
        .flatMap((packet): readonly Packet[] => (packet.cmd === 'publish' ? meddle(packet) : [packet]));
      device.write(Buffer.concat(out.map((packet) => mqttPacket.generate(packet))));
    });
    for (const [one, other] of [
      [device, service],
      [service, device],
    ] as const) {
      sockets.add(one);
      one
        .on('error', () => {})
        .on('close', () => {
          sockets.delete(one);
          other.destroy();
        });
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `mqtt://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
