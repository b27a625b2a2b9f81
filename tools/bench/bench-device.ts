import { connect, type Socket } from 'node:net';
import mqttPacket from 'mqtt-packet';

/** Makes the acknowledgement of a command. */
export type AnswerOf = (deviceId: string, operation: string, transactionId: number | string) => object;

const GOOD = { status: 'succeeded' };
const ALWAYS_GOOD: AnswerOf = () => GOOD;

/**
 * Connects a device that does as little work per command as MQTT allows, so that the figures show the service and not the load
 * generator: it acknowledges every command and reports success.
 */
export async function connectBenchDevice(options: {
  port: number;
  deviceId: string;
  credential: string;
  answer?: AnswerOf | undefined;
}): Promise<Socket> {
  const { port, deviceId, credential, answer = ALWAYS_GOOD } = options;
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  const parser = mqttPacket.parser();
  const ready = Promise.withResolvers<Socket>();
  let messageId = 1;
  parser.on('packet', (packet) => {
    if (packet.cmd === 'publish') {
      const { transactionId, operation } = JSON.parse(packet.payload.toString()) as {
        transactionId: number | string;
        operation: string;
      };
      messageId = (messageId % 65_000) + 1;
      const puback = mqttPacket.generate({ cmd: 'puback', messageId: packet.messageId ?? 0 });
      const ack = mqttPacket.generate({
        cmd: 'publish',
        topic: `devices/${deviceId}/acks`,
        payload: JSON.stringify({ transactionId, ...answer(deviceId, operation, transactionId) }),
        qos: 1,
        messageId,
        dup: false,
        retain: false,
      });
      socket.write(Buffer.concat([puback, ack]));
    } else if (packet.cmd === 'connack') {
      if (packet.returnCode !== 0) return ready.reject(new Error(`CONNACK ${packet.returnCode}`));
      const subscriptions = [{ topic: `devices/${deviceId}/commands`, qos: 1 as const }];
      socket.write(mqttPacket.generate({ cmd: 'subscribe', messageId: 1, subscriptions }));
    } else if (packet.cmd === 'suback') {
      ready.resolve(socket);
    }
  });
  socket.on('data', (chunk) => parser.parse(chunk));
  socket.on('error', ready.reject);
  socket.on('close', () => ready.reject(new Error('the broker has closed the connection')));
  const connectPacket = {
    cmd: 'connect' as const,
    protocolId: 'MQTT' as const,
    protocolVersion: 4 as const,
    clean: false,
    clientId: deviceId,
    keepalive: 0,
    username: deviceId,
    password: Buffer.from(credential),
  };
  socket.on('connect', () => socket.write(mqttPacket.generate(connectPacket)));
  return ready.promise;
}

export async function connectBenchDevices(
  port: number,
  deviceIds: string[],
  credentialOf: (deviceId: string) => string,
  answer?: AnswerOf,
): Promise<Socket[]> {
  const sockets: Socket[] = [];
  for (const deviceId of deviceIds) {
    sockets.push(await connectBenchDevice({ port, deviceId, credential: credentialOf(deviceId), answer }));
  }
  return sockets;
}
