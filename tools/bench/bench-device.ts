import { connect, type Socket } from 'node:net';
import mqttPacket from 'mqtt-packet';

/** The level of MQTT in a CONNECT: 4 is version 3.1.1. */
export type Level = 4 | 5;

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
  /** The level of MQTT: 4 for 3.1.1, by default, or 5. */
  level?: Level | undefined;
}): Promise<Socket> {
  const { port, deviceId, credential, answer = ALWAYS_GOOD, level = 4 } = options;
  const version = { protocolVersion: level };
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  const parser = mqttPacket.parser(version);
  const ready = Promise.withResolvers<Socket>();
  let messageId = 1;
  parser.on('packet', (packet) => {
    if (packet.cmd === 'publish') {
      const { transactionId, operation } = JSON.parse(packet.payload.toString()) as {
        transactionId: number | string;
        operation: string;
      };
      messageId = (messageId % 65_000) + 1;
      const puback = mqttPacket.generate({ cmd: 'puback', messageId: packet.messageId ?? 0 }, version);
      const ack = mqttPacket.generate(
        {
          cmd: 'publish',
          topic: `devices/${deviceId}/acks`,
          payload: JSON.stringify({ transactionId, ...answer(deviceId, operation, transactionId) }),
          qos: 1,
          messageId,
          dup: false,
          retain: false,
        },
        version,
      );
      socket.write(Buffer.concat([puback, ack]));
    } else if (packet.cmd === 'connack') {
      const code = packet.returnCode ?? packet.reasonCode;
      if (code !== 0) return ready.reject(new Error(`CONNACK ${code}`));
      const subscriptions = [{ topic: `devices/${deviceId}/commands`, qos: 1 as const }];
      socket.write(mqttPacket.generate({ cmd: 'subscribe', messageId: 1, subscriptions }, version));
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
    protocolVersion: level,
    ...(level === 5 && { properties: { sessionExpiryInterval: 3600 } }),
    clean: false,
    clientId: deviceId,
    keepalive: 0,
    username: deviceId,
    password: Buffer.from(credential),
  };
  socket.on('connect', () => socket.write(mqttPacket.generate(connectPacket, version)));
  return ready.promise;
}

export async function connectBenchDevices(
  port: number,
  deviceIds: string[],
  credentialOf: (deviceId: string) => string,
  { answer, level }: { answer?: AnswerOf | undefined; level?: Level | undefined } = {},
): Promise<Socket[]> {
  const sockets: Socket[] = [];
  for (const deviceId of deviceIds) {
    sockets.push(await connectBenchDevice({ port, deviceId, credential: credentialOf(deviceId), answer, level }));
  }
  return sockets;
}
