import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { Timers } from '../timers.ts';
import { UsageError } from '../usage-error.ts';
import { openConnection } from './connection.ts';
import { createEntrance, type Opened, type Secured, type Transport } from './entrance.ts';
import type { Journal } from './journal.ts';
import type { Waits } from './waits.ts';

const MOST_CONNECTIONS = 100;

/** Somebody on the way, who offers a certificate of another CA in place of the service. */
export interface Stranger {
  /** The connections with a CONNECT, and those that have ended. */
  readonly logins: number;
  readonly ended: number;
  /** The service takes the connections again. */
  leave(): void;
}

/** The place at which the device arrives. */
export interface Door extends AsyncDisposable {
  readonly port: number;
  /** During an outage: called at each attempt to connect. False: the connection is closed at once. */
  accepts: (() => boolean) | undefined;
  /** The times of the attempts to connect during an outage, in milliseconds of the timers. */
  readonly knocks: number[];
  /** Gives the connections from now on to a stranger, until it leaves. Only with TLS. */
  offerStranger(): Stranger;
}

/** Listens for the device. `opened` gets each stream of MQTT bytes, `refused` the reason why there is none. */
export async function openDoor({
  listen,
  transport,
  secured,
  journal,
  timers,
  waits,
  opened,
  refused,
}: {
  listen: { host: string; port: number };
  transport: Transport;
  secured: Secured | null;
  journal: Journal;
  timers: Timers;
  waits: Waits;
  opened: (one: Opened) => void;
  refused: (reason: string) => void;
}): Promise<Door> {
  const sockets = new Set<Socket>();
  const knocks: number[] = [];
  let stranger: { logins: number; ended: number } | undefined;

  /** The stranger reads the first packet, and answers nothing. */
  function meetStranger({ stream }: Opened): void {
    const connection = openConnection(stream, null, {
      onPacket({ cmd }) {
        journal.note('device', `sends ${cmd.toUpperCase()} to a stranger`);
        if (stranger) stranger.logins += 1;
        connection.cut();
        waits.wake();
      },
      onFault: () => connection.cut(),
      onClose: () => {},
    });
  }

  const entrance = createEntrance({
    transport,
    secured,
    opened: (one) => (one.isStranger ? meetStranger(one) : opened(one)),
    refused(reason, isStranger) {
      if (!isStranger) refused(reason);
      journal.note('device', `gets no connection${isStranger ? ' to a stranger' : ''}: ${reason}`);
    },
  });

  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    const met = stranger;
    socket.once('close', () => {
      sockets.delete(socket);
      if (met) met.ended += 1;
      waits.wake();
    });
    if (door.accepts) knocks.push(timers.now());
    if (door.accepts && !door.accepts()) {
      journal.note('device', 'tries to connect, and finds no service');
      socket.on('error', () => {});
      socket.destroy();
      return waits.wake();
    }
    entrance.enter(socket, met !== undefined);
  });
  server.maxConnections = MOST_CONNECTIONS;

  const door: Door = {
    get port() {
      return (server.address() as AddressInfo).port;
    },
    accepts: undefined,
    knocks,
    offerStranger() {
      journal.note('service', 'is away: a stranger offers a certificate of another CA');
      const mine = { logins: 0, ended: 0 };
      stranger = mine;
      return Object.assign(mine, {
        leave() {
          if (stranger === mine) stranger = undefined;
        },
      });
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };

  server.listen(listen.port, listen.host);
  try {
    await once(server, 'listening');
  } catch (error) {
    throw new UsageError('--listen', (error as Error).message);
  }
  return door;
}
