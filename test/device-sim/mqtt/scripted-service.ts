import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import mqttPacket, { type Packet } from 'mqtt-packet';

type Sent<Cmd extends Packet['cmd']> = Extract<Packet, { cmd: Cmd }>;

/** One connection at the service's end. It does nothing by itself, so the test decides every packet. */
function createConnection(socket: Socket) {
  const parser = mqttPacket.parser();
  const arrived: Packet[] = [];
  let wake: () => void = () => {};
  parser.on('packet', (packet) => {
    arrived.push(packet);
    wake();
  });
  socket.on('data', (bytes) => parser.parse(bytes));
  socket.on('error', () => {});
  const closed = once(socket, 'close');
  const connection = {
    socket,
    closed,
    /** Whether it still sends after the client's DISCONNECT. */
    lingers: false,
    send: (packet: object): void => void socket.write(mqttPacket.generate(packet as Packet)),
    /** The next packet, which must be of this kind. */
    async next<Cmd extends Packet['cmd']>(cmd: Cmd): Promise<Sent<Cmd>> {
      while (arrived.length === 0) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      const packet = arrived.shift()!;
      if (packet.cmd !== cmd) throw new Error(`${packet.cmd} came, not ${cmd}`);
      return packet as Sent<Cmd>;
    },
    arrived,
  };
  socket.on('end', () => {
    if (!connection.lingers) socket.end();
  });
  return connection;
}
export type ServiceConnection = ReturnType<typeof createConnection>;

/** The listener of a service whose every packet the test decides. */
export async function startScriptedService() {
  const waiting: ServiceConnection[] = [];
  let wake: () => void = () => {};
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true, allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    waiting.push(createConnection(socket));
    wake();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  async function connection(): Promise<ServiceConnection> {
    while (waiting.length === 0) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    return waiting.shift()!;
  }

  return {
    url: `mqtt://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** The next connection. */
    connection,
    /** The next connection, after CONNACK and SUBACK. */
    async login({ sessionPresent = false } = {}): Promise<ServiceConnection> {
      const made = await connection();
      await made.next('connect');
      made.send({ cmd: 'connack', returnCode: 0, sessionPresent });
      const { messageId } = await made.next('subscribe');
      made.send({ cmd: 'suback', messageId, granted: [1, 1, 1] });
      return made;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
