import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { openRawDevice } from '../../../../test/raw-device.ts';
import { deviceIdOf } from '../../../../test/world.ts';
import { freePorts } from '../../../harness/free-port.ts';
import { type Application, createFleet, type Link, startPatrol, startReceiver, WIFI } from '../fleet.ts';
import { createService } from '../service.ts';
import type { Stand } from '../stand.ts';
import { repeat } from '../until.ts';

/** The settings of a service with low limits. */
const LOW = {
  LAPEL_RATE_LIMIT: '5',
  LAPEL_DEVELOPER_PACKAGES: '1',
  LAPEL_DEVICE_EVENT_MIB: '1',
  LAPEL_FEED_STREAMS: '4',
};
/** The secret of a device that asks for enrolment. */
const NONCE = 'a secret that the device keeps for itself';
/** Enough for 77 connections of devices, and 37 of each other listener. */
const OPEN_FILES = 300;
const CONNECTIONS = 76;

/** Opens so many connections to a listener, which may close them at once. */
async function fill(url: string, most: number): Promise<Socket[]> {
  const { hostname, port } = new URL(url);
  const sockets: Socket[] = [];
  for (let each = 0; each < most; each += 1) {
    const socket = connect(Number(port), hostname).on('error', () => undefined);
    await Promise.race([once(socket, 'connect'), once(socket, 'close')]);
    sockets.push(socket);
  }
  return sockets;
}

/** A service with low limits, all of which its customers and devices reach. */
export async function reachBounds({ folder, prometheus, faults }: Stand): Promise<void> {
  const [objectsPort, syslogPort] = await freePorts(2);
  const env = {
    LAPEL_DATA_DIR: join(folder, 'data'),
    LAPEL_OBJECTS_PORT: String(objectsPort),
    LAPEL_AUDIT_SYSLOG: `tcp://127.0.0.1:${syslogPort}`,
    ...LOW,
  };
  const auditReceiver = createServer((socket) => void socket.on('error', () => undefined).resume());
  const listen = () => void auditReceiver.listen(syslogPort, '127.0.0.1');
  listen();
  await using service = await createService(env, { openFiles: OPEN_FILES });
  const fleet = createFleet(service.addresses);
  using receiver = await startReceiver();
  const { patrol, device, link } = await startPatrol(fleet, receiver);
  await prometheus.watch('lapel-bounds', [service.target]);
  const path = `/devices/${device.deviceId}`;
  let stop = async (): Promise<void> => undefined;
  const end = (): Promise<void> => stop();

  await faults.try({
    alerts: ['LapelRequestsRefused'],
    fault: 'an application sends more requests than it may',
    make: () => {
      stop = repeat(() => Promise.all(Array.from({ length: 10 }, () => patrol.send('GET', path))), 200);
    },
    end,
  });
  await faults.try({
    alerts: ['LapelAuditWaits'],
    fault: 'the receiver of the audit log is down',
    make: async () => {
      auditReceiver.close();
      await fleet.admin('POST', '/developers', { name: 'made meanwhile' });
    },
    end: listen,
  });
  await faults.try({
    alerts: ['LapelLoginsWrong'],
    fault: 'devices log in with a wrong credential',
    make: () => {
      stop = repeat(async () => {
        await using wrong = await openRawDevice({ url: service.addresses().mqtt, ...device, credential: 'wrong' });
        await wrong.login();
      }, 100);
    },
    end,
  });
  await faults.try({
    alerts: ['LapelEnrolmentsRefused'],
    fault: 'somebody tries codes of enrolment',
    make: () => {
      let number = 0;
      stop = repeat(async () => {
        number += 1;
        const body = {
          deviceId: deviceIdOf(number),
          code: `a code that nobody has made, number ${number}`,
          nonce: NONCE,
        };
        const url = `${service.addresses().http}/v1/enrolments`;
        const headers = { 'content-type': 'application/json' };
        await (await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })).body?.cancel();
      }, 100);
    },
    end,
  });
  await faults.try({
    alerts: ['LapelMessagesRejected'],
    fault: 'a device sends messages that are no JSON',
    make: () => {
      stop = repeat(() => link.publish('status', 'no JSON'), 100);
    },
    end,
  });
  await faults.try({
    alerts: ['LapelEventsRefused'],
    fault: 'a device sends more events than it may',
    make: () => {
      const text = 'x'.repeat(10_000);
      let number = 0;
      stop = repeat(() => {
        number += 1;
        link.publish('events', {
          eventId: `event-${number}`,
          type: 'custom.note',
          occurredAt: new Date().toISOString(),
          data: { text },
        });
      }, 50);
    },
    end,
  });
  await faults.try({
    alerts: ['LapelQuotaReached'],
    fault: 'a developer registers more packages than it may have',
    make: () => {
      let number = 0;
      stop = repeat(() => {
        number += 1;
        return patrol.send('POST', '/packages', { package: `com.example.app${number}` });
      }, 500);
    },
    end,
  });
  const feed = async ({ applicationId, token }: Application, leave: AbortSignal): Promise<void> => {
    const url = `${service.addresses().http}/v1/applications/${applicationId}/feed?topics=transactions`;
    const answer = await fetch(url, { headers: { authorization: token }, signal: leave });
    await answer.body?.pipeTo(new WritableStream());
  };
  await fleet.developer('other');
  const others = await fleet.application('other', 'others', receiver.url);
  await faults.try({
    alerts: ['LapelConsoleBehind'],
    fault: 'pages of two customers follow changes, more than the service has streams for',
    make: () => {
      const leave = new AbortController();
      const greedy = [1, 2, 3, 4].map(() => repeat(() => feed(patrol, leave.signal), 100));
      const modest = repeat(() => feed(others, AbortSignal.timeout(500)), 1000);
      stop = async () => {
        leave.abort();
        await Promise.all([...greedy, modest].map((end) => end()));
      };
    },
    end,
  });
  await faults.try({
    alerts: ['LapelCommandsRefused'],
    fault: 'an application sends a device that is away more commands than may wait for it',
    make: async () => {
      await link.drop();
      await service.end('SIGTERM');
      await service.start({ LAPEL_RATE_LIMIT: '0' });
      stop = repeat(
        () => Promise.all(Array.from({ length: 20 }, () => patrol.send('PUT', `${path}/settings/wifi`, WIFI))),
        10,
      );
    },
    end,
  });

  const links: Link[] = [];
  const strangers: Socket[] = [];
  await faults.try({
    alerts: ['LapelConnectionsNearBound', 'LapelFilesNearBound', 'LapelDevicesRefused', 'LapelTransfersRefused'],
    fault: 'devices and strangers take all connections of two listeners',
    make: async () => {
      while (links.length < CONNECTIONS) links.push(await fleet.connect(await fleet.device('acme')));
      const listeners = [service.addresses().mqtt, `http://127.0.0.1:${objectsPort}`];
      stop = repeat(async () => {
        for (const url of listeners) strangers.push(...(await fill(url, 60)));
      }, 1000);
    },
    end: async () => {
      await stop();
      for (const socket of strangers) socket.destroy();
      for (const one of links) await one.drop();
    },
  });
  auditReceiver.close();
}
